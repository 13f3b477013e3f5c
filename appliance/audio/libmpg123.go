package audio

import (
	"errors"
	"fmt"
	"unsafe"

	"parley/internal/clib"
)

// mpg123Name is the library that decodes MPEG audio. Its licence is LGPL-2.1. It is loaded at
// run time if the machine has it; all other formats work without it.
const mpg123Name = "libmpg123.so.0"

// Constants of mpg123.h.
const (
	mpg123OK        = 0
	mpg123Error     = -1
	mpg123NeedMore  = -10
	mpg123NewFormat = -11
	mpg123Done      = -12

	mpg123ResyncFailed = 28

	mpg123AddFlags    = 2
	mpg123ResyncLimit = 14
	mpg123IndexSize   = 15
	mpg123BufferFill  = 2 // of mpg123_getstate

	mpg123Quiet          = 0x20
	mpg123Gapless        = 0x40
	mpg123ForceFloat     = 0x400
	mpg123SkipID3        = 0x2000
	mpg123NoFrankenstein = 0x1000000

	mpg123Float32 = 0x200
)

// mpg123 is a libmpg123 decoder of a stream of bytes to samples with interleaved channels. One
// goroutine uses it, for the lifetime of its process.
type mpg123 struct {
	handle uintptr

	feedBytes func(handle uintptr, data *byte, n uintptr) int32
	readBytes func(handle uintptr, out *float32, n uintptr, done *uintptr) int32
	getFormat func(handle uintptr, rateHz *int64, channels, encoding *int32) int32
	getState  func(handle uintptr, which int32, value *int64, float *float64) int32
	errorCode func(handle uintptr) int32
	errorText func(handle uintptr) string
}

// openMPG123 creates a decoder with the library of a name, which skips up to junk bytes between
// frames.
func openMPG123(name string, junk int) (*mpg123, error) {
	m := &mpg123{}
	var begin func() int32
	var create func(decoder *byte, code *int32) uintptr
	var set func(handle uintptr, which int32, value int64, float float64) int32
	var openFeed func(handle uintptr) int32
	err := clib.Load(map[string]any{
		"mpg123_init":      &begin,
		"mpg123_new":       &create,
		"mpg123_param":     &set,
		"mpg123_open_feed": &openFeed,
		"mpg123_feed":      &m.feedBytes,
		"mpg123_read":      &m.readBytes,
		"mpg123_getformat": &m.getFormat,
		"mpg123_getstate":  &m.getState,
		"mpg123_errcode":   &m.errorCode,
		"mpg123_strerror":  &m.errorText,
	}, "this machine has no "+name+", which decodes MP3: apt-get install libmpg123-0, or use WAV, or WebM or Ogg with "+
		"Opus", name)
	if err != nil {
		return nil, err
	}
	if begin() != mpg123OK { // does nothing since 1.27, and may be repeated
		return nil, errors.New(mpg123Name + " cannot be initialised")
	}
	if m.handle = create(nil, nil); m.handle == 0 {
		return nil, errors.New(mpg123Name + " cannot create a decoder")
	}
	const flags = mpg123ForceFloat | mpg123Gapless | mpg123Quiet | mpg123SkipID3 | mpg123NoFrankenstein
	if set(m.handle, mpg123AddFlags, flags, 0) != mpg123OK ||
		set(m.handle, mpg123ResyncLimit, int64(junk), 0) != mpg123OK ||
		set(m.handle, mpg123IndexSize, 0, 0) != mpg123OK || // there is no seeking
		openFeed(m.handle) != mpg123OK {
		return nil, m.fault()
	}
	return m, nil
}

// feed adds bytes of the stream, and does not retain them.
func (m *mpg123) feed(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	rc := m.feedBytes(m.handle, unsafe.SliceData(b), uintptr(len(b)))
	if rc != mpg123OK {
		return m.fault()
	}
	return nil
}

// read fills pcm as far as possible, and returns why it stopped: mpg123OK, NeedMore, NewFormat
// or Done.
func (m *mpg123) read(pcm []float32) (n, why int, err error) {
	var done uintptr
	rc := m.readBytes(m.handle, unsafe.SliceData(pcm), uintptr(len(pcm))*unsafe.Sizeof(pcm[0]), &done)
	n = int(done / unsafe.Sizeof(pcm[0]))
	switch rc {
	case mpg123OK, mpg123NeedMore, mpg123NewFormat, mpg123Done:
		return n, int(rc), nil
	}
	return n, int(rc), m.fault()
}

// format returns the rate of the samples and the number of channels.
func (m *mpg123) format() (hz, channels int, err error) {
	var rateHz int64
	var count, encoding int32
	rc := m.getFormat(m.handle, &rateHz, &count, &encoding)
	switch {
	case rc != mpg123OK:
		return 0, 0, m.fault()
	case count < 1 || count > 2 || encoding != mpg123Float32:
		return 0, 0, fmt.Errorf("%s gives %d channels in encoding %#x, not one or two of 32-bit floats", mpg123Name,
			count, encoding)
	}
	return int(rateHz), int(count), nil
}

// held returns how many bytes wait for more.
func (m *mpg123) held() int {
	var n int64
	m.getState(m.handle, mpg123BufferFill, &n, nil)
	return int(n)
}

var errNoFrames = fmt.Errorf("no frame within %d bytes", mp3MaxJunk)

// fault returns the library's error of the last call.
func (m *mpg123) fault() error {
	code, text := m.errorCode(m.handle), m.errorText(m.handle)
	if code == mpg123ResyncFailed {
		return errNoFrames
	}
	return fmt.Errorf("damaged: %s", text)
}
