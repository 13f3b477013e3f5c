package onnx

import (
	"context"

	"parley/appliance/engine"
)

// A speaker synthesizes phrases; both kinds of voices implement it.
type speaker interface {
	RateHz() int
	// synthesize runs the model on a phrase and returns its sound and the number of frames of each
	// id, or nil frames if the model does not report them.
	synthesize(ctx context.Context, b phrase, o engine.SpeakOptions) (phraseSound, []float32, error)
	// hop returns the samples per frame.
	hop() int
	// gain returns the factor that brings a text to the loudness of all voices. It is called for
	// each text with its first sound.
	gain(first []float32) float32
}

// speaking is a text in progress: phrase by phrase, and each phrase piece by piece, with equal
// loudness and clean edges.
type speaking struct {
	voice   speaker
	options engine.SpeakOptions
	emit    func(engine.Sound) error

	gain     float32 // 0 until there is sound
	emitted  int     // samples so far
	perID    float64 // average samples per id so far
	begin    int     // where the sound of this phrase begins, after the pause
	pause    int     // silence that is still to be emitted
	edges    *edges
	sound    phraseSound
	phonemes []engine.Phoneme // of this phrase, in samples of its sound
	words    []engine.Word    // likewise
}

// phraseSound is the sound of a phrase, which is synthesized on demand.
type phraseSound interface {
	// piece returns the next samples, or nil at the end.
	piece(ctx context.Context, u *engine.Urgency) ([]float32, error)
	// length returns the total number of samples.
	length() int
	// skipped returns how many samples of the model precede them.
	skipped() int
}

// speak synthesizes phrases one after the other.
func speak(ctx context.Context, voice speaker, phrases []phrase, o engine.SpeakOptions,
	emit func(engine.Sound) error) error {
	s := speaking{voice: voice, emit: emit, options: o}
	for i, b := range phrases {
		if err := s.speakPhrase(ctx, b, phrases[i+1:]); err != nil {
			return err
		}
	}
	return nil
}

// speakPhrase synthesizes one phrase; rest are the following ones.
func (s *speaking) speakPhrase(ctx context.Context, b phrase, rest []phrase) error {
	if err := s.start(ctx, b); err != nil {
		return err
	}
	for {
		pcm, err := s.sound.piece(ctx, s.options.Urgency)
		if err != nil {
			return err
		}
		if pcm == nil {
			return s.emitPiece(s.edges.end(), rest, true)
		}
		if s.gain == 0 {
			s.gain = s.voice.gain(pcm)
		}
		amplify(pcm, s.gain)
		if err := s.emitPiece(s.edges.add(pcm), rest, false); err != nil {
			return err
		}
	}
}

// start begins a phrase.
func (s *speaking) start(ctx context.Context, b phrase) error {
	var frames []float32
	var err error
	s.sound, frames, err = s.voice.synthesize(ctx, b, s.options)
	if err != nil {
		return err
	}
	s.edges = newEdges(s.voice.RateHz())
	if s.emitted > 0 {
		s.pause = s.voice.RateHz() * b.pauseMS / 1000
	}
	s.begin = s.emitted + s.pause
	s.perID = float64(s.sound.length()) / float64(b.end-b.begin)
	s.phonemes, s.words = b.timings(frames, s.voice.hop())
	return nil
}

// emitPiece emits sound of this phrase, unless it is empty and not the last.
func (s *speaking) emitPiece(pcm []float32, rest []phrase, ended bool) error {
	last := ended && len(rest) == 0
	if len(pcm) == 0 && !last {
		return nil
	}
	if s.pause > 0 && len(pcm) > 0 {
		pcm = append(make([]float32, s.pause, s.pause+len(pcm)), pcm...)
		s.pause = 0
	}
	s.emitted += len(pcm)
	if last && s.emitted == 0 {
		return nil // the text is inaudible
	}
	phonemes, words := s.dueTimings(ended)
	return s.emit(engine.Sound{
		PCM:          pcm,
		Phonemes:     phonemes,
		Words:        words,
		TotalSamples: s.totalSamples(rest, ended),
		Last:         last,
	})
}

// dueTimings returns the phonemes and words of this phrase whose sound has been emitted, in samples
// of the whole speech; at the end of the phrase the remaining ones.
func (s *speaking) dueTimings(ended bool) (phonemes []engine.Phoneme, words []engine.Word) {
	shift := s.begin - s.sound.skipped() - s.edges.dropped
	within := func(at int) int { return min(max(at+shift, s.begin), s.emitted) }
	for len(s.phonemes) > 0 && (ended || s.phonemes[0].End+shift <= s.emitted) {
		ph := s.phonemes[0]
		phonemes = append(phonemes, engine.Phoneme{Symbol: ph.Symbol, Begin: within(ph.Begin), End: within(ph.End)})
		s.phonemes = s.phonemes[1:]
	}
	for len(s.words) > 0 && (ended || s.words[0].End+shift <= s.emitted) {
		w := s.words[0]
		w.Begin, w.End = within(w.Begin), within(w.End)
		words = append(words, w)
		s.words = s.words[1:]
	}
	return phonemes, words
}

// totalSamples estimates the length of the speech: what was emitted, the rest of this phrase, and
// the others at its speed.
func (s *speaking) totalSamples(rest []phrase, ended bool) int {
	n := s.emitted
	if !ended {
		n = s.begin + s.sound.length() - s.edges.dropped
	}
	for _, b := range rest {
		n += s.voice.RateHz()*b.pauseMS/1000 + int(s.perID*float64(b.end-b.begin))
	}
	return n
}
