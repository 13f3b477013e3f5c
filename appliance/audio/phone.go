package audio

import (
	"fmt"
	"slices"
	"time"
)

// PhoneCodec is a codec of telephones.
type PhoneCodec int

// The codecs that nearly every telephone has: G.711 with its two laws, and G.722.
const (
	MuLaw PhoneCodec = iota
	ALaw
	G722
)

// String returns the codec's encoding name in SDP (RFC 3551, 4.5).
func (c PhoneCodec) String() string { return [...]string{"PCMU", "PCMA", "G722"}[c] }

// RateHz returns the rate of the codec's sound.
func (c PhoneCodec) RateHz() int {
	if c == G722 {
		return 16000
	}
	return 8000
}

// ClockHz returns the rate of the codec's RTP timestamps. That of G.722 is half the rate of its
// sound, because of an old mistake (RFC 3551, 4.5.2).
func (c PhoneCodec) ClockHz() int { return phoneBytes }

const (
	// phoneBytes is how many bytes a second of sound has with each of the codecs. All rates are
	// multiples of it.
	phoneBytes = 8000
	// maxPhonePacket is the longest packet that is decoded (RFC 3551, 4.2).
	maxPhonePacket = 200 * time.Millisecond
)

// phoneRate returns an error unless the sound of a byte has a whole number of samples at a rate.
func phoneRate(hz int) error {
	if hz < phoneBytes || hz%phoneBytes != 0 || hz > CallRateHz {
		return fmt.Errorf("telephone sound: the rate is %d Hz; allowed are multiples of %d up to %d", hz, phoneBytes,
			CallRateHz)
	}
	return nil
}

// PhoneEncoder encodes the packets of a telephone call. One goroutine uses it.
type PhoneEncoder struct {
	codec    PhoneCodec
	rateHz   int
	voice    bool // the sound is made fit for a telephone
	resample *steadyResampler
	clear    *phoneVoice // nil unless voice
	g722     g722Encoder
	pcm      []float32
	packet   []byte
}

// NewVoiceEncoder returns an encoder of the assistant's voice, mono at CallRateHz, which it
// makes as clear and loud as a telephone can.
func NewVoiceEncoder(c PhoneCodec) *PhoneEncoder {
	e := &PhoneEncoder{codec: c, rateHz: CallRateHz, voice: true, g722: g722Encoder{bands: newG722Bands()}}
	e.Reset()
	return e
}

// NewRelayEncoder returns an encoder of mono sound at a rate, a multiple of 8 kHz, as it is.
func NewRelayEncoder(c PhoneCodec, rateHz int) (*PhoneEncoder, error) {
	if err := phoneRate(rateHz); err != nil {
		return nil, err
	}
	e := &PhoneEncoder{codec: c, rateHz: rateHz, g722: g722Encoder{bands: newG722Bands()}}
	e.Reset()
	return e, nil
}

// Encode returns the packet of a frame of a whole number of milliseconds, valid until the next
// call. It is as long as the frame, and its sound is late by 8 ms of filters, or by 13 ms for
// a voice.
func (e *PhoneEncoder) Encode(frame []float32) ([]byte, error) {
	if len(frame) == 0 || len(frame)%(e.rateHz/1000) != 0 {
		return nil, fmt.Errorf("telephone sound: a frame of %d samples at %d Hz; allowed are whole milliseconds",
			len(frame), e.rateHz)
	}
	e.pcm = e.resample.process(e.pcm[:0], frame)
	pcm := e.pcm
	if e.clear != nil {
		pcm = e.clear.process(pcm)
	}
	e.packet = e.packet[:0]
	switch e.codec {
	case MuLaw:
		for _, x := range pcm {
			e.packet = append(e.packet, toMuLaw(x))
		}
	case ALaw:
		for _, x := range pcm {
			e.packet = append(e.packet, toALaw(x))
		}
	case G722:
		e.packet = e.g722.encode(e.packet, pcm)
	}
	return e.packet, nil
}

// Reset drops the sound that the filters hold, so that what comes next begins with silence.
func (e *PhoneEncoder) Reset() {
	e.resample = newSteadyResampler(e.rateHz, e.codec.RateHz())
	if e.voice {
		e.clear = newPhoneVoice(e.codec.RateHz())
	}
	e.g722.split = g722Filter{} // the far end's predictors keep their state, so these do too
}

// PhoneDecoder decodes the packets of a telephone call to mono sound, and conceals lost ones.
// One goroutine uses it.
type PhoneDecoder struct {
	codec    PhoneCodec
	rateHz   int
	g722     g722Decoder
	conceal  *concealer
	resample *steadyResampler
	pcm, out []float32
}

// NewPhoneDecoder returns a decoder to a rate, a multiple of 8 kHz.
func NewPhoneDecoder(c PhoneCodec, rateHz int) (*PhoneDecoder, error) {
	if err := phoneRate(rateHz); err != nil {
		return nil, err
	}
	return &PhoneDecoder{
		codec:    c,
		rateHz:   rateHz,
		g722:     g722Decoder{bands: newG722Bands()},
		conceal:  newConcealer(c.RateHz()),
		resample: newSteadyResampler(c.RateHz(), rateHz),
	}, nil
}

// Length returns the duration of a packet.
func (d *PhoneDecoder) Length(packet []byte) (time.Duration, error) {
	length := time.Duration(len(packet)) * time.Second / phoneBytes
	if length == 0 || length > maxPhonePacket {
		return 0, fmt.Errorf("telephone sound: a packet of %v; allowed are up to %v, and not 0", length, maxPhonePacket)
	}
	return length, nil
}

// Decode returns the sound of a packet, valid until the next call.
func (d *PhoneDecoder) Decode(packet []byte) ([]float32, error) {
	if _, err := d.Length(packet); err != nil {
		return nil, err
	}
	d.pcm = d.pcm[:0]
	switch d.codec {
	case MuLaw:
		for _, b := range packet {
			d.pcm = append(d.pcm, mulaw(b))
		}
	case ALaw:
		for _, b := range packet {
			d.pcm = append(d.pcm, alaw(b))
		}
	case G722:
		d.pcm = d.g722.decode(d.pcm, packet)
	}
	d.conceal.heard(d.pcm)
	return d.output(), nil
}

// Recover returns sound in place of a lost packet of a length, valid until the next call. These
// codecs repeat nothing of it in the next packet, which is ignored.
func (d *PhoneDecoder) Recover(length time.Duration, _ []byte) ([]float32, error) {
	n := Samples(min(length, maxPhonePacket), d.codec.RateHz())
	before := slices.Clone(d.conceal.past)
	d.pcm = d.conceal.lost(d.pcm[:0], n)
	if d.codec == G722 {
		d.g722.follow(before, d.pcm)
	}
	return d.output(), nil
}

func (d *PhoneDecoder) output() []float32 {
	d.out = d.resample.process(d.out[:0], d.pcm)
	return d.out
}

// steadyResampler returns as much sound for each piece as it gets, late by half of the
// resampler's filter: 8 ms between 8 kHz and any higher rate.
type steadyResampler struct{ resampler *Resampler }

// newSteadyResampler takes two rates of phoneRate, for which the resampler has one stage.
func newSteadyResampler(fromHz, toHz int) *steadyResampler {
	r := &Resampler{from: int64(fromHz), to: int64(toHz)}
	if fromHz != toHz {
		s := newStage(fromHz, toHz)
		s.process(nil, make([]float32, s.kernel.taps/2))
		r.stages = []*stage{s}
	}
	return &steadyResampler{r}
}

// process appends the sound of a piece, which must have a whole number of samples at both rates.
func (s *steadyResampler) process(dst, pcm []float32) []float32 { return s.resampler.Process(dst, pcm) }
