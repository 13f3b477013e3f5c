package audio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// NewContainer returns a Decoder that detects the format by the first bytes: WebM, Matroska or
// Ogg with Opus or Vorbis, MP4 with AAC or Opus, AAC with ADTS headers, WAV, or MP3. It returns
// samples as soon as a block, page or frame is complete. An invalid outHz is its first error.
func NewContainer(outHz int) Decoder {
	d := newDecoder(&container{}, outHz)
	d.err = checkOut(outHz)
	return d
}

// Sniff returns the name of the format that data begins with: "webm", "ogg", "mp4", "aac",
// "wav" and "mp3", which are supported, "flac" and other names for unsupported formats, and ""
// if unknown.
func Sniff(data []byte) string {
	f, _ := sniff(data)
	return f.name
}

// DecodeAll decodes a whole file in any format of NewContainer, or FLAC, also in Ogg. A file
// without sound gives no samples and no error. The error for a known, unsupported format is an
// *ErrFormat.
func DecodeAll(data []byte, outHz int) ([]float32, error) { return decodeAtMost(data, outHz, maxFile) }

// DecodeUpTo is DecodeAll with a limit on the length of the sound; exceeding it is an
// *ErrTooLong, as soon as it is found.
func DecodeUpTo(data []byte, outHz int, longest time.Duration) ([]float32, error) {
	return decodeAtMost(data, outHz, Samples(longest, outHz))
}

// decodeAtMost decodes a file of at most limit samples.
func decodeAtMost(data []byte, outHz, limit int) (out []float32, err error) {
	return out, decodeWhole(data, outHz, func(pcm []float32) error {
		if out = append(out, pcm...); len(out) > limit {
			return tooLong(limit, outHz)
		}
		return nil
	})
}

// decodeWhole decodes a file that is in memory, and calls emit with the samples.
func decodeWhole(data []byte, outHz int, emit func(pcm []float32) error) error {
	if len(data) == 0 {
		return errors.New("audio: the file is empty")
	}
	d := NewContainer(outHz)
	switch Sniff(data) {
	case "flac":
		return decodeFLAC(bytes.NewReader(data), outHz, emit)
	case "ogg":
		if file, err := flacInOgg(data); err != nil || file != nil {
			if err != nil {
				return err
			}
			return decodeFLAC(bytes.NewReader(file), outHz, emit)
		}
	case "mp4":
		if late, err := readLateIndex(data); err != nil {
			return err
		} else if late != nil {
			d = newDecoder(late, outHz)
			if err := checkOut(outHz); err != nil {
				return err
			}
		}
	}
	return decodePieces(bytes.NewReader(data), d, emit)
}

// decodePieces decodes a file in pieces, so that each stays under MaxDecode.
func decodePieces(in io.Reader, d Decoder, emit func(pcm []float32) error) error {
	defer d.Close()
	piece := make([]byte, 1<<15)
	for {
		n, err := io.ReadFull(in, piece)
		over := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !over {
			return err
		}
		pcm, err := d.Decode(piece[:n])
		if err == nil {
			err = emit(pcm)
		}
		if err != nil {
			return err
		}
		if over {
			break
		}
	}
	pcm, err := d.Flush()
	return errors.Join(err, emit(pcm))
}

func tooLong(samples, rateHz int) error {
	return &ErrTooLong{time.Duration(samples) * time.Second / time.Duration(rateHz)}
}

// container detects the format and then passes the stream to its parser.
type container struct {
	head   []byte
	parser parser
}

func (c *container) feed(p []byte, to *sink) error {
	if c.parser != nil {
		return c.parser.feed(p, to)
	}
	n := min(len(p), sniffLen-len(c.head))
	c.head = append(c.head, p[:n]...)
	f, more := sniff(c.head)
	if more {
		return nil
	}
	if f.parser == nil {
		return unknownFormat(f, c.head)
	}
	c.parser = f.parser()
	if err := c.parser.feed(c.head, to); err != nil {
		return err
	}
	return c.parser.feed(p[n:], to)
}

func (c *container) free() {
	if c.parser != nil {
		c.parser.free()
	}
}

func (c *container) end(to *sink) error {
	switch {
	case c.parser != nil:
		return c.parser.end(to)
	case len(c.head) > 0:
		return fmt.Errorf("audio: the stream ends after %d bytes, too early to detect its format", len(c.head))
	}
	return nil
}

// format is a format and the bytes that it begins with.
type format struct {
	at     int
	magic  string
	name   string
	what   string // for people
	parser func() parser
}

// sniffLen is how many bytes are needed to detect a format.
const sniffLen = 12

var formats = [...]format{
	{0, "\x1a\x45\xdf\xa3", "webm", "WebM", func() parser { return &webmParser{} }},
	{0, "OggS", "ogg", "Ogg", func() parser { return &oggParser{} }},
	{0, "RIFF", "wav", "WAV", func() parser { return newWAVParser() }},
	{0, "RF64", "wav", "WAV", func() parser { return newWAVParser() }},
	{0, "RIFX", "wav", "WAV", func() parser { return newWAVParser() }},
	{0, "ID3", "mp3", "MP3", func() parser { return &mp3Parser{} }},
	{4, "ftyp", "mp4", "MP4", newMP4Parser},
	{4, "styp", "mp4", "MP4", newMP4Parser},
	{4, "moov", "mp4", "MP4", newMP4Parser},
	{4, "moof", "mp4", "MP4", newMP4Parser},
	{4, "mdat", "mp4", "MP4", newMP4Parser},
	{4, "wide", "mp4", "MP4", newMP4Parser},
	{4, "free", "mp4", "MP4", newMP4Parser},
	{4, "skip", "mp4", "MP4", newMP4Parser},
	{0, "fLaC", "flac", "FLAC", nil},
	{0, "FORM", "aiff", "AIFF", nil},
	{0, "caff", "caf", "Core Audio Format", nil},
	{0, "#!AMR", "amr", "AMR", nil},
	{0, ".snd", "au", "Sun AU", nil},
	{0, "wvpk", "wavpack", "WavPack", nil},
	{0, "MAC ", "ape", "Monkey's Audio", nil},
	{0, "\x30\x26\xb2\x75", "wma", "Windows Media", nil},
	{0, "ADIF", "aac", "AAC", nil},
	{0, "FLV\x01", "flv", "Flash video", nil},
	{0, "\x00\x00\x01\xba", "mpg", "MPEG video", nil},
	{0, "MThd", "midi", "MIDI, which holds notes and no sound", nil},
	{0, "%PDF", "pdf", "PDF", nil},
	{0, "PK\x03\x04", "zip", "ZIP", nil},
	{0, "\x89PNG", "png", "PNG", nil},
	{0, "{\"", "json", "JSON", nil},
	{0, "{ \"", "json", "JSON", nil},
	{0, "{\n", "json", "JSON", nil},
}

// sniff returns the format that b begins with, empty if unknown, and whether more bytes are
// needed.
func sniff(b []byte) (f format, more bool) {
	for _, f := range formats {
		have := b[min(f.at, len(b)):min(f.at+len(f.magic), len(b))]
		switch {
		case len(have) == len(f.magic) && string(have) == f.magic:
			return f, false
		case strings.HasPrefix(f.magic, string(have)) && len(have) < len(f.magic):
			more = true
		}
	}
	if len(b) < 4 {
		return format{}, true
	}
	if f, ok := sniffMPEG(b); ok {
		return f, false
	}
	return format{}, more
}

// sniffMPEG detects streams that begin with a frame of MPEG audio. AAC has the same sync word,
// and layer 0, which MPEG audio does not use.
func sniffMPEG(b []byte) (format, bool) {
	if b[0] == 0xff && b[1]&0xf6 == 0xf0 {
		return format{name: "aac", what: "AAC (ADTS)", parser: func() parser { return &adtsParser{} }}, true
	}
	const free = 0 // a bitrate that the header does not give
	layer, version, bitrate, rate := 4-b[1]>>1&3, b[1]>>3&3, b[2]>>4, b[2]>>2&3
	if b[0] != 0xff || b[1]&0xe0 != 0xe0 || version == 1 || layer == 4 || bitrate == free || bitrate == 15 ||
		rate == 3 || b[3]&3 == 2 {
		return format{}, false
	}
	f := format{name: "mp3", what: "MP3", parser: func() parser { return &mp3Parser{} }}
	if layer != 3 {
		f.name, f.what = "mpeg", fmt.Sprintf("MPEG audio layer %d", layer)
	}
	return f, true
}

// ErrFormat is the error of Decode and DecodeAll for an unsupported format.
type ErrFormat struct {
	Name string // as returned by Sniff; empty: unknown
	What string // for people
	Head []byte // its first bytes
}

// Error says what the stream is and which formats are supported.
func (e *ErrFormat) Error() string {
	const instead = "send WebM, Matroska or Ogg with Opus or Vorbis, MP4 with AAC or Opus, WAV or MP3, or headerless " +
		"16-bit PCM that is declared as linear16 with its sample_rate and channels"
	switch e.Name {
	case "json":
		return "audio: this is JSON: messages go in text frames, and sound alone in binary ones and in audio_input"
	case "":
		return fmt.Sprintf("audio: the stream begins with % x, which is no known format: %s", e.Head, instead)
	}
	return fmt.Sprintf("audio: this is %s, which is not supported: %s", e.What, instead)
}

func unknownFormat(f format, head []byte) error {
	return &ErrFormat{f.name, f.what, head[:min(len(head), 8)]}
}
