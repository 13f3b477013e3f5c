package reply

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/appliance/audio"
	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/markup"
	"parley/appliance/text"
)

// sentencePause is the silence added after a sentence. A voice ends with about 100 ms of it; speakers draw
// breath for twice that.
const sentencePause = 150 * time.Millisecond

// mouth speaks the sentences of replies: it synthesises them and resamples them for the wire.
type mouth struct {
	voices        VoiceLoader
	pronunciation func(context.Context) text.Options // nil: as the voice pronounces them
	throughput    *Throughput
	clock         func() time.Duration
	post          func(turn.Event)
	// feelings scores a sentence; nil: sentences are not scored.
	feelings func(text string) contract.EmotionScores
	stored   StoredSound // nil: nothing is stored
}

// StoredSound has the sound of sentences that were spoken before.
type StoredSound interface {
	// Voice returns voice with a memory: what it has spoken before is not synthesised again.
	Voice(voice engine.Synthesizer) engine.Synthesizer
}

// speech is a sentence on its way to the mouth.
type speech struct {
	sentence turn.Sentence
	voice    string
	speed    float64
}

// VoiceLoader loads a voice by its name or id; the empty name is the default. It waits
// for a voice that is not loaded yet, until ctx ends.
type VoiceLoader interface {
	Voice(ctx context.Context, name string) (engine.Synthesizer, error)
}

// speak speaks the sentences of a turn, until there are no more or ctx ends.
func (m mouth) speak(ctx context.Context, n int, sentences <-chan speech, due *schedule) {
	var rate audio.Converter
	var directions markup.Directions
	before := "" // the beginning of a sentence that goes on, and a space
	for s := range sentences {
		line := s.sentence.Text
		if !s.sentence.Dictated && !s.sentence.Approved() {
			line = directions.Without(line)
		}
		err := m.speakSentence(ctx, n, s, line, before, &rate, due)
		due.sentenceDone()
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			m.post(turn.TurnFailed{At: turn.At(m.clock()), Turn: n, Fault: speechFault(err)})
			return
		}
		if before += line + " "; !s.sentence.GoesOn {
			before = ""
		}
	}
}

// errNoVoice means that a voice cannot be loaded.
var errNoVoice = errors.New("the voice cannot be opened")

// speechFault returns the fault for a sentence that could not be spoken. A voice that could not be opened is
// tried again for the next sentence.
func speechFault(err error) contract.Fault {
	f := contract.Fault{Code: contract.NotSpoken, Cause: err}
	if errors.Is(err, errNoVoice) {
		f.Detail = "The voice cannot be opened just now."
	}
	return f
}

// speakSentence speaks line, the text of one sentence, and posts its sound piece by piece as it is made.
func (m mouth) speakSentence(ctx context.Context, n int, s speech, line, before string, rate *audio.Converter,
	due *schedule) error {
	asked := time.Now()
	voice, err := m.voices.Voice(ctx, s.voice)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoVoice, err)
	}
	stored := s.sentence.Fixed && m.stored != nil
	if stored {
		voice = m.stored.Voice(voice)
	}
	resampler, err := rate.Between(voice.RateHz(), contract.OutputRateHz)
	if err != nil {
		return err
	}
	pause := 0
	if !s.sentence.GoesOn && text.EndsSentence(line) {
		pause = int(sentencePause * contract.OutputRateHz / time.Second)
	}
	piece := turn.Piece{Sentence: s.sentence}
	post := func() {
		if piece.Last && m.feelings != nil {
			scores := m.feelings(before + s.sentence.Text)
			piece.Scores = &scores
		}
		due.soundMade(piece.Length())
		m.post(turn.SoundMade{At: turn.At(m.clock()), Turn: n, Piece: piece})
		piece.Index++
	}
	o := engine.SpeakOptions{
		Urgency:   due.mouth,
		Speed:     s.speed,
		Previous:  before,
		Continues: s.sentence.GoesOn,
	}
	if m.pronunciation != nil {
		read := m.pronunciation(ctx)
		o.Locale, o.Lexicon = read.Locale, read.Lexicon
	}
	err = speakSpeakable(ctx, voice, line, o, func(sound engine.Sound) error {
		if piece.Index == 0 && !stored { // stored sound says nothing about the speed of the voice
			m.throughput.noteFirstSound(time.Since(asked))
		}
		capacity := len(sound.PCM)*contract.OutputRateHz/voice.RateHz() + 1
		if piece.Last = sound.Last; piece.Last {
			piece.PCM = resampler.Flush(resampler.Process(make([]float32, 0, capacity+pause+resamplerTail), sound.PCM))
			piece.PCM = append(piece.PCM, make([]float32, pause)...)
		} else {
			piece.PCM = resampler.Process(make([]float32, 0, capacity), sound.PCM)
		}
		piece.SentenceLength = time.Duration(sound.TotalSamples)*time.Second/time.Duration(voice.RateHz()) +
			sentencePause*time.Duration(min(pause, 1))
		post()
		return context.Cause(ctx)
	})
	if err == nil && !piece.Last { // there was nothing to speak
		piece.Last = true
		post()
	}
	return err
}

// speakSpeakable speaks a text without the characters that the voice cannot pronounce: a model that drops a
// Chinese name into its answer has still answered.
func speakSpeakable(ctx context.Context, voice engine.Synthesizer, text string, o engine.SpeakOptions,
	emit func(engine.Sound) error) error {
	err := voice.Speak(ctx, text, o, emit)
	var cannot engine.ErrCannotSay
	if !errors.As(err, &cannot) {
		return err
	}
	if err = voice.Speak(ctx, cannot.Rest, o, emit); errors.As(err, &cannot) {
		return nil
	}
	return err
}

// resamplerTail is the capacity for what a resampler holds back until the end of a stream: half of its
// filter.
const resamplerTail = 256
