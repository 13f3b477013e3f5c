package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWAVRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOf(rapid.Float32Range(-2, 2)).Draw(t, "pcm")
		hz := rapid.SampledFrom([]int{8000, 16000, 48000}).Draw(t, "rate")
		b := EncodeWAV(in, hz)
		if len(b) != 44+2*len(in) || int(binary.LittleEndian.Uint32(b[4:])) != len(b)-8 ||
			int(binary.LittleEndian.Uint32(b[40:])) != 2*len(in) {
			t.Fatalf("header of %d samples: % x", len(in), b[:44])
		}
		out, err := DecodeAll(b, hz)
		if err != nil || len(out) != len(in) {
			t.Fatalf("%d samples became %d, %v", len(in), len(out), err)
		}
		for i, v := range in {
			want := min(max(float64(v), -1), 32767.0/32768)
			if math.Abs(float64(out[i])-want) > 0.5/32768 {
				t.Fatalf("sample %d: %v became %v", i, v, out[i])
			}
		}
		if again := EncodeWAV(out, hz); !bytes.Equal(again, b) {
			t.Fatal("16-bit samples do not pass unchanged")
		}
	})
}

func TestNaNIsSilence(t *testing.T) {
	nan := float32(math.NaN())
	inf := float32(math.Inf(1))
	b := EncodeWAV([]float32{nan, inf, -inf}, 8000)[44:]
	if want := []byte{0, 0, 0xff, 0x7f, 0, 0x80}; !bytes.Equal(b, want) {
		t.Errorf("% x; want % x", b, want)
	}
}

func TestFFmpegReadsOurWAV(t *testing.T) {
	in := tone(440, 0.5, 22050, 5000)
	got, hz := ffmpegDecode(t, EncodeWAV(in, 22050), "a.wav")
	if hz != 22050 || len(got) != len(in) || snr(got, in) < 80 {
		t.Errorf("%d samples at %d Hz, %.1f dB", len(got), hz, snr(got, in))
	}
}

func TestWAVFileIsPlayableBeforeClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.wav")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := NewWAVWriter(f, 16000, 1)
	if err != nil {
		t.Fatal(err)
	}
	in := tone(440, 0.5, 16000, 3000)
	for piece := range slices.Chunk(in, 700) {
		if err := w.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	before, _ := os.ReadFile(path)
	if got, err := DecodeAll(before, 16000); err != nil || len(got) != len(in) {
		t.Errorf("before Close: %d samples, %v; want %d", len(got), err, len(in))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	after, _ := os.ReadFile(path)
	if !bytes.Equal(after, EncodeWAV(in, 16000)) {
		t.Error("the file is not what EncodeWAV gives")
	}
	if at, _ := f.Seek(0, 1); at != int64(len(after)) {
		t.Errorf("the file stands at %d of %d", at, len(after))
	}
	if w.Write(in) == nil {
		t.Error("a closed writer writes")
	}
}

// A WAV written to a pipe is read by FFmpeg to its end without a warning.
func TestFFmpegReadsAPipedWAVWithoutAWarning(t *testing.T) {
	for _, rateHz := range []int{8000, 16000, 22050, 24000, 44100, 48000, 96000} {
		for _, channels := range []int{1, 2} {
			var file bytes.Buffer
			w, err := NewWAVWriter(&file, rateHz, channels)
			if err == nil {
				err = errors.Join(w.Write(tone(440, 0.5, 48000, 33334)), w.Close(), w.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
			ffmpeg := exec.Command("ffmpeg", "-v", "warning", "-guess_layout_max", "0", "-i", "pipe:0", "-f", "null",
				"-")
			ffmpeg.Stdin = &file
			if output, err := ffmpeg.CombinedOutput(); err != nil || len(output) > 0 {
				t.Errorf("%d Hz, %d channels: %s%v", rateHz, channels, output, err)
			}
		}
	}
}

func TestStreamedWAVsContinueToTheirEnd(t *testing.T) {
	in := tone(440, 0.5, 16000, 3000)
	for _, size := range []uint32{0, math.MaxUint32, 0x7ffff000} {
		b := EncodeWAV(in, 16000)
		binary.LittleEndian.PutUint32(b[4:], size)
		binary.LittleEndian.PutUint32(b[40:], size)
		if got, err := DecodeAll(b, 16000); err != nil || len(got) != len(in) {
			t.Errorf("size %#x: %d samples, %v; want %d", size, len(got), err, len(in))
		}
	}
}

func TestOtherChunksAreSkipped(t *testing.T) {
	in := tone(440, 0.5, 8000, 501)
	b := EncodeWAV(in, 8000)
	odd := append([]byte("LIST\x05\x00\x00\x00"), "abcde\x00"...)
	huge := append([]byte("junk\x00\x00\x02\x00"), make([]byte, 1<<17)...)
	b = slices.Concat(b[:12], odd, huge, b[12:36], odd, b[36:], odd)
	if got, err := DecodeAll(b, 8000); err != nil || len(got) != len(in) {
		t.Errorf("%d samples, %v; want %d", len(got), err, len(in))
	}
}

func TestDamagedWAVsAreNamed(t *testing.T) {
	good := EncodeWAV(tone(440, 0.5, 8000, 100), 8000)
	change := func(at int, v ...byte) []byte {
		b := bytes.Clone(good)
		copy(b[at:], v)
		return b
	}
	for says, data := range map[string][]byte{
		"sample_rate is 0 Hz":        change(24, 0, 0, 0, 0),
		"sample_rate is 4294967295":  change(24, 255, 255, 255, 255),
		"0 channels":                 change(22, 0, 0),
		"10 channels":                change(22, 10, 0),
		"do not divide":              change(22, 3, 0),
		"24 bits in samples of 2":    change(34, 24),
		"format 0x1234":              change(20, 0x34, 0x12),
		"fmt chunk of 15 bytes":      change(16, 15),
		"at least 40":                change(20, 0xfe, 0xff),
		"of type \"WAVX\"":           change(11, 'X'),
		"RIFX":                       change(3, 'X'),
		"data chunk before":          slices.Concat(good[:12], good[36:]),
		"ends before its fmt":        good[:20],
		"changes from 8000 to 16000": slices.Concat(good, EncodeWAV(nil, 16000)),
	} {
		if _, err := DecodeAll(data, 16000); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v; want one that says %q", err, says)
		}
	}
}

func TestLinear16InAnyPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		channels := rapid.IntRange(1, MaxChannels).Draw(t, "channels")
		raw := rapid.SliceOfN(rapid.Byte(), 0, 400).Draw(t, "bytes")
		d, err := NewLinear16(16000, channels, 16000)
		if err != nil {
			t.Fatal(err)
		}
		var got []float32
		for rest := raw; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			pcm, err := d.Decode(rest[:n:n])
			if err != nil {
				t.Fatal(err)
			}
			got, rest = append(got, pcm...), rest[n:]
		}
		frame := 2 * channels
		if len(got) != len(raw)/frame {
			t.Fatalf("%d samples; want %d", len(got), len(raw)/frame)
		}
		for i, v := range got {
			sum, found := 0.0, false
			for c := range channels {
				x := float64(int16(binary.LittleEndian.Uint16(raw[i*frame+2*c:]))) / 32768
				sum, found = sum+x, found || float64(v) == x
			}
			if channels <= 2 && math.Abs(float64(v)-sum/float64(channels)) > 1e-6 || channels > 2 && !found {
				t.Fatalf("frame %d of %d channels: %v; want the mean %v of two, one of more", i, channels, v,
					sum/float64(channels))
			}
		}
		if _, err := d.Flush(); (err != nil) != (len(raw)%frame != 0) {
			t.Fatalf("%d bytes of %d channels: Flush says %v", len(raw), channels, err)
		}
	})
}

func TestInvalidLinear16SettingsAreNamed(t *testing.T) {
	for _, c := range []struct {
		rate, channels, out int
		says                string
	}{
		{0, 1, 16000, "sample_rate is 0"}, {-5, 1, 16000, "sample_rate is -5"}, {192001, 1, 16000, "4000 to 192000"},
		{16000, 0, 16000, "channels is 0"}, {16000, 33, 16000, "1 to 32"}, {16000, 1, 0, "output rate is 0"},
	} {
		if _, err := NewLinear16(c.rate, c.channels, c.out); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: error %v", c, err)
		}
	}
}
