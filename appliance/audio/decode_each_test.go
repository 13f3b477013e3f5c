package audio

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestDecodingInPiecesGivesTheSameSoundAsAtOnce(t *testing.T) {
	seeds, err := filepath.Glob("testdata/streams/*")
	if err != nil || len(seeds) == 0 {
		t.Fatal("no files in testdata/streams", err)
	}
	for _, seed := range seeds {
		data, err := os.ReadFile(seed)
		if err != nil {
			t.Fatal(err)
		}
		whole, wrong := DecodeUpTo(data, 16000, time.Minute)
		var pieces []float32
		err = DecodeEach(bytes.NewReader(data), 16000, time.Minute, func(pcm []float32) error {
			pieces = append(pieces, pcm...)
			return nil
		})
		if (err == nil) != (wrong == nil) || err == nil && !slices.Equal(whole, pieces) {
			t.Errorf("%s: %d samples, %v; at once %d, %v", seed, len(pieces), err, len(whole), wrong)
		}
	}
}

// Its sound comes in pieces of a second at most, up to the limit.
func TestALongWAVIsDecodedWithoutHoldingIt(t *testing.T) {
	var head bytes.Buffer
	w, err := NewWAVWriter(&head, 48000, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(make([]float32, 480)), w.Close()); err != nil {
		t.Fatal(err)
	}
	long := io.MultiReader(&head, io.LimitReader(silence{}, 48000*2*3600))
	longest := 0
	err = DecodeEach(long, 24000, time.Minute, func(pcm []float32) error {
		longest = max(longest, len(pcm))
		return nil
	})
	if _, tooLong := errors.AsType[*ErrTooLong](err); !tooLong || longest == 0 || longest > 24000 {
		t.Errorf("%v; at most %d samples at a time", err, longest)
	}
}

// silence is an endless file of zeros.
type silence struct{}

func (silence) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
