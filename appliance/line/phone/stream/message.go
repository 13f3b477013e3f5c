package stream

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// received is a message of the provider. Numbers come as strings; some clients send them as numbers.
type received struct {
	Event          string         `json:"event"`
	SequenceNumber sequenceNumber `json:"sequenceNumber"`
	StreamSID      string         `json:"streamSid"`
	Start          struct {
		StreamSID        string         `json:"streamSid"`
		CallSID          string         `json:"callSid"`
		CustomParameters map[string]any `json:"customParameters"`
		MediaFormat      *mediaFormat   `json:"mediaFormat"`
	} `json:"start"`
	Media media `json:"media"`
	Mark  struct {
		Name string `json:"name"`
	} `json:"mark"`
	DTMF struct {
		Digit string `json:"digit"`
	} `json:"dtmf"`
}

type mediaFormat struct {
	Encoding   string         `json:"encoding"`
	SampleRate sequenceNumber `json:"sampleRate"`
	Channels   sequenceNumber `json:"channels"`
}

// check returns an error for another format than the one of the protocol.
func (f *mediaFormat) check() error {
	if f == nil {
		return nil // old clients leave it out
	}
	if !strings.EqualFold(f.Encoding, "audio/x-mulaw") || f.SampleRate.n != 8000 || f.Channels.n != 1 {
		return fmt.Errorf("start.mediaFormat: %.40q, %d Hz, %d channels; allowed is audio/x-mulaw, 8000 Hz, 1 channel",
			f.Encoding, f.SampleRate.n, f.Channels.n)
	}
	return nil
}

// media is a piece of the caller's sound.
type media struct {
	Track     string         `json:"track"`
	Chunk     sequenceNumber `json:"chunk"`
	Timestamp sequenceNumber `json:"timestamp"` // milliseconds since the start of the stream
	Payload   string         `json:"payload"`   // µ-law at 8 kHz in base64
}

// isInbound reports whether the piece is the caller's sound, and not what the caller hears.
func (m media) isInbound() bool { return m.Track == "" || strings.HasPrefix(m.Track, "inbound") }

// sound returns the µ-law of the piece.
func (m media) sound() ([]byte, error) {
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(m.Payload, "="))
	if err != nil {
		return nil, fmt.Errorf("media.payload is not base64: %w", err)
	}
	return b, nil
}

// sequenceNumber is a number that comes as a string or as a number. Anything else counts as missing.
type sequenceNumber struct {
	n     int64
	given bool
}

// UnmarshalJSON implements json.Unmarshaler. It never fails.
func (s *sequenceNumber) UnmarshalJSON(text []byte) error {
	n, err := strconv.ParseFloat(string(bytes.Trim(text, `"`)), 64)
	const most = 1 << 42 // milliseconds that a time.Duration holds
	if err == nil && n >= 0 && n < most {
		*s = sequenceNumber{n: int64(n), given: true}
	}
	return nil
}

var errNotJSON = errors.New(`a message is not a JSON object such as {"event":"media","media":{"payload":"…"}}`)

func parse(message []byte) (m received, err error) {
	err = json.Unmarshal(message, &m)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return received{}, fmt.Errorf("%s is of the wrong type: %s", wrong.Field, wrong.Value)
	}
	if err != nil {
		return received{}, errNotJSON
	}
	if m.Event == "" {
		return received{}, errNotJSON
	}
	return m, nil
}

// sent is a message to the provider.
type sent struct {
	Event     string     `json:"event"` // "media", "mark" or "clear"
	StreamSID string     `json:"streamSid"`
	Media     *sentMedia `json:"media,omitempty"`
	Mark      *sentMark  `json:"mark,omitempty"`
}

type sentMedia struct {
	Payload []byte `json:"payload"` // base64 on the wire
}

type sentMark struct {
	Name string `json:"name"`
}
