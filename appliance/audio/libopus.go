package audio

/*
#cgo pkg-config: opus
#include <opus.h>

// C functions with variable arguments cannot be called from Go.
static int set_bitrate(OpusEncoder *e, opus_int32 bits) { return opus_encoder_ctl(e, OPUS_SET_BITRATE(bits)); }
static int set_complexity(OpusEncoder *e, opus_int32 c) { return opus_encoder_ctl(e, OPUS_SET_COMPLEXITY(c)); }
static int get_lookahead(OpusEncoder *e, opus_int32 *n) { return opus_encoder_ctl(e, OPUS_GET_LOOKAHEAD(n)); }
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

// opusHz is the rate in which Opus counts time, whatever the output rate.
const opusHz = 48000

// opusMaxPacketMS is the longest packet of Opus (RFC 6716, 3.2.5).
const opusMaxPacketMS = 120

// opusOutHz returns the rate to decode at for an output rate: libopus decodes to some rates
// directly, without a resampler and with less work.
func opusOutHz(outHz int) int {
	switch outHz {
	case 8000, 12000, 16000, 24000, 48000:
		return outHz
	}
	return opusHz
}

// opusDecoder decodes the packets of one Opus stream to one or two channels. Its state is in
// Go's memory, so that nothing has to be freed.
type opusDecoder struct {
	rateHz   int
	channels int
	state    []uint64
	pcm      []float32
}

// newOpusDecoder returns a decoder at one of the rates of opusOutHz.
func newOpusDecoder(rateHz, channels int) (*opusDecoder, error) {
	d := &opusDecoder{rateHz: rateHz, channels: channels, pcm: make([]float32, channels*rateHz*opusMaxPacketMS/1000)}
	d.state = make([]uint64, (C.opus_decoder_get_size(C.int(channels))+7)/8)
	return d, d.reset()
}

// reset prepares the decoder for another stream.
func (d *opusDecoder) reset() error {
	if rc := C.opus_decoder_init(d.c(), C.opus_int32(d.rateHz), C.int(d.channels)); rc != C.OPUS_OK {
		return fmt.Errorf("opus: start decoder at %d Hz: %w", d.rateHz, opusError(rc))
	}
	return nil
}

func (d *opusDecoder) c() *C.OpusDecoder { return (*C.OpusDecoder)(unsafe.Pointer(&d.state[0])) }

// opusDuration returns how many samples at rateHz a packet holds.
func opusDuration(packet []byte, rateHz int) (int, error) {
	if len(packet) == 0 {
		return 0, errors.New("opus: empty packet")
	}
	n := C.opus_packet_get_nb_samples((*C.uchar)(&packet[0]), C.opus_int32(len(packet)), C.opus_int32(rateHz))
	if n < 0 {
		return 0, fmt.Errorf("opus: packet of %d bytes: %w", len(packet), opusError(n))
	}
	return int(n), nil
}

// decode returns the samples of a packet with interleaved channels, valid until the next call.
func (d *opusDecoder) decode(packet []byte) ([]float32, error) {
	if len(packet) == 0 {
		return nil, errors.New("opus: empty packet")
	}
	n := C.opus_decode_float(d.c(), (*C.uchar)(&packet[0]), C.opus_int32(len(packet)),
		(*C.float)(&d.pcm[0]), C.int(len(d.pcm)/d.channels), 0)
	if n < 0 {
		return nil, fmt.Errorf("opus: packet of %d bytes: %w", len(packet), opusError(n))
	}
	return d.pcm[:int(n)*d.channels], nil
}

// opusComplexity is the effort of the encoder, 0 to 10. Recordings are made during
// conversations: 1 takes 0.15 % of a core for each channel, 9 ten times that, and both are
// transparent for voice at this bitrate.
const opusComplexity = 1

// opusEncoder encodes audio of one or two channels for recordings. It always uses CELT, the
// codec's general audio mode: nothing is filtered out, as a codec for calls would, and silence
// is cheap and stays silent.
type opusEncoder struct {
	rateHz   int
	channels int
	state    []uint64
	packet   []byte
}

// newOpusEncoder returns an encoder at one of the rates of opusOutHz.
func newOpusEncoder(rateHz, channels, bitsPerSecond int) (*opusEncoder, error) {
	size := C.opus_encoder_get_size(C.int(channels))
	if size <= 0 {
		return nil, fmt.Errorf("opus: %d channels; allowed are 1 and 2", channels)
	}
	// 1275 bytes is the longest frame (RFC 6716, 3.4).
	e := &opusEncoder{
		rateHz:   rateHz,
		channels: channels,
		state:    make([]uint64, (size+7)/8),
		packet:   make([]byte, 1275),
	}
	if rc := C.opus_encoder_init(e.c(), C.opus_int32(rateHz), C.int(channels),
		C.OPUS_APPLICATION_RESTRICTED_LOWDELAY); rc != C.OPUS_OK {
		return nil, fmt.Errorf("opus: start encoder: %w", opusError(rc))
	}
	if rc := C.set_bitrate(e.c(), C.opus_int32(bitsPerSecond)); rc != C.OPUS_OK {
		return nil, fmt.Errorf("opus: bitrate %d: %w", bitsPerSecond, opusError(rc))
	}
	if rc := C.set_complexity(e.c(), opusComplexity); rc != C.OPUS_OK {
		return nil, fmt.Errorf("opus: complexity %d: %w", opusComplexity, opusError(rc))
	}
	return e, nil
}

func (e *opusEncoder) c() *C.OpusEncoder { return (*C.OpusEncoder)(unsafe.Pointer(&e.state[0])) }

// lookahead returns the delay of the decoded audio, in samples at 48 kHz.
func (e *opusEncoder) lookahead() int {
	var n C.opus_int32
	C.get_lookahead(e.c(), &n) // cannot fail for an initialised encoder
	return int(n) * opusHz / e.rateHz
}

// encode returns the packet for one frame of 20 ms, valid until the next call.
func (e *opusEncoder) encode(frame []float32) ([]byte, error) {
	n := C.opus_encode_float(e.c(), (*C.float)(&frame[0]), C.int(len(frame)/e.channels),
		(*C.uchar)(&e.packet[0]), C.opus_int32(len(e.packet)))
	if n < 0 {
		return nil, fmt.Errorf("opus: encode %d samples: %w", len(frame), opusError(n))
	}
	return e.packet[:n], nil
}

func opusError(rc C.int) error { return errors.New(C.GoString(C.opus_strerror(rc))) }
