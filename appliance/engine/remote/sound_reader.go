package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"

	"parley/appliance/audio"
)

// soundReader reads the sound of a response as it comes, as samples at VoiceRateHz.
type soundReader struct {
	body    io.Reader
	decoder audio.Decoder
	buffer  []byte
}

// errNotSound reports a response with something else; it names what.
type errNotSound struct{ kind string }

func (e errNotSound) Error() string { return "it is " + e.kind }

// The types of sound without a header, 16 bits little-endian, one channel, as servers name them; and of
// WAV.
var (
	pcmTypes = []string{"", "audio/pcm", "audio/x-pcm", "audio/raw", "audio/l16", "audio/basic",
		"application/octet-stream", "binary/octet-stream"}
	wavTypes = []string{"audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave"}
)

// readBytes is how much is read at once, a tenth of a second: more would delay the first sound.
const readBytes = VoiceRateHz / 10 * 2

// newSoundReader begins to read a response. rateHz is the rate of samples of which the response does
// not name it. The error is an errNotSound, or one of the body.
func newSoundReader(r *http.Response, rateHz int) (*soundReader, error) {
	kind, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		kind = ""
	}
	if !slices.Contains(pcmTypes, kind) && !slices.Contains(wavTypes, kind) {
		return nil, errNotSound{kind}
	}
	for _, name := range []string{"rate", "sample_rate"} {
		if hz, err := strconv.Atoi(parameters[name]); err == nil {
			rateHz = hz
		}
	}
	begin := make([]byte, 16)
	n, err := io.ReadFull(r.Body, begin)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	begin = begin[:n]
	s := &soundReader{body: io.MultiReader(bytes.NewReader(begin), r.Body), buffer: make([]byte, readBytes)}
	if n < cap(begin) { // so short a body was cut off, or is complete
		s.body = io.MultiReader(bytes.NewReader(begin), failing{err})
	}
	switch {
	case bytes.HasPrefix(begin, []byte("RIFF")):
		s.decoder = audio.NewContainer(VoiceRateHz)
	case looksLikeText(begin):
		return nil, errNotSound{"text, as " + kind}
	case slices.Contains(wavTypes, kind) && n > 0:
		return nil, errNotSound{"no WAV, as " + kind}
	default:
		if s.decoder, err = audio.NewLinear16(rateHz, 1, VoiceRateHz); err != nil {
			return nil, errNotSound{fmt.Sprintf("sound at %d Hz", rateHz)}
		}
	}
	return s, nil
}

// failing is a reader that only has an error, or the end.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if errors.Is(f.err, io.ErrUnexpectedEOF) || f.err == nil { // of io.ReadFull, which calls a short body that
		return 0, io.EOF
	}
	return 0, f.err
}

// looksLikeText reports whether bytes begin a JSON object or a page. Samples that do so are a few in a
// milliard.
func looksLikeText(b []byte) bool {
	if len(b) < 2 || b[0] != '{' && b[0] != '<' {
		return false
	}
	return !slices.ContainsFunc(b, func(c byte) bool {
		return (c < ' ' || c > '~') && c != '\n' && c != '\r' && c != '\t'
	})
}

// next returns the next samples, at most a tenth of a second. At the end of the sound it returns the
// last ones and io.EOF.
func (s *soundReader) next() ([]float32, error) {
	n, err := s.body.Read(s.buffer)
	pcm, failed := s.decoder.Decode(s.buffer[:n])
	if failed != nil {
		return pcm, errNotSound{failed.Error()}
	}
	if !errors.Is(err, io.EOF) {
		return pcm, err
	}
	rest, failed := s.decoder.Flush()
	if failed != nil && len(pcm)+len(rest) == 0 {
		return nil, errNotSound{failed.Error()}
	}
	return append(pcm, rest...), io.EOF
}

func (s *soundReader) close() { s.decoder.Close() }
