package webrtc

import (
	"context"
	"sync/atomic"
	"time"

	pionrtp "github.com/pion/rtp"

	"parley/appliance/audio"
	"parley/appliance/line/rtp"
)

// opusFormat is how Opus travels (RFC 7587, section 4).
var opusFormat = rtp.Format{ClockHz: audio.CallRateHz, Frame: audio.CallFrame}

// voice sends the assistant's voice to the client in talkspurts: silence is not sent.
type voice struct {
	*rtp.Voice
	send  func(*pionrtp.Packet) error
	clock rtp.Clock // of all calls
	epoch time.Time
	base  uint32 // timestamp at epoch

	lossy        atomic.Bool        // the client reports packet loss
	plainEncoder *audio.CallEncoder // this and the next field are used by the goroutine that plays
	lossyEncoder *audio.CallEncoder // nil until needed

	sequence uint16 // used by the goroutine that sends
}

func newVoice(send func(*pionrtp.Packet) error, played func(string, time.Duration), delay func() time.Duration,
	sequence uint16, base uint32, clock rtp.Clock) (*voice, error) {
	encoder, err := audio.NewCallEncoder()
	if err != nil {
		return nil, err
	}
	v := &voice{
		send:         send,
		clock:        clock,
		epoch:        time.Now(),
		base:         base,
		plainEncoder: encoder,
		sequence:     sequence,
	}
	v.Voice = rtp.NewVoice(v.choose, opusFormat, played, delay)
	return v, nil
}

// choose chooses the encoder for a sentence; packets of both can follow each other.
func (v *voice) choose() (_ rtp.Encoder, err error) {
	if !v.lossy.Load() {
		return v.plainEncoder, nil
	}
	if v.lossyEncoder == nil {
		if v.lossyEncoder, err = audio.NewLossyCallEncoder(); err != nil {
			return nil, err
		}
	}
	return v.lossyEncoder, nil
}

// run sends one frame every audio.CallFrame until ctx ends, and sleeps while there is none.
func (v *voice) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-v.Waiting():
		}
		if !v.sendTalkspurts(ctx) {
			return
		}
	}
}

// sendTalkspurts sends the waiting frames. It returns false if ctx has ended.
func (v *voice) sendTalkspurts(ctx context.Context) bool {
	first := true
	return v.clock.Pace(ctx, func(at time.Time, gap bool) time.Duration {
		f, ok := v.Next()
		if !ok {
			return 0
		}
		if len(f.Payload) > 0 {
			v.write(f.Payload, at, first || gap)
		}
		first = len(f.Payload) == 0 // silence ends a talkspurt
		v.Sent(f)
		return audio.CallFrame
	})
}

// write sends a payload at its time. The timestamps advance while nothing is sent (RFC 3551,
// section 4.1).
func (v *voice) write(payload []byte, at time.Time, first bool) {
	p := pionrtp.Packet{
		Header: pionrtp.Header{
			Version:        2,
			Marker:         first,
			SequenceNumber: v.sequence,
			Timestamp:      v.base + opusFormat.Ticks(at.Sub(v.epoch)),
		},
		Payload: payload,
	}
	v.sequence++
	_ = v.send(&p) // a broken connection is detected elsewhere
}
