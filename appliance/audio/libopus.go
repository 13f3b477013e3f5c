package audio

import (
	"errors"
	"fmt"
	"sync"

	"parley/internal/clib"
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

// Constants of opus_defines.h.
const (
	opusOK           = 0
	opusApplyVoice   = 2048 // OPUS_APPLICATION_VOIP
	opusApplyCELT    = 2051 // OPUS_APPLICATION_RESTRICTED_LOWDELAY
	opusBitrate      = 4002
	opusMaxBandwidth = 4004
	opusEffort       = 4010 // OPUS_SET_COMPLEXITY
	opusFEC          = 4012
	opusLoss         = 4014
	opusDTX          = 4016
	opusSignal       = 4024
	opusGetDelay     = 4027 // OPUS_GET_LOOKAHEAD
	opusReset        = 4028
	opusNoPrediction = 4042
	opusVoice        = 3001 // OPUS_SIGNAL_VOICE
	opusSuperWide    = 1104 // OPUS_BANDWIDTH_SUPERWIDEBAND
)

// opusName is the library of the Opus codec. It is opened at run time, so that the program can
// be compiled for another architecture without that architecture's library.
const opusName = "libopus.so.0"

// opusLibrary has the functions of libopus. A state is memory of Go, of the size that the
// library asks for.
type opusLibrary struct {
	decoderSize func(channels int32) int32
	decoderInit func(state *uint64, rateHz, channels int32) int32
	decode      func(state *uint64, packet *byte, n int32, pcm *float32, samples, fec int32) int32

	encoderSize func(channels int32) int32
	encoderInit func(state *uint64, rateHz, channels, application int32) int32
	encode      func(state *uint64, pcm *float32, samples int32, packet *byte, n int32) int32

	// Both are opus_encoder_ctl, whose arguments are variable: it takes a number or returns one.
	set func(state *uint64, request, value int32) int32
	get func(state *uint64, request int32, value *int32) int32

	errorText func(code int32) string
}

// opus opens the library at its first call.
var opus = sync.OnceValues(func() (*opusLibrary, error) {
	lib, err := clib.Open(opusName)
	if err != nil {
		return nil, errors.New("this machine has no " + opusName + ", the Opus codec: apt-get install libopus0")
	}
	l := &opusLibrary{}
	err = lib.Bind(map[string]any{
		"opus_decoder_get_size": &l.decoderSize,
		"opus_decoder_init":     &l.decoderInit,
		"opus_decode_float":     &l.decode,
		"opus_encoder_get_size": &l.encoderSize,
		"opus_encoder_init":     &l.encoderInit,
		"opus_encode_float":     &l.encode,
		"opus_encoder_ctl":      &l.set,
		"opus_strerror":         &l.errorText,
	})
	return l, errors.Join(err, lib.Bind(map[string]any{"opus_encoder_ctl": &l.get}))
})

// CheckOpus returns an error if the library of the Opus codec, which calls and recordings need,
// is missing or not a supported version.
func CheckOpus() error {
	_, err := opus()
	return err
}

// check returns nil for opusOK, and else an error of what failed.
func (l *opusLibrary) check(rc int32, what string) error {
	if rc >= opusOK {
		return nil
	}
	return fmt.Errorf("opus: %s: %s", what, l.errorText(rc))
}

// opusDecoder decodes the packets of one Opus stream to one or two channels. Its state is in
// Go's memory, so that nothing has to be freed.
type opusDecoder struct {
	lib      *opusLibrary
	rateHz   int
	channels int
	state    []uint64
	pcm      []float32
}

// newOpusDecoder returns a decoder at one of the rates of opusOutHz.
func newOpusDecoder(rateHz, channels int) (*opusDecoder, error) {
	lib, err := opus()
	if err != nil {
		return nil, err
	}
	d := &opusDecoder{
		lib:      lib,
		rateHz:   rateHz,
		channels: channels,
		state:    make([]uint64, (lib.decoderSize(int32(channels))+7)/8),
		pcm:      make([]float32, channels*rateHz*opusMaxPacketMS/1000),
	}
	return d, d.reset()
}

// reset prepares the decoder for another stream.
func (d *opusDecoder) reset() error {
	return d.lib.check(d.lib.decoderInit(&d.state[0], int32(d.rateHz), int32(d.channels)), "start decoder")
}

// opusDuration returns how many samples at rateHz a packet holds (RFC 6716, 3.1 and 3.2).
func opusDuration(packet []byte, rateHz int) (int, error) {
	if len(packet) == 0 {
		return 0, errors.New("opus: empty packet")
	}
	var frame int // samples of one frame
	switch kind := int(packet[0] >> 3); {
	case kind >= 16: // CELT: 2.5, 5, 10 or 20 ms
		frame = rateHz << (kind & 3) / 400
	case kind >= 12: // hybrid: 10 or 20 ms
		frame = rateHz << (kind & 1) / 100
	case kind&3 == 3: // SILK: 10, 20, 40 or 60 ms
		frame = rateHz * 60 / 1000
	default:
		frame = rateHz << (kind & 3) / 100
	}
	frames := 1
	switch packet[0] & 3 {
	case 1, 2:
		frames = 2
	case 3:
		if len(packet) < 2 {
			return 0, errors.New("opus: packet of 1 byte lacks its number of frames")
		}
		frames = int(packet[1] & 63)
	}
	if frames*frame*1000 > opusMaxPacketMS*rateHz {
		return 0, fmt.Errorf("opus: packet of %d bytes has %d frames, more than %d ms", len(packet), frames,
			opusMaxPacketMS)
	}
	return frames * frame, nil
}

// decode returns the samples of a packet with interleaved channels, valid until the next call.
func (d *opusDecoder) decode(packet []byte) ([]float32, error) {
	if len(packet) == 0 {
		return nil, errors.New("opus: empty packet")
	}
	n := d.lib.decode(&d.state[0], &packet[0], int32(len(packet)), &d.pcm[0], int32(len(d.pcm)/d.channels), 0)
	if n < 0 {
		return nil, d.lib.check(n, fmt.Sprintf("packet of %d bytes", len(packet)))
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
	lib      *opusLibrary
	rateHz   int
	channels int
	state    []uint64
	packet   []byte
}

// newOpusEncoder returns an encoder at one of the rates of opusOutHz.
func newOpusEncoder(rateHz, channels, bitsPerSecond int) (*opusEncoder, error) {
	e, err := startOpusEncoder(rateHz, channels, opusApplyCELT)
	if err != nil {
		return nil, err
	}
	if err := e.set(opusBitrate, int32(bitsPerSecond)); err != nil {
		return nil, err
	}
	return e, e.set(opusEffort, opusComplexity)
}

// startOpusEncoder returns an encoder with the library's settings for an application.
func startOpusEncoder(rateHz, channels int, application int32) (*opusEncoder, error) {
	lib, err := opus()
	if err != nil {
		return nil, err
	}
	size := lib.encoderSize(int32(channels))
	if size <= 0 {
		return nil, fmt.Errorf("opus: %d channels; allowed are 1 and 2", channels)
	}
	// 1275 bytes is the longest frame (RFC 6716, 3.4).
	e := &opusEncoder{
		lib:      lib,
		rateHz:   rateHz,
		channels: channels,
		state:    make([]uint64, (size+7)/8),
		packet:   make([]byte, 1275),
	}
	rc := lib.encoderInit(&e.state[0], int32(rateHz), int32(channels), application)
	return e, lib.check(rc, "start encoder")
}

// set changes a setting of the encoder.
func (e *opusEncoder) set(request, value int32) error {
	rc := e.lib.set(&e.state[0], request, value)
	return e.lib.check(rc, fmt.Sprintf("setting %d of the encoder", request))
}

// lookahead returns the delay of the decoded audio, in samples at 48 kHz.
func (e *opusEncoder) lookahead() int {
	var n int32
	e.lib.get(&e.state[0], opusGetDelay, &n) // cannot fail for an initialised encoder
	return int(n) * opusHz / e.rateHz
}

// encode returns the packet for one frame of 20 ms, valid until the next call.
func (e *opusEncoder) encode(frame []float32) ([]byte, error) {
	n := e.lib.encode(&e.state[0], &frame[0], int32(len(frame)/e.channels), &e.packet[0], int32(len(e.packet)))
	if n < 0 {
		return nil, e.lib.check(n, fmt.Sprintf("encode %d samples", len(frame)))
	}
	return e.packet[:n], nil
}
