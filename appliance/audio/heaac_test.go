package audio

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// explicitly is an MP4 file with its index last, whose configuration announces more than AAC-LC
// of 24 kHz (ISO 14496-3, 1.6.5.3).
func explicitly(t *testing.T, data, config []byte) []byte {
	t.Helper()
	plain := []byte{0x05, 0x80, 0x80, 0x80, 2, 0x13, 0x08}
	at := bytes.Index(data, plain)
	if at < 0 || bytes.Count(data, plain) != 1 {
		t.Fatal("the configuration of AAC-LC is not there, or twice")
	}
	more := len(config) - 2
	out := append(bytes.Clone(data[:at+4]), byte(len(config)))
	out = append(append(out, config...), data[at+len(plain):]...)
	for _, kind := range []string{"moov", "trak", "mdia", "minf", "stbl", "stsd", "mp4a", "esds"} {
		b := out[findBox(t, out, kind):]
		binary.BigEndian.PutUint32(b, binary.BigEndian.Uint32(b)+uint32(more))
	}
	esds := out[findBox(t, out, "esds"):]
	for _, tag := range [][]byte{{0x03, 0x80, 0x80, 0x80}, {0x04, 0x80, 0x80, 0x80}} {
		esds[bytes.Index(esds, tag)+len(tag)] += byte(more)
	}
	return out
}

// hiss returns the share of a sound above 12 kHz, the limit of the frames themselves: only SBR
// can make it.
func hiss(pcm []float32, rateHz int) float64 {
	const bands = 64
	low, high := 0.0, 0.0
	for at := 0; at+2*bands <= len(pcm); at += 8 * bands { // one in eight is enough
		for band := range bands {
			re, im := 0.0, 0.0
			for i, s := range pcm[at : at+2*bands] {
				window := math.Sin(math.Pi * (float64(i) + 0.5) / (2 * bands))
				sin, cos := math.Sincos(math.Pi * float64(band) * float64(i) / bands)
				re, im = re+window*cos*float64(s), im+window*sin*float64(s)
			}
			if band*rateHz/2/bands > 13000 { // a kilohertz for the window
				high += re*re + im*im
			} else {
				low += re*re + im*im
			}
		}
	}
	return high / (low + high)
}

// HE-AAC, as phones and radio use it, of a real encoder: in ADTS, and in MP4 with and without
// SBR in the configuration; without, it is in the frames.
func TestHEAACOfARealEncoder(t *testing.T) {
	const rateHz = 48000
	for file, config := range map[string][]byte{"he": {0x2b, 0x09, 0x88, 0x00}, "he2": {0xeb, 0x09, 0x88, 0x00}} {
		adts, err := os.ReadFile("testdata/heaac/" + file + ".aac")
		if err != nil {
			t.Fatal(err)
		}
		reference, referenceHz := ffmpegDecode(t, adts, file+".aac")
		if referenceHz != rateHz {
			t.Fatalf("ffmpeg decodes it at %d Hz", referenceHz)
		}
		inside := ffmpeg(t, file+".m4a", "-i testdata/heaac/"+file+".aac -c copy OUT")
		copied := filepath.Join(t.TempDir(), "inside.m4a") // its configuration precedes its sound
		if err := os.WriteFile(copied, inside, 0o600); err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]byte{
			"ADTS": adts, "MP4": inside, "MP4 that says so": explicitly(t, inside, config),
			"fragments": ffmpeg(t, file+"-live.mp4", "-i "+copied+" -c copy "+fragments+" OUT"),
		} {
			got, err := DecodeAll(data, rateHz)
			if err != nil {
				t.Errorf("%s in %s: %v", file, name, err)
				continue
			}
			if d := math.Abs(float64(len(got)-len(reference))) / rateHz; d > 0.05 {
				t.Errorf("%s in %s: %d samples, ffmpeg has %d", file, name, len(got), len(reference))
			}
			if s := snr(got, reference); s < 50 {
				t.Errorf("%s in %s: %.0f dB against ffmpeg", file, name, s)
			}
			if above := hiss(got, rateHz); above < 0.02 {
				t.Errorf("%s in %s: %.4f of it lies above 12 kHz", file, name, above)
			}
			if name != "ADTS" && name != "fragments" {
				continue // its index comes last
			}
			stream, at := NewContainer(16000), 0
			var heard []float32
			for at < len(data) { // cut anywhere
				next := min(at+97, len(data))
				pcm, err := stream.Decode(data[at:next])
				if err != nil {
					t.Fatalf("%s in %s: %v", file, name, err)
				}
				heard, at = append(heard, pcm...), next
			}
			if d := math.Abs(float64(len(heard))/16000 - float64(len(reference))/rateHz); d > 0.1 {
				t.Errorf("%s in %s: as a stream %d samples at 16 kHz, of %d at 48 kHz", file, name, len(heard),
					len(reference))
			}
		}
	}
}
