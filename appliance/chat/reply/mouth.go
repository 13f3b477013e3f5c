package reply

import (
	"context"
	"strings"
	"time"

	"parley/appliance/audio"
	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// sentencePause is the silence behind a clip that ends a sentence. A voice ends
// its sounds with about 100 ms of it; speakers draw breath for twice that.
const sentencePause = 150 * time.Millisecond

// mouth speaks the sentences of replies: synthesis, at the rate of the wire.
type mouth struct {
	voices Voices
	pace   *Pace
	clock  func() time.Duration
	post   func(turn.Event)
}

// speech is a sentence on its way to the mouth.
type speech struct {
	sentence turn.Sentence
	voice    string
	speed    float64
}

// Voices finds a voice by its name or id; the empty name is the default.
type Voices interface {
	Voice(name string) (engine.Synthesizer, error)
}

// speak says the sentences of a turn one after the other, until there are no
// more or ctx ends.
func (m mouth) speak(ctx context.Context, n int, sentences <-chan speech, due *schedule) {
	var rate converter
	for s := range sentences {
		asked := time.Now()
		piece, err := m.piece(ctx, s, &rate, due.mouth)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			m.post(turn.Failed{At: turn.At(m.clock()), Turn: n, Fault: contract.Fault{Code: contract.NotSpoken, Cause: err}})
			return
		}
		m.pace.sounded(time.Since(asked))
		due.spoken(piece.Whole)
		m.post(turn.Spoken{At: turn.At(m.clock()), Turn: n, Piece: piece})
	}
}

// piece is a sentence as sound, all of it in one.
func (m mouth) piece(ctx context.Context, s speech, rate *converter, u *engine.Urgency) (turn.Piece, error) {
	voice, err := m.voices.Voice(s.voice)
	if err != nil {
		return turn.Piece{}, err
	}
	said, err := voice.Synthesize(ctx, s.sentence.Text, engine.SpeakOptions{Urgency: u, Speed: s.speed})
	if err != nil || len(said.PCM) == 0 {
		return turn.Piece{Sentence: s.sentence, Last: true}, err
	}
	pcm, err := rate.convert(said)
	if err != nil {
		return turn.Piece{}, err
	}
	if strings.ContainsAny(s.sentence.Text[len(s.sentence.Text)-1:], ".!?") {
		pcm = append(pcm, make([]float32, sentencePause*contract.OutputRateHz/time.Second)...)
	}
	whole := time.Duration(len(pcm)) * time.Second / contract.OutputRateHz
	return turn.Piece{Sentence: s.sentence, PCM: pcm, Whole: whole, Last: true}, nil
}

// converter brings speech to the rate of the wire. It keeps its filter, whose
// design takes a millisecond, for as long as the voice stays the same.
type converter struct {
	fromHz    int
	resampler *audio.Resampler
}

func (c *converter) convert(s engine.Speech) ([]float32, error) {
	if c.resampler == nil || c.fromHz != s.RateHz {
		r, err := audio.NewResampler(s.RateHz, contract.OutputRateHz)
		if err != nil {
			return nil, err
		}
		c.fromHz, c.resampler = s.RateHz, r
	}
	size := len(s.PCM)*contract.OutputRateHz/s.RateHz + 1
	pause := int(sentencePause * contract.OutputRateHz / time.Second)
	return c.resampler.Flush(c.resampler.Process(make([]float32, 0, size+pause), s.PCM)), nil
}
