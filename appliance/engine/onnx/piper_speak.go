package onnx

import (
	"context"

	"parley/appliance/engine"
)

// A speaker says breaths: a voice, as far as it matters to what is made of its
// sound.
type speaker interface {
	RateHz() int
	// sound has the model take a breath, and returns the sound that comes of it and
	// how many frames each of its ids has; none where the model does not tell.
	synthesize(ctx context.Context, b phrase, o engine.SpeakOptions) (phraseSound, []float32, error)
	// hop is how many samples a frame has.
	hop() int
	// gain is by how much the sound of a text is multiplied, to be as loud as
	// every voice; it is asked for each text, with the first that was made of it.
	gain(first []float32) float32
}

// speaking is a text on its way to whoever listens: breath by breath, of each
// the sound piece by piece, as loud as every voice and with clean edges.
type speaking struct {
	voice   speaker
	options engine.SpeakOptions
	emit    func(engine.Sound) error

	gain     float32 // 0 until the first sound was made
	emitted  int     // samples so far
	perID    float64 // samples that an id of the breaths so far has had
	begin    int     // where the sound of this breath begins, behind the pause
	pause    int     // silence that is still owed
	edges    *edges
	sound    phraseSound
	phonemes []engine.Phoneme // of this breath, in samples of its wave
	words    []engine.Word    // likewise
}

// phraseSound is the sound of a breath, which is made as it is asked for.
type phraseSound interface {
	// piece makes the next samples; nil when there are no more.
	piece(ctx context.Context, u *engine.Urgency) ([]float32, error)
	// length is how many samples come in all.
	length() int
	// skipped is how many samples of the model's come before them.
	skipped() int
}

// speak says breaths one after the other.
func speak(ctx context.Context, voice speaker, breaths []phrase, o engine.SpeakOptions,
	emit func(engine.Sound) error) error {
	s := speaking{voice: voice, emit: emit, options: o}
	for i, b := range breaths {
		if err := s.speakPhrase(ctx, b, breaths[i+1:]); err != nil {
			return err
		}
	}
	return nil
}

// speakPhrase says one breath; rest are those that follow.
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

// start has the model take the text of a breath.
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

// emitPiece hands out sound of this breath, if it is any or the last.
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
		return nil // nothing of it can be heard
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

// raw are the phonemes and words of this breath that have been given by now, in
// samples of the whole speech. At its end that is the rest of them.
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

// totalSamples is how many samples there will be in all: what was given, what is
// left of this breath, and the others as fast as this one.
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
