package audio

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"parley/internal/packtest"
)

// record returns the stream of pcm, written in pieces.
func record(t testing.TB, pcm []float32, channels, piece int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewOggOpusWriter(&b, 48000, channels, 7)
	if err != nil {
		t.Fatal(err)
	}
	for len(pcm) > 0 {
		n := min(piece*channels, len(pcm))
		if err := w.Write(pcm[:n]); err != nil {
			t.Fatal(err)
		}
		pcm = pcm[n:]
	}
	if err := errors.Join(w.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRecordingHasTheLengthAndPositionOfItsSource(t *testing.T) {
	voice, hz := ffmpegDecode(t, ffmpeg(t, "a.wav", "-i "+packtest.Recording(t, "vm-intro")+" -t 2.5 -ar 48000 OUT"),
		"a.wav")
	if hz != 48000 {
		t.Fatal(hz)
	}
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(0, 20000).Draw(r, "n")
		got, err := DecodeAll(record(t, voice[:n], 1, rapid.IntRange(1, 3000).Draw(r, "piece")), 48000)
		if err != nil || len(got) != n {
			r.Fatalf("%d samples, %v; want %d", len(got), err, n)
		}
	})
	got, err := DecodeAll(record(t, voice, 1, 960), 48000)
	if err != nil || len(got) != len(voice) {
		t.Fatalf("%d samples, %v; want %d", len(got), err, len(voice))
	}
	// The codec's delay is known only to a few samples: SILK's resamplers shift the phase.
	best, lag := math.Inf(-1), 0
	for shift := range 40 {
		if late := snr(got[shift:], voice); late > best {
			best, lag = late, shift
		}
		if early := snr(got, voice[shift:]); early > best {
			best, lag = early, -shift
		}
	}
	if best < 19 || lag < -10 || lag > 10 {
		t.Errorf("it is closest %d samples late, %.1f dB; want at most 10, and 19 dB", lag, best)
	}
}

func TestFFmpegReadsOurRecordings(t *testing.T) {
	left, right := tone(300, 0.5, 48000, 60000), tone(700, 0.1, 48000, 60000)
	var both, mean []float32
	for i := range left {
		both = append(both, left[i], right[i])
		mean = append(mean, (left[i]+right[i])/2)
	}
	data := record(t, both, 2, 480)
	got, hz := ffmpegDecode(t, data, "a.opus")
	if hz != 48000 || len(got) != len(mean) || snr(got, mean) < 10 {
		t.Errorf("%d samples at %d Hz, %.1f dB; want %d", len(got), hz, snr(got, mean), len(mean))
	}
}

func TestCrashLosesAtMostASecond(t *testing.T) {
	var b bytes.Buffer
	w, err := NewOggOpusWriter(&b, 48000, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		if err := w.Write(tone(300, 0.5, 48000, 4800)); err != nil {
			t.Fatal(err)
		}
		got, err := DecodeAll(b.Bytes(), 48000)
		if err != nil {
			t.Fatal(err)
		}
		if lost := float64((i+1)*4800-len(got)) / 48000; lost > 1.03 {
			t.Fatalf("after %.1f s, %.3f s are not written", float64(i+1)/10, lost)
		}
	}
}

func TestLoudRecordingsFitTheirPages(t *testing.T) {
	noise := make([]float32, 2*48000*2)
	for i := range noise {
		noise[i] = float32(math.Sin(float64(i)*float64(i)*0.7)) * 1.5
	}
	got, err := DecodeAll(record(t, noise, 2, 5000), 48000)
	if err != nil || len(got) != len(noise)/2 {
		t.Errorf("%d samples, %v; want %d", len(got), err, len(noise)/2)
	}
}

type fullDisk struct{ left int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.left -= len(p); d.left < 0 {
		return 0, errors.New("no space left")
	}
	return len(p), nil
}

func TestFullDiskIsReported(t *testing.T) {
	w, err := NewOggOpusWriter(&fullDisk{200}, 48000, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(make([]float32, 48000*3)), w.Close()); err == nil {
		t.Error("no error")
	}
	if _, err := NewOggOpusWriter(&fullDisk{10}, 48000, 1, 1); err == nil {
		t.Error("headers: no error")
	}
	if _, err := NewWAVWriter(&fullDisk{10}, 16000, 1); err == nil {
		t.Error("wav header: no error")
	}
	if _, err := NewOggOpusWriter(&fullDisk{1000}, 48000, 3, 1); err == nil {
		t.Error("three channels: no error")
	}
	if _, err := NewOggOpusWriter(&fullDisk{1000}, 44100, 1, 1); err == nil {
		t.Error("44.1 kHz: no error")
	}
}
