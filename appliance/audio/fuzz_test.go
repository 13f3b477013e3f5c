package audio

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// checksums corrects the checksums of the pages in b, which the fuzzer cannot guess.
func checksums(b []byte) []byte {
	b = append([]byte(nil), b...)
	for at := 0; at+oggHeadLen <= len(b) && string(b[at:at+4]) == "OggS"; {
		end := at + oggHeadLen + int(b[at+26])
		if end > len(b) {
			break
		}
		for _, s := range b[at+oggHeadLen : end] {
			end += int(s)
		}
		if end > len(b) {
			break
		}
		binary.LittleEndian.PutUint32(b[at+22:], oggCRC(b[at:end]))
		at = end
	}
	return b
}

func FuzzContainer(f *testing.F) {
	seeds, err := filepath.Glob("testdata/streams/*")
	if err != nil || len(seeds) == 0 {
		f.Fatal("no seeds in testdata/streams")
	}
	for _, seed := range seeds {
		data, err := os.ReadFile(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, uint16(7))
	}
	f.Add([]byte("ID3\x04\x00\x00\x00\x00\x00\x01\x00\xff\xfb\x90\x00"), uint16(1))
	f.Fuzz(func(t *testing.T, data []byte, cut uint16) {
		data = checksums(data)
		whole, wholeErr := decodeCut(data, 16000, func(rest int) int { return rest })
		pieces, piecesErr := decodeCut(data, 16000, func(rest int) int { return min(rest, int(cut)+1) })
		if (wholeErr == nil) != (piecesErr == nil) || len(whole) != len(pieces) {
			t.Fatalf("cut in %d: %d samples, %v; whole: %d samples, %v", cut+1, len(pieces), piecesErr, len(whole),
				wholeErr)
		}
		for i, v := range whole {
			if math.IsNaN(float64(v)) || v > 8 || v < -8 || v != pieces[i] {
				t.Fatalf("sample %d is %v, and %v in pieces", i, v, pieces[i])
			}
		}
	})
}

func FuzzLinear16(f *testing.F) {
	f.Add([]byte{1, 2, 3}, 16000, 1, uint16(1))
	f.Fuzz(func(t *testing.T, data []byte, hz, channels int, cut uint16) {
		d, err := NewLinear16(hz, channels, 16000)
		if err != nil {
			return
		}
		for len(data) > 0 {
			n := min(len(data), int(cut)+1)
			if _, err := d.Decode(data[:n]); err != nil {
				t.Fatal(err)
			}
			data = data[n:]
		}
		_, _ = d.Flush()
	})
}
