package audio

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// avcodecNames are the versions of ffmpeg's library that are known, the newest
// first: FFmpeg 8 to 4. It is opened when AAC comes, so that a box runs without
// it.
func avcodecNames() []string {
	return []string{"libavcodec.so.62", "libavcodec.so.61", "libavcodec.so.60", "libavcodec.so.59", "libavcodec.so.58"}
}

// Figures of libavcodec and libavutil.
const (
	avQuiet       = -8
	avAudio       = 1 // AVMEDIA_TYPE_AUDIO
	avCodecAAC    = 0x15002
	avCodecVorbis = 0x15005
	avPadding     = 64 // zero bytes that its readers want behind what they read
	avFloats      = 3  // AV_SAMPLE_FMT_FLT
	avFloatPlane  = 8  // AV_SAMPLE_FMT_FLTP
)

// Of the library's structures, these are the first members, which all of its
// versions above have in the same places; where they are longer, the library
// makes them itself.
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

// avcodec is a decoder of AAC or Vorbis by libavcodec, which is given frames and gives mono
// samples. One goroutine uses it. Its memory is freed by free, or with it.
type avcodec struct {
	context uintptr
	packet  *avPacket
	frame   *avFrame
	free    func() // gives the memory back; nothing else is called after it

	newPacket  func(p *avPacket, size int32) int32
	unref      func(p *avPacket)
	send       func(context uintptr, p *avPacket) int32
	receive    func(context uintptr, f *avFrame) int32
	readOption func(object uintptr, name string, flags int32, value *int64) int32
}

// avcodecCalls are those that are used while a decoder is made and freed.
type avcodecCalls struct {
	logLevel       func(level int32)
	find           func(id int32) uintptr
	newContext     func(codec uintptr) uintptr
	freeContext    func(context *uintptr)
	newParameters  func() *avParameters
	freeParameters func(p **avParameters)
	alloc          func(size uintptr) *byte
	apply          func(context uintptr, p *avParameters) int32
	open           func(context, codec, options uintptr) int32
	allocPacket    func() *avPacket
	freePacket     func(p **avPacket)
	allocFrame     func() *avFrame
	freeFrame      func(f **avFrame)
}

// openAVCodec makes a decoder of a codec with the first of the libraries that is
// there. The config of AAC is an AudioSpecificConfig (ISO 14496-3, 1.6.2.1); without
// one the frames have ADTS headers. That of Vorbis are its three headers, laced as in
// Matroska.
func openAVCodec(names []string, id int32, config []byte) (*avcodec, error) {
	a := &avcodec{}
	var c avcodecCalls
	if err := a.load(names, &c); err != nil {
		return nil, err
	}
	c.logLevel(avQuiet) // what is damaged is told by us
	codec := c.find(id)
	if codec == 0 {
		return nil, errors.New("the libavcodec of this machine was built without this codec: install Debian's")
	}
	a.context, a.packet, a.frame = c.newContext(codec), c.allocPacket(), c.allocFrame()
	context, packet, frame := a.context, a.packet, a.frame
	destroy := func() {
		c.freeContext(&context)
		c.freePacket(&packet)
		c.freeFrame(&frame)
	}
	cleanup := runtime.AddCleanup(a, func(destroy func()) { destroy() }, destroy)
	a.free = sync.OnceFunc(func() { cleanup.Stop(); destroy() })
	if context == 0 || packet == nil || frame == nil {
		return nil, errors.Join(errors.New("libavcodec makes no decoder"), a.abandon())
	}
	if err := c.configure(context, id, config); err != nil {
		return nil, errors.Join(err, a.abandon())
	}
	if c.open(context, codec, 0) < 0 {
		return nil, errors.Join(fmt.Errorf("its configuration % x is none that is known", config[:min(8, len(config))]), a.abandon())
	}
	return a, nil
}

func (a *avcodec) abandon() error {
	a.free()
	return nil
}

// errNoAVCodec says what is missing on a machine without the library.
var errNoAVCodec = errors.New("this machine has no libavcodec, which decodes AAC and Vorbis: apt-get install ffmpeg, or send WebM or Ogg with Opus, WAV or MP3")

// load opens a library and finds its calls.
func (a *avcodec) load(names []string, c *avcodecCalls) error {
	var lib uintptr
	for _, name := range names {
		var err error
		if lib, err = purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL); err == nil {
			break
		}
	}
	if lib == 0 {
		return errNoAVCodec
	}
	for call, fn := range map[string]any{
		"av_log_set_level":              &c.logLevel,
		"avcodec_find_decoder":          &c.find,
		"avcodec_alloc_context3":        &c.newContext,
		"avcodec_free_context":          &c.freeContext,
		"avcodec_parameters_alloc":      &c.newParameters,
		"avcodec_parameters_free":       &c.freeParameters,
		"av_mallocz":                    &c.alloc,
		"avcodec_parameters_to_context": &c.apply,
		"avcodec_open2":                 &c.open,
		"av_packet_alloc":               &c.allocPacket,
		"av_packet_free":                &c.freePacket,
		"av_frame_alloc":                &c.allocFrame,
		"av_frame_free":                 &c.freeFrame,
		"av_new_packet":                 &a.newPacket,
		"av_packet_unref":               &a.unref,
		"avcodec_send_packet":           &a.send,
		"avcodec_receive_frame":         &a.receive,
		"av_opt_get_int":                &a.readOption,
	} {
		symbol, err := purego.Dlsym(lib, call) // those of libavutil too, which it needs
		if err != nil {
			return fmt.Errorf("libavcodec is another version than is known: %w", err)
		}
		purego.RegisterFunc(fn, symbol)
	}
	return nil
}

// configure gives the decoder its configuration. The library frees what it
// is in, so it has to come from the library.
func (c *avcodecCalls) configure(context uintptr, codec int32, config []byte) error {
	p := c.newParameters()
	if p == nil {
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
		return errors.New("libavcodec does not take the track's configuration")
	}
	return nil
}

// decode appends the samples of a frame, the mean of its channels; their rate may
// be another from then on. ok is false when the frame is damaged.
func (a *avcodec) decode(out []float32, frame []byte) (pcm []float32, ok bool) {
	defer runtime.KeepAlive(a)
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

// mix appends the mean of the frame's channels, which lie in planes.
func (a *avcodec) mix(out []float32) []float32 {
	n := int(a.frame.samples)
	if a.frame.format != avFloatPlane || n <= 0 {
		return out
	}
	begin, channels := len(out), 0
	out = append(out, make([]float32, n)...)
	for _, plane := range a.frame.data {
		if plane == nil {
			break
		}
		channels++
		for i, v := range unsafe.Slice(plane, n) {
			out[begin+i] += v
		}
	}
	for i := range out[begin:] {
		out[begin+i] = bounded(out[begin+i] / float32(max(1, channels)))
	}
	return out
}

// rate is that of the samples last decoded.
func (a *avcodec) rate() int {
	var hz int64
	a.readOption(a.context, "ar", 0, &hz)
	runtime.KeepAlive(a)
	return int(hz)
}
