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

// Ear transcribes what was synthesised, to check it.
type Ear struct {
	Detector    engine.VoiceDetector
	Transcriber engine.Transcriber
	// Languages are the BCP 47 base tags of the languages that it understands; nil: all.
	Languages []string
}

// transcribe returns the words of pcm, which was spoken at a speed.
func (e Ear) transcribe(ctx context.Context, pcm []float32, rateHz int, speed float64, u *engine.Urgency) (string,
	error) {
	o := engine.TranscribeOptions{Urgency: u, Speed: speed}
	pcm = audio.Resample(pcm, rateHz, engine.SpeechRateHz)
	if time.Duration(len(pcm))*time.Second/engine.SpeechRateHz <= longestTranscribed {
		t, err := e.Transcriber.Transcribe(ctx, pcm, o)
		return t.Text, err
	}
	said, _, err := engine.TranscribeRecording(ctx, e.Detector, e.Transcriber, pcm, engine.SegmentOptions{}, o, nil)
	var all []string
	for _, u := range said {
		all = append(all, u.Text)
	}
	return strings.Join(all, " "), err
}

const (
	// longestTranscribed is how much sound is transcribed at once. The default transcriber
	// derails now and then on longer sound, so that is cut at its pauses.
	longestTranscribed = 12 * time.Second
	// misspokenShare is the share of wrong words from which a snippet counts as misspoken.
	// Transcripts of the voices have 3 to 6 wrong words in a hundred, among them names and
	// numbers that transcriber and reference write differently; a third is far above that.
	misspokenShare = 0.34
	// misspokenLeast is the least number of wrong words: with one wrong word, in "Hi." or
	// "Nguyen", the transcriber is more likely at fault.
	misspokenLeast = 2
)

func misspoken(wrong, of int) bool {
	return wrong >= misspokenLeast && float64(wrong) > misspokenShare*float64(of)
}

// synthesis is the complete sound of a snippet.
type synthesis struct {
	sound     engine.Sound // at the rate of the voice
	heard     *string      // nil: not transcribed
	wrong, of int          // words
}

// sayChecked synthesises a snippet and transcribes it. If the transcript differs too much from
// the text, the snippet is synthesised again with another seed, and the better of the two is
// emitted.
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

// synthesizeSnippet synthesises all of a snippet and transcribes it.
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

// longestChunk is the longest chunk of a snippet that is complete before it is sent: 640 kB in
// base64. WebSocket libraries close the connection at messages above 1 MiB by default.
const longestChunk = 5 * time.Second

// emitSynthesis emits the sound of a complete snippet in pieces.
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
			pcm = append(resampler.Flush(pcm), silentPCM(s.pause)...)
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

// understands reports whether the ear transcribes the language of a voice.
func (e Ear) understands(language string) bool {
	if e.Transcriber == nil {
		return false
	}
	base, _, _ := strings.Cut(strings.ToLower(language), "-")
	return e.Languages == nil || slices.Contains(e.Languages, base)
}

// cutTimes removes and returns the words and phonemes that end up to a sample.
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
