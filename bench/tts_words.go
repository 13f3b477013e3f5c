package bench

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"
	"unicode"

	"parley/appliance/audio"
	"parley/appliance/engine"
	"parley/appliance/engines"
	"parley/appliance/text"
)

const (
	// heardAtOnce is how much sound of several texts the ear is given in one call. Up
	// to nine seconds Whisper looks at half of its window, at half the cost.
	heardAtOnce = 8 * time.Second
	// betweenHeard is the silence between them.
	betweenHeard = 350 * time.Millisecond
)

// judging is one voice that is listened to.
type judging struct {
	r                       *Report
	name, language, heardBy string
	sentences               []string // of the language
	voice                   engine.Synthesizer
	ear                     engine.Transcriber
	notes                   *notes
	sounds                  *sounds
}

// note is what the ear made of some texts that a voice said one after the other.
type note struct {
	Voice  string   `json:"voice"`
	Of     string   `json:"of"` // sentences or table
	Texts  []string `json:"texts"`
	Want   string   `json:"want"`
	Heard  string   `json:"heard"`
	Wrong  int      `json:"wrong"`
	Words  int      `json:"words"`
	Sound  float64  `json:"sound_s"`
	Took   float64  `json:"took_s"` // to say them
	LUFS   float64  `json:"lufs"`
	Pitch  float64  `json:"pitch_hz"` // median
	Voiced float64  `json:"pitch_moves"`
}

// notes are what was heard so far: a line of JSON each in a file, if there is one,
// so that hours of listening can be broken off and taken up.
type notes struct {
	file *os.File // nil: none
	was  []note
}

// openNotes reads what an earlier run has heard.
func openNotes(path string) (n *notes, err error) {
	if path == "" {
		return &notes{}, nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644) //nolint:gosec // figures
	if err != nil {
		return nil, &ErrOption{fmt.Sprintf("notes: %v", err)}
	}
	n = &notes{file: f}
	for lines := json.NewDecoder(bufio.NewReader(f)); ; {
		var one note
		switch err := lines.Decode(&one); {
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return nil, errors.Join(&ErrOption{fmt.Sprintf("notes %s: line %d is no note of an earlier run (%v): "+
				"name another file, or take its last line off", path, len(n.was)+1, err)}, f.Close())
		}
		n.was = append(n.was, one)
	}
}

// of are those of a voice, and which texts they are of.
func (n *notes) of(voice, of string) (heard []note, done map[string]bool) {
	done = map[string]bool{}
	for _, one := range n.was {
		if one.Voice == voice && one.Of == of {
			heard = append(heard, one)
			for _, t := range one.Texts {
				done[t] = true
			}
		}
	}
	return heard, done
}

func (n *notes) add(one note) error {
	if n.file == nil {
		return nil
	}
	line, err := json.Marshal(one)
	if err == nil {
		_, err = n.file.Write(append(line, '\n'))
	}
	return err
}

// Close closes the file.
func (n *notes) Close() error {
	if n.file == nil {
		return nil
	}
	return n.file.Close()
}

// evenly are n of some, as far from one another as can be.
func evenly[T any](all []T, n int) []T {
	if n <= 0 || n >= len(all) {
		return all
	}
	some := make([]T, n)
	for i := range some {
		some[i] = all[i*len(all)/n]
	}
	return some
}

// listen counts what the ear does not understand of texts that the voice says.
func (j judging) listen(ctx context.Context, of string, texts []written) error {
	heard, done := j.notes.of(j.name, of)
	var group note
	var pcm []float32
	hear := func() error {
		if len(group.Texts) == 0 {
			return nil
		}
		one, err := j.hear(ctx, group, pcm)
		if err == nil {
			heard, err = append(heard, one), j.notes.add(one)
		}
		group, pcm = note{}, nil
		return err
	}
	for _, s := range texts {
		if done[s.text] {
			continue
		}
		begun := time.Now()
		said, err := engine.SpeakWhole(ctx, j.voice, s.text, engine.SpeakOptions{Urgency: engine.Request.Urgency()})
		if err != nil {
			return fmt.Errorf("%q: %w", s.text, err)
		}
		took := time.Since(begun).Seconds()
		if len(pcm)+len(said.PCM) > audio.Samples(heardAtOnce, said.RateHz) {
			if err := hear(); err != nil {
				return err
			}
		}
		if len(pcm) > 0 {
			pcm = append(pcm, make([]float32, audio.Samples(betweenHeard, said.RateHz))...)
		}
		pcm = append(pcm, said.PCM...)
		group.Of, group.Texts, group.Want = of, append(group.Texts, s.text), strings.TrimSpace(group.Want+" "+s.said)
		group.Sound, group.Took = group.Sound+float64(len(said.PCM))/float64(said.RateHz), group.Took+took
	}
	if err := hear(); err != nil {
		return err
	}
	j.tell(ctx, of, heard)
	return nil
}

// hear has the ear write down what a voice has said.
func (j judging) hear(ctx context.Context, n note, pcm []float32) (note, error) {
	hz := j.voice.RateHz()
	heard, err := j.ear.Transcribe(ctx, audio.Resample(pcm, hz, engine.SpeechRateHz),
		engine.TranscribeOptions{Language: j.language})
	if err != nil {
		return n, err
	}
	want := asSaid(n.Want, j.language)
	n.Voice, n.Heard, n.Wrong, n.Words = j.name, heard.Text,
		misheard(want, asSaid(heard.Text, j.language), j.alike(ctx)), len(want)
	n.LUFS = audio.Loudness(pcm, hz)
	n.Pitch, n.Voiced = audio.Pitch(pcm, hz)
	return n, nil
}

// tell reports what was heard.
func (j judging) tell(ctx context.Context, of string, heard []note) {
	var wrong, words, texts int
	var sound, took, power, pitch, moves float64
	for _, n := range heard {
		want := asSaid(n.Want, j.language) // counted anew: notes may be of a program that read numbers otherwise
		wrong, words, texts = wrong+misheard(want, asSaid(n.Heard, j.language), j.alike(ctx)), words+len(want),
			texts+len(n.Texts)
		sound, took = sound+n.Sound, took+n.Took
		power += n.Sound * math.Pow(10, n.LUFS/10)
		pitch += n.Sound * math.Log(max(n.Pitch, 1))
		moves += n.Sound * n.Voiced
	}
	name := j.name
	if of != ofSentences {
		name += "_" + of
	}
	j.r.figure(name+"_real_time_factor", took/sound, "", fmt.Sprintf("time over length, %d texts", texts))
	j.r.figure(name+"_word_error", 100*float64(wrong)/float64(words), "%",
		fmt.Sprintf("%s, %d of %d words", j.heardBy, wrong, words))
	j.r.figure(name+"_loudness", 10*math.Log10(power/sound), "LUFS", "")
	j.r.figure(name+"_pitch", math.Exp(pitch/sound), "Hz",
		fmt.Sprintf("median; it moves by %.1f semitones", moves/sound))
}

// pitches measures how high each voice is, by one sentence of its language.
func (r *Report) pitches(ctx context.Context, o Options, opened *engines.Set, voices []string) error {
	for _, name := range voices {
		voice, err := opened.Voice(ctx, name)
		if err != nil {
			return err
		}
		_, sentences := sentencesFor(voice)
		if len(sentences) == 0 {
			continue
		}
		o.say("measuring %s", name)
		said, err := engine.SpeakWhole(ctx, voice, sentences[0], engine.SpeakOptions{Urgency: engine.Request.Urgency()})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		hz, moves := audio.Pitch(said.PCM, said.RateHz)
		r.figure(name+"_pitch", hz, "Hz", fmt.Sprintf("median, in %q; it moves by %.1f semitones", sentences[0], moves))
	}
	return nil
}

// alike tells words that sound alike in the language.
func (j judging) alike(ctx context.Context) alike {
	return func(a, b []string) bool { return j.sounds.alike(ctx, a, b) }
}

// alike reports whether words sound as others do, also as those joined.
type alike func(a, b []string) bool

// misheard is how many words must be changed, added or left out to make heard of
// want. Words that sound alike are no mistake, nor are those that are parted elsewhere:
// "guarda roba" for guardaroba, "la raie" for l'arrêt.
func misheard(want, heard []string, same alike) int {
	const most = 3 // words that are heard as one, or one as so many
	cost := make([][]int, len(want)+1)
	for i := range cost {
		cost[i] = make([]int, len(heard)+1)
		for j := range cost[i] {
			switch {
			case i == 0 || j == 0:
				cost[i][j] = i + j
				continue
			case same(want[i-1:i], heard[j-1:j]):
				cost[i][j] = cost[i-1][j-1]
			default:
				cost[i][j] = 1 + min(cost[i-1][j-1], cost[i-1][j], cost[i][j-1])
			}
			for a := 1; a <= min(most, i); a++ {
				for b := 1; b <= min(most, j); b++ {
					if a+b > 2 && same(want[i-a:i], heard[j-b:j]) {
						cost[i][j] = min(cost[i][j], cost[i-a][j-b])
					}
				}
			}
		}
	}
	return cost[len(want)][len(heard)]
}

// asSaid are the words of a text in a language, however it writes its numbers.
func asSaid(s, language string) []string {
	if strings.HasPrefix(language, "en") {
		return text.Words(strings.ReplaceAll(text.Aloud(s, text.Options{Language: "en-US"}), "-", " "))
	}
	s = strings.ToLower(text.Aloud(s, text.Options{Language: language}))
	s = strings.ReplaceAll(s, "9,5", "9 e 30") // as an ear writes nove e meia
	words := strings.FieldsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	})
	for i, w := range words {
		if language == "fr" && len(w) > 4 {
			w = strings.TrimRight(w, "sx") // silent: billet, billets
		}
		words[i] = cmp.Or(foreignNumbers()[language][w], soundAlike()[language][w], w)
	}
	return strings.Fields(strings.Join(words, " "))
}

// soundAlike are words that sound as others do and are told apart for the eye
// alone, by their language.
func soundAlike() map[string]map[string]string {
	return map[string]map[string]string{
		"es": {"él": "el", "sí": "si", "tú": "tu", "más": "mas"},
		"fr": {"à": "a", "où": "ou", "là": "la"},
		"it": {"ha": "a", "ho": "o", "hai": "ai", "hanno": "anno", "è": "e", "sé": "se", "né": "ne", "dà": "da",
			"là": "la", "lì": "li", "sì": "si"},
		"pt": {"à": "a", "há": "a", "às": "as"},
	}
}
