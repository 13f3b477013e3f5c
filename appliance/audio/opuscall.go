package audio

import (
	"fmt"
	"time"
)

const (
	// CallFrame is the duration of a packet in a call: what every WebRTC client sends and
	// expects (RFC 7587, 4.2).
	CallFrame = 20 * time.Millisecond
	// CallRateHz is the rate of the sound in a call, and of its clock (RFC 7587, 4.1).
	CallRateHz = opusHz

	// callBits is the bitrate of the assistant's voice, in bits a second, for the codec's CELT
	// mode, with a bandwidth of 12 kHz here (super-wideband), which is that of voices made at
	// 22 and 24 kHz.
	callBits = 40_000
	// lossyBits is the bitrate for the codec's SILK mode, which repeats each frame in a rough
	// form. That takes a part of the bits, so the encoder reduces the bandwidth to 8 kHz.
	lossyBits = 32_000
	// callComplexity is 0 to 10. At 1 a voice takes 0.2 % of a slow core with CELT and 0.5 %
	// with SILK, at 2 twice that, without an audible difference at these bitrates.
	callComplexity = 1
	// callLoss is the packet loss that the encoder for lossy networks assumes, in percent; it
	// determines how much of each packet repeats the previous one. Busy wireless networks lose
	// as much.
	callLoss = 10

	// quiet is the level of silence: -60 dB, below the noise of any room.
	quiet = 0.001
	// quietFrames is how many silent frames are still sent, so that the receiver's concealment
	// of the missing ones is silent.
	quietFrames = 10
)

// CallEncoder encodes the Opus packets of a call, and none for silence. One goroutine uses it.
type CallEncoder struct {
	opusEncoder
	quiet int // silent frames so far
}

// NewCallEncoder returns an encoder of mono sound at CallRateHz for a network with hardly any
// loss.
func NewCallEncoder() (*CallEncoder, error) {
	return newCallEncoder(opusApplyCELT, callBits)
}

// NewLossyCallEncoder returns an encoder for a network that loses packets: with in-band error
// correction, for two and a half times the work and a narrower band.
func NewLossyCallEncoder() (*CallEncoder, error) {
	return newCallEncoder(opusApplyVoice, lossyBits, [2]int32{opusFEC, 1}, [2]int32{opusLoss, callLoss})
}

// newCallEncoder returns an encoder with more settings: pairs of a request and its value.
func newCallEncoder(application, bits int32, more ...[2]int32) (*CallEncoder, error) {
	e, err := startOpusEncoder(CallRateHz, 1, application)
	if err != nil {
		return nil, err
	}
	for _, s := range append([][2]int32{
		{opusBitrate, bits},
		{opusEffort, callComplexity},
		{opusSignal, opusVoice},
		{opusDTX, 1},
		{opusMaxBandwidth, opusSuperWide},
	}, more...) {
		if err := e.set(s[0], s[1]); err != nil {
			return nil, err
		}
	}
	return &CallEncoder{opusEncoder: *e}, nil
}

// Independent makes packets that do not depend on the ones before, for a stream in which packets
// of others may come between. With CELT the levels after such a packet would otherwise be wrong
// for 40 ms.
func (e *CallEncoder) Independent() error { return e.set(opusNoPrediction, 1) }

// Encode returns the packet of one CallFrame, valid until the next call. It is empty for
// silence, which need not be sent (RFC 7587, 3.1.3).
func (e *CallEncoder) Encode(frame []float32) ([]byte, error) {
	if power(frame) < quiet*quiet {
		if e.quiet++; e.quiet > quietFrames {
			return nil, nil
		}
	} else {
		if e.quiet > quietFrames {
			e.lib.set(&e.state[0], opusReset, 0) // the receiver resets too after a gap; it never fails
		}
		e.quiet = 0
	}
	packet, err := e.encode(frame)
	if len(packet) <= 2 { // discontinuous transmission, by the rules of opus_encode
		return nil, err
	}
	return packet, err
}

// power returns the mean square.
func power(pcm []float32) float32 {
	var sum float32
	for _, v := range pcm {
		sum += v * v
	}
	return sum / float32(len(pcm))
}

const (
	// celtOverlap is how much a frame of CELT overlaps with the one before (RFC 6716, 4.3.7).
	celtOverlap = 2500 * time.Microsecond
	// longestCarried is the longest loss after which the levels before it are still valid.
	// After that libopus resets them itself.
	longestCarried = 100 * time.Millisecond
)

// CallDecoder decodes the Opus packets of a call to mono sound, and conceals lost ones. One
// goroutine uses it.
//
// Each frame of CELT gives its levels relative to the frame before. If that was lost, libopus
// 1.5 assumes far lower levels, which leaves gaps of 40 ms in a voice. So lost sound comes from
// a copy of the decoder, and a CELT packet after it is decoded as if nothing had been lost, and
// blended with the copy's sound.
type CallDecoder struct {
	opusDecoder
	concealer opusDecoder   // the copy; empty before the first loss
	lost      time.Duration // concealed since the newest packet
}

// NewCallDecoder returns a decoder for a rate of 8, 12, 16, 24 or 48 kHz.
func NewCallDecoder(rateHz int) (*CallDecoder, error) {
	if opusOutHz(rateHz) != rateHz {
		return nil, fmt.Errorf("opus: %d Hz; allowed are 8000, 12000, 16000, 24000 and 48000", rateHz)
	}
	d, err := newOpusDecoder(rateHz, 1)
	if err != nil {
		return nil, err
	}
	return &CallDecoder{opusDecoder: *d}, nil
}

// Length returns the duration of a packet by its header.
func (d *CallDecoder) Length(packet []byte) (time.Duration, error) {
	n, err := opusDuration(packet, opusHz)
	return time.Duration(n) * time.Second / opusHz, err
}

// Decode returns the sound of a packet, valid until the next call.
func (d *CallDecoder) Decode(packet []byte) ([]float32, error) {
	lost := d.lost
	d.lost = 0
	if lost == 0 {
		return d.decode(packet)
	}
	if lost > longestCarried || !isCELT(packet) {
		d.state, d.concealer.state = d.concealer.state, d.state
		return d.decode(packet)
	}
	pcm, err := d.decode(packet)
	if err != nil {
		return nil, err
	}
	before, err := d.concealer.conceal(celtOverlap, nil)
	if err != nil {
		return nil, err
	}
	for i, v := range before[:min(len(before), len(pcm))] {
		pcm[i] += (v - pcm[i]) * (1 - float32(i)/float32(len(before)))
	}
	return pcm, nil
}

// isCELT reports whether a packet uses CELT (RFC 6716, table 2).
func isCELT(packet []byte) bool { return len(packet) > 0 && packet[0]>>3 >= 16 }

// Recover returns the sound of a lost packet of a length, from the rough copy in the next
// packet, or concealed if there is none. The next packet may be nil; it must be decoded afterwards.
// The sound is valid until the next call.
func (d *CallDecoder) Recover(length time.Duration, next []byte) ([]float32, error) {
	if d.lost == 0 {
		if d.concealer.pcm == nil {
			d.concealer = opusDecoder{
				lib:      d.lib,
				rateHz:   d.rateHz,
				channels: 1,
				state:    make([]uint64, len(d.state)),
				pcm:      make([]float32, len(d.pcm)),
			}
		}
		copy(d.concealer.state, d.state)
	}
	d.lost += length
	return d.concealer.conceal(length, next)
}

// conceal returns the sound of a lost packet, as Recover does.
func (d *opusDecoder) conceal(length time.Duration, next []byte) ([]float32, error) {
	n := min(Samples(length, d.rateHz), len(d.pcm))
	data, size, fec := (*byte)(nil), 0, int32(0)
	if len(next) > 0 {
		data, size, fec = &next[0], len(next), 1
	}
	got := d.lib.decode(&d.state[0], data, int32(size), &d.pcm[0], int32(n), fec)
	if got < 0 {
		return nil, d.lib.check(got, "conceal a lost packet")
	}
	return d.pcm[:got], nil
}
