package rtp

import (
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// Recode changes the frames that wait, and the voice, to another format, with the decoder of
// the format before. The goroutine that plays calls it, after encoders has begun to return
// encoders of the new format.
func (v *Voice) Recode(f Format, d Decoder) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	before := v.length
	v.length = f.Frame
	old := v.queue
	v.queue = nil
	for len(old) > 0 {
		n := 0
		var pcm []float32
		for n < len(old) && old[n].ID == old[0].ID {
			sound, err := decodeFrame(d, old[n].Payload, before)
			if err != nil {
				return err
			}
			pcm = append(pcm, sound...)
			n++
		}
		pcm = audio.Resample(pcm, engine.SpeechRateHz, contract.OutputRateHz)
		if err := v.requeue(old[0].ID, old[0].End-before, pcm); err != nil {
			return err
		}
		old = old[n:]
	}
	v.frames = int(time.Duration(v.frames) * before / v.length)
	var err error
	v.encoder, err = v.encoders()
	return err
}

// decodeFrame returns the sound of a frame at engine.SpeechRateHz.
func decodeFrame(d Decoder, payload []byte, length time.Duration) ([]float32, error) {
	if len(payload) == 0 {
		return make([]float32, audio.Samples(length, engine.SpeechRateHz)), nil
	}
	return d.Decode(payload)
}

// requeue queues the sound of a sentence from a time in it.
func (v *Voice) requeue(id string, from time.Duration, pcm []float32) error {
	e, err := v.encoders()
	if err != nil {
		return err
	}
	n := v.samples()
	for count := int(from / v.length); len(pcm) > 0; count++ {
		frame := make([]float32, n)
		pcm = pcm[copy(frame, pcm):]
		payload, err := e.Encode(frame)
		if err != nil {
			return err
		}
		from += v.length
		v.queue = append(v.queue, Frame{
			Payload: append([]byte(nil), payload...),
			ID:      id,
			End:     from,
			count:   count,
		})
	}
	return nil
}
