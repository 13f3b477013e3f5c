package audio

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"parley/internal/clib"
)

// avcodecNames returns the supported versions of FFmpeg's library, the newest first: FFmpeg 8
// to 4. It is loaded when it is first needed, so that a box runs without it.
func avcodecNames() []string {
	return []string{"libavcodec.so.62", "libavcodec.so.61", "libavcodec.so.60", "libavcodec.so.59", "libavcodec.so.58"}
}

// Constants of libavcodec and libavutil.
const (
	avQuiet       = -8
	avAudio       = 1 // AVMEDIA_TYPE_AUDIO
	avCodecAAC    = 0x15002
	avCodecVorbis = 0x15005
	avPadding     = 64 // zero bytes that its parsers need after their input
	avFloats      = 3  // AV_SAMPLE_FMT_FLT
	avFloatPlane  = 8  // AV_SAMPLE_FMT_FLTP
)

// These are the first members of the library's structures, at the same offsets in all versions
// above; the library allocates the structures itself.
type (
	avPacket struct {
		_    uintptr  // buf
		_    [2]int64 // pts, dts
		data *byte
		_    int32 // size
	}
	avFrame struct {
		data    [8]*float32
		_       [8]int32 // linesize
		_       uintptr  // extended_data
		_       [2]int32 // width, height
		samples int32
		format  int32
	}
	avParameters struct {
		kind, codec int32
		_           uint32 // tag
		extra       *byte
		extraSize   int32
	}
)

// avcodec is a libavcodec decoder of AAC or Vorbis that decodes frames to mono samples. One
// goroutine uses it.
type avcodec struct {
	*avcodecCalls
	context uintptr
	packet  *avPacket
	frame   *avFrame
	frames  []float32 // of one avFrame, its channels interleaved
	down    *Downmix
}

// avcodecCalls is the loaded libavcodec.
type avcodecCalls struct {
	logLevel       func(level int32)
	find           func(id int32) uintptr
	newContext     func(codec uintptr) uintptr
	freeContext    func(context *uintptr)
	newParameters  func() *avParameters
	freeParameters func(p **avParameters)
	alloc          func(size uintptr) *byte
	apply          func(context uintptr, p *avParameters) int32
	start          func(context, codec, options uintptr) int32
	allocPacket    func() *avPacket
	freePacket     func(p **avPacket)
	allocFrame     func() *avFrame
	freeFrame      func(f **avFrame)
	newPacket      func(p *avPacket, size int32) int32
	unref          func(p *avPacket)
	send           func(context uintptr, p *avPacket) int32
	receive        func(context uintptr, f *avFrame) int32
	readOption     func(object uintptr, name string, flags int32, value *int64) int32
}

// open creates a decoder. The config of AAC is an AudioSpecificConfig (ISO 14496-3, 1.6.2.1),
// or empty for frames with ADTS headers; that of Vorbis is its three headers, laced as in
// Matroska.
func (c *avcodecCalls) open(id int32, config []byte) (*avcodec, error) {
	codec := c.find(id)
	if codec == 0 {
		return nil, errors.New("the libavcodec of this machine was built without this codec: install Debian's")
	}
	a := &avcodec{
		avcodecCalls: c,
		context:      c.newContext(codec),
		packet:       c.allocPacket(),
		frame:        c.allocFrame(),
	}
	err := c.configure(a.context, id, config)
	switch {
	case a.context == 0 || a.packet == nil || a.frame == nil:
		err = errors.New("libavcodec cannot create a decoder")
	case err == nil && c.start(a.context, codec, 0) < 0:
		err = fmt.Errorf("its configuration % x is unknown", config[:min(8, len(config))])
	}
	if err != nil {
		a.free()
		return nil, err
	}
	return a, nil
}

// free frees the decoder. Nothing else may be called afterwards.
func (a *avcodec) free() {
	a.freeContext(&a.context)
	a.freePacket(&a.packet)
	a.freeFrame(&a.frame)
}

// loadAVCodec loads the first available library and finds its functions.
func loadAVCodec(names []string) (*avcodecCalls, error) {
	c := &avcodecCalls{}
	err := clib.Load(map[string]any{ // also those of libavutil, on which it depends
		"av_log_set_level":              &c.logLevel,
		"avcodec_find_decoder":          &c.find,
		"avcodec_alloc_context3":        &c.newContext,
		"avcodec_free_context":          &c.freeContext,
		"avcodec_parameters_alloc":      &c.newParameters,
		"avcodec_parameters_free":       &c.freeParameters,
		"av_mallocz":                    &c.alloc,
		"avcodec_parameters_to_context": &c.apply,
		"avcodec_open2":                 &c.start,
		"av_packet_alloc":               &c.allocPacket,
		"av_packet_free":                &c.freePacket,
		"av_frame_alloc":                &c.allocFrame,
		"av_frame_free":                 &c.freeFrame,
		"av_new_packet":                 &c.newPacket,
		"av_packet_unref":               &c.unref,
		"avcodec_send_packet":           &c.send,
		"avcodec_receive_frame":         &c.receive,
		"av_opt_get_int":                &c.readOption,
	},
		"this machine has no libavcodec, which decodes AAC and Vorbis: apt-get install ffmpeg, or send WebM or Ogg "+
			"with Opus, WAV or MP3", names...)
	if err != nil {
		return nil, err
	}
	c.logLevel(avQuiet) // damage is reported by the caller
	return c, nil
}

// configure sets the configuration of the decoder. The library frees its memory, so the library
// must allocate it.
func (c *avcodecCalls) configure(context uintptr, codec int32, config []byte) error {
	p := c.newParameters()
	if p == nil || context == 0 {
		return errors.New("libavcodec is out of memory")
	}
	defer c.freeParameters(&p)
	p.kind, p.codec = avAudio, codec
	if len(config) > 0 {
		if p.extra = c.alloc(uintptr(len(config) + avPadding)); p.extra == nil {
			return errors.New("libavcodec is out of memory")
		}
		copy(unsafe.Slice(p.extra, len(config)), config)
		p.extraSize = int32(len(config))
	}
	if c.apply(context, p) < 0 {
		return errors.New("libavcodec does not support the track's configuration")
	}
	return nil
}

// decode appends the samples of a frame, mixed down; their rate may change from one frame to
// the next. ok is false if the frame is damaged.
func (a *avcodec) decode(out []float32, frame []byte) (pcm []float32, ok bool) {
	if a.newPacket(a.packet, int32(len(frame))) < 0 {
		return out, false
	}
	copy(unsafe.Slice(a.packet.data, len(frame)), frame)
	sent := a.send(a.context, a.packet)
	a.unref(a.packet)
	if sent < 0 {
		return out, false
	}
	for a.receive(a.context, a.frame) >= 0 {
		out, ok = a.mix(out), true
	}
	return out, ok
}

// mix appends the frame's sound, from interleaved or planar channels.
func (a *avcodec) mix(out []float32) []float32 {
	n := int(a.frame.samples)
	if a.frame.format != avFloatPlane || n <= 0 {
		return out
	}
	channels := 0
	for channels < len(a.frame.data) && a.frame.data[channels] != nil {
		channels++
	}
	if channels == 0 {
		return out
	}
	a.frames = slices.Grow(a.frames[:0], n*channels)[:n*channels]
	for c, plane := range a.frame.data[:channels] {
		for i, v := range unsafe.Slice(plane, n) {
			a.frames[i*channels+c] = bounded(v)
		}
	}
	if a.down == nil || a.down.channels != channels {
		a.down = NewDownmix(channels, max(a.rate(), MinInputHz))
	}
	return a.down.Mix(out, a.frames)
}

// rate returns the rate of the samples last decoded.
func (a *avcodec) rate() int {
	var hz int64
	a.readOption(a.context, "ar", 0, &hz)
	return int(hz)
}
