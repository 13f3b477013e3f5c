package speech

import (
	"context"
	"slices"
	"strings"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/text"
)

// Ear hears what was spoken.
type Ear struct {
	Detector    engine.VoiceDetector
	Transcriber engine.Transcriber
	// Languages are the BCP 47 base tags of what it understands; nil: all.
	Languages []string
}

// transcribe returns the words in pcm, said at a speed.
func (e Ear) transcribe(ctx context.Context, pcm []float32, rateHz int, speed float64, u *engine.Urgency) (string,
	error) {
	o := engine.TranscribeOptions{Urgency: u, Speed: speed}
	pcm = audio.Resample(pcm, rateHz, engine.SpeechRateHz)
	if time.Duration(len(pcm))*time.Second/engine.SpeechRateHz <= longestTranscribed {
		t, err := e.Transcriber.Transcribe(ctx, pcm, o)
		return t.Text, err
	}
	said, _, err := engine.Listen(ctx, e.Detector, e.Transcriber, pcm, engine.SegmentOptions{}, o, nil)
	var all []string
	for _, u := range said {
		all = append(all, u.Text)
	}
	return strings.Join(all, " "), err
}

const (
	// longestTranscribed is how much is transcribed at once: beyond it the default ear
	// derails now and then, so longer sound is cut at its pauses.
	longestTranscribed = 12 * time.Second
	// misspokenShare is the share of words at which a snippet counts as misspoken. The voices
	// are read back with 3 to 6 of a hundred words wrong, names and numbers among
	// them, which ear and table write differently; a third is no such thing.
	misspokenShare = 0.34
	// misspokenLeast wrong words are two: of one that is heard wrong, in "Hi." or
	// "Nguyen", the ear is the likelier cause.
	misspokenLeast = 2
)

func misspoken(wrong, of int) bool {
	return wrong >= misspokenLeast && float64(wrong) > misspokenShare*float64(of)
}

// synthesis is a snippet whose sound is all made.
type synthesis struct {
	sound     engine.Sound // all of it, at the rate of the voice
	heard     *string      // nil: by nobody
	wrong, of int          // words
}

// sayChecked says a snippet, hears what it sounds like, and says it once more, with
// another seed, where that is something else. It gives emit the better of the two.
func (j *Job) sayChecked(ctx context.Context, gen *generation, s *snippet, p *playback, rate *audio.Converter,
	emit func(piece) error) error {
	said, err := j.synthesizeSnippet(ctx, gen, s, p, 0)
	if err != nil {
		return err
	}
	if misspoken(said.wrong, said.of) {
		again, err := j.synthesizeSnippet(ctx, gen, s, p, 1)
		if err != nil {
			return err
		}
		better := again.wrong < said.wrong
		j.service.Observe.Retried(better)
		if better {
			said = again
			if err := j.storeAttempt(ctx, gen, s, 1); err != nil {
				return err
			}
		}
	}
	if said.heard != nil {
		j.service.Observe.WordErrors(said.wrong, said.of)
	}
	return j.emitSynthesis(gen, s, said, p, rate, emit)
}

// memory says all of a snippet, and hears it.
func (j *Job) synthesizeSnippet(ctx context.Context, gen *generation, s *snippet, p *playback,
	try int) (said synthesis, err error) {
	err = gen.synthesize(ctx, s, p.urgency, try, func(sound engine.Sound) error {
		said.sound.PCM = append(said.sound.PCM, sound.PCM...)
		said.sound.Words = append(said.sound.Words, sound.Words...)
		said.sound.Phonemes = append(said.sound.Phonemes, sound.Phonemes...)
		return nil
	})
	ear, voice := j.service.Ear, s.utterance.voice
	if err != nil || !ear.understands(voice.Language) {
		return said, err
	}
	heard, err := ear.transcribe(ctx, said.sound.PCM, voice.Synthesizer.RateHz(), s.utterance.Speed, p.urgency)
	said.heard = &heard
	said.wrong, said.of = transcriptErrors(s.text, heard,
		text.Options{Language: voice.Language, Locale: gen.pronunciation.Locale, Lexicon: gen.pronunciation.Lexicon})
	return said, err
}

// longestChunk is how much sound a chunk of a snippet has that was made before it
// is sent: 640 kB in base64. WebSocket libraries close at messages above 1 MiB
// unless told otherwise.
const longestChunk = 5 * time.Second

// deliver gives emit the sound of a snippet that is all made.
func (j *Job) emitSynthesis(gen *generation, s *snippet, said synthesis, p *playback, rate *audio.Converter,
	emit func(piece) error) error {
	hz := s.utterance.voice.Synthesizer.RateHz()
	resampler, err := rate.Between(hz, contract.OutputRateHz)
	if err != nil {
		return err
	}
	most := audio.Samples(longestChunk, hz)
	rest := said.sound
	for from := 0; ; from += most {
		to := min(from+most, len(said.sound.PCM))
		last := to == len(said.sound.PCM)
		part := cutTimes(&rest, to, last)
		pcm := resampler.Process(nil, said.sound.PCM[from:to])
		if last {
			pcm = append(resampler.Flush(pcm), silent(s.pause)...)
		}
		p.add(len(pcm), contract.OutputRateHz)
		if err := emit(piece{
			snippet: s,
			pcm:     pcm,
			times:   timestamps(part, hz, j.request.IncludeTimestampTypes),
			last:    last,
			heard:   said.heard,
		}); err != nil || last {
			return err
		}
	}
}

// understands says whether the ear knows the language of a voice.
func (e Ear) understands(language string) bool {
	if e.Transcriber == nil {
		return false
	}
	base, _, _ := strings.Cut(strings.ToLower(language), "-")
	return e.Languages == nil || slices.Contains(e.Languages, base)
}

// cutTimes takes the words and phonemes off that end up to a sample.
func cutTimes(rest *engine.Sound, to int, all bool) (part engine.Sound) {
	w := slices.IndexFunc(rest.Words, func(w engine.Word) bool { return !all && w.End > to })
	p := slices.IndexFunc(rest.Phonemes, func(p engine.Phoneme) bool { return !all && p.End > to })
	if w < 0 {
		w = len(rest.Words)
	}
	if p < 0 {
		p = len(rest.Phonemes)
	}
	part.Words, part.Phonemes = rest.Words[:w], rest.Phonemes[:p]
	rest.Words, rest.Phonemes = rest.Words[w:], rest.Phonemes[p:]
	return part
}
