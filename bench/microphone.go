package bench

import (
	"context"
	"errors"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// pieceDuration is the length of the sound of one message, as clients send it.
const pieceDuration = 20 * time.Millisecond

const pieceSamples = int(pieceDuration * engine.SpeechRateHz / time.Second)

// microphone sends sound in real time for as long as a conversation lasts: utterances,
// and silence between them. Like a real one it sends a piece at the end of the piece.
type microphone struct {
	send  func(context.Context, contract.ClientMessage) error
	begun time.Time
	say   chan utterance
	over  chan struct{} // closed when it has stopped
}

// utterance is sound to send; its start time is sent to begin.
type utterance struct {
	pcm   []float32
	begin chan<- time.Time
}

func newMicrophone(send func(context.Context, contract.ClientMessage) error) *microphone {
	return &microphone{
		send:  send,
		begun: time.Now(),
		say:   make(chan utterance),
		over:  make(chan struct{}),
	}
}

// run sends until ctx ends or sending fails.
func (m *microphone) run(ctx context.Context) error {
	defer close(m.over)
	silence := make([]float32, pieceSamples)
	var pcm []float32
	for i := 0; ; i++ {
		if len(pcm) == 0 {
			select {
			case u := <-m.say:
				pcm = u.pcm
				u.begin <- m.at(i)
			default:
			}
		}
		piece := silence
		if len(pcm) > 0 {
			piece = pcm[:min(pieceSamples, len(pcm))]
			pcm = pcm[len(piece):]
		}
		if err := sleep(ctx, time.Until(m.at(i+1))); err != nil {
			return err
		}
		if err := m.send(ctx, contract.AudioInput{Data: audio.AppendLinear16(nil, piece)}); err != nil {
			return err
		}
	}
}

// at returns the start time of the i-th piece.
func (m *microphone) at(i int) time.Time { return m.begun.Add(time.Duration(i) * pieceDuration) }

// speak sends pcm and returns the time of its first sample.
func (m *microphone) speak(ctx context.Context, pcm []float32) (time.Time, error) {
	begin := make(chan time.Time, 1)
	select {
	case m.say <- utterance{pcm, begin}:
		return <-begin, nil
	case <-m.over:
		return time.Time{}, errors.New("the connection to the box broke")
	case <-ctx.Done():
		return time.Time{}, context.Cause(ctx)
	}
}
