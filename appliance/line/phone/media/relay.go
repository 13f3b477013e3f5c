package media

import (
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/line/rtp"
)

// relaying is the state of sound that comes from another call.
type relaying struct {
	pending []float32 // less than a frame
	newest  time.Time
}

// Relay sends live sound of another call, mono at engine.SpeechRateHz, as soon as a frame is
// complete. The far end's own buffer evens the times out, as if it got the packets of the
// other call. What would be early is dropped, and all of it while the assistant speaks.
func (s *Session) Relay(pcm []float32) {
	o := s.out
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if o.a == nil || !o.a.sends || o.event != nil || now.Sub(o.spoke) < 2*o.format.Frame {
		return
	}
	e, err := o.relayEncoder()
	if err != nil {
		return
	}
	o.relaying.newest = now
	n := audio.Samples(o.format.Frame, engine.SpeechRateHz)
	o.relaying.pending = append(o.relaying.pending, pcm...)
	for len(o.relaying.pending) >= n {
		frame := o.relaying.pending[:n]
		o.relaying.pending = o.relaying.pending[n:]
		lead := int32(o.next - o.base - o.format.Ticks(now.Sub(o.epoch)))
		if o.begun && lead > int32(o.format.Ticks(maxLead)) {
			continue
		}
		if payload, err := e.Encode(frame); err != nil || len(payload) == 0 {
			o.sendSilence(now)
		} else {
			o.send(payload, now)
		}
	}
	o.relaying.pending = append([]float32(nil), o.relaying.pending...)
}

// relayEncoder returns the encoder of frames at engine.SpeechRateHz. mu is held.
func (o *sender) relayEncoder() (_ rtp.Encoder, err error) {
	if o.relay != nil {
		return o.relay, nil
	}
	if !o.a.codec.isOpus() {
		o.relay, err = audio.NewRelayEncoder(o.a.codec.phone, engine.SpeechRateHz)
		return o.relay, err
	}
	o.relay, err = newOpusRelay()
	return o.relay, err
}

// opusRelay encodes frames at engine.SpeechRateHz as Opus.
type opusRelay struct {
	to48    *audio.Resampler
	encoder rtp.Encoder
	pcm     []float32
}

func newOpusRelay() (*opusRelay, error) {
	r, err := audio.NewResampler(engine.SpeechRateHz, contract.OutputRateHz)
	if err != nil {
		return nil, err
	}
	e, err := opusEncoder(audio.NewCallEncoder)
	if err != nil {
		return nil, err
	}
	return &opusRelay{to48: r, encoder: e}, nil
}

// Encode implements rtp.Encoder for frames at engine.SpeechRateHz.
func (r *opusRelay) Encode(frame []float32) ([]byte, error) {
	wanted := len(frame) * contract.OutputRateHz / engine.SpeechRateHz
	r.pcm = r.to48.Process(r.pcm, frame)
	if missing := wanted - len(r.pcm); missing > 0 { // at the beginning the filter holds some back
		r.pcm = append(make([]float32, missing), r.pcm...)
	}
	payload, err := r.encoder.Encode(r.pcm[:wanted])
	r.pcm = append(r.pcm[:0], r.pcm[wanted:]...)
	return payload, err
}
