package audio

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"parley/internal/packtest"
)

// spoken is a recording of a voice at a rate.
func spoken(t *testing.T, rateHz int) []float32 {
	t.Helper()
	pcm, err := DecodeAll(ffmpeg(t, "a.wav", "-i "+packtest.Recording(t, "vm-intro")+" -t 4.321 OUT"), rateHz)
	if err != nil {
		t.Fatal(err)
	}
	return pcm
}

// heardMP3 decodes an MP3 file with ffmpeg, without a warning.
func heardMP3(t *testing.T, data []byte) []float32 {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.mp3")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	var raw, said bytes.Buffer
	cmd := exec.Command("ffmpeg", "-hide_banner", "-v", "warning", "-i", path, "-f", "f32le", "-c:a", "pcm_f32le", "-")
	cmd.Stdout, cmd.Stderr = &raw, &said
	if err := cmd.Run(); err != nil || unexpected(said.String()) {
		t.Fatalf("ffmpeg: %v\n%s", err, &said)
	}
	pcm := make([]float32, raw.Len()/4)
	for i := range pcm {
		pcm[i] = sampleF32.at(raw.Bytes()[4*i:])
	}
	return pcm
}

// unexpected reports whether ffmpeg warned of anything but an unknown length or a missing
// sound.
func unexpected(warnings string) bool {
	for line := range strings.Lines(warnings) {
		if !strings.Contains(line, "Estimating duration from bitrate") &&
			!strings.Contains(line, "Output file is empty") &&
			!strings.Contains(line, "No filtered frames") {
			return true
		}
	}
	return false
}

// noise returns the signal-to-noise ratio of got in dB.
func noise(want, got []float32) float64 {
	signal, wrong := 1e-12, 1e-12
	for i := range min(len(want), len(got)) {
		d := float64(got[i] - want[i])
		signal, wrong = signal+float64(want[i])*float64(want[i]), wrong+d*d
	}
	return 10 * math.Log10(signal/wrong)
}

func TestMP3FileIsSampleExact(t *testing.T) {
	for _, rateHz := range []int{8000, 22050, 24000, 48000, 192000} {
		pcm := spoken(t, rateHz)
		data, err := encodeMP3(pcm, rateHz)
		if err != nil {
			t.Fatal(err)
		}
		want := Resample(pcm, rateHz, MP3Hz)
		ours, err := DecodeAll(data, MP3Hz)
		if err != nil {
			t.Fatal(err)
		}
		for who, got := range map[string][]float32{"ffmpeg": heardMP3(t, data), "mpg123": ours} {
			if len(got) != len(want) {
				t.Errorf("%d Hz: %s hears %d samples; want %d", rateHz, who, len(got), len(want))
			}
			if snr := noise(want, got); snr < 35 {
				t.Errorf("%d Hz: %s hears the sound with %.1f dB of noise below it; want 35", rateHz, who, snr)
			}
			if a, b := Loudness(want, MP3Hz), Loudness(got, MP3Hz); math.Abs(a-b) > 0.05 {
				t.Errorf("%d Hz: %s hears %.2f LUFS; want %.2f", rateHz, who, b, a)
			}
		}
	}
}

// The sizes of the input pieces do not matter, and players play from the first sample on, with
// at most a frame of silence at the end.
func TestMP3StreamHasNoGaps(t *testing.T) {
	const rateHz = 24000
	pcm := spoken(t, rateHz)
	var streams [2][]byte
	for i, cut := range []int{len(pcm), 479} {
		var b bytes.Buffer
		w, err := NewMP3Writer(&b, rateHz)
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(pcm); at += cut {
			if err := w.Write(pcm[at:min(at+cut, len(pcm))]); err != nil {
				t.Fatal(err)
			}
			behind := 2*min(at+cut, len(pcm)) - (b.Len()/mp3FrameLen-1)*mp3FrameSamples
			if behind > 2*mp3FrameSamples {
				t.Fatalf("the stream is %d samples behind the sound", behind)
			}
		}
		if err := errors.Join(w.Close(), w.Close()); err != nil {
			t.Fatal(err)
		}
		streams[i] = b.Bytes()
	}
	if !bytes.Equal(streams[0], streams[1]) {
		t.Error("the stream depends on how the sound was cut")
	}
	want, got := Resample(pcm, rateHz, MP3Hz), heardMP3(t, streams[0])
	if more := len(got) - len(want); more < 0 || more > mp3FrameSamples {
		t.Errorf("%d samples; want %d and up to a frame of silence", len(got), len(want))
	}
	if snr := noise(want, got); snr < 35 {
		t.Errorf("%.1f dB of noise", snr)
	}
	// The rest after any cut is playable.
	heardMP3(t, streams[0][101*mp3FrameLen:])
}

// The length is written to the header if w can seek, and only then.
func TestMP3WriterWritesTheLength(t *testing.T) {
	pcm := spoken(t, 48000)
	f, err := os.Create(filepath.Join(t.TempDir(), "a.mp3"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := f.WriteString("before"); err != nil {
		t.Fatal(err)
	}
	w, err := NewMP3Writer(f, 48000)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(pcm), w.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("behind"); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	want, err := encodeMP3(pcm, 48000)
	if err != nil {
		t.Fatal(err)
	}
	if string(written) != "before"+string(want)+"behind" {
		t.Error("the file differs from one of known length")
	}
}

// Files of pieces, decoded separately, join without a seam.
func TestMP3FilesJoin(t *testing.T) {
	const rateHz = 22050
	pcm := spoken(t, rateHz)
	files, err := NewMP3Files(rateHz)
	if err != nil {
		t.Fatal(err)
	}
	var got []float32
	var joins []int
	for at, cut := 0, 3; at < len(pcm); cut = cut*2 + 1 { // from nothing to seconds
		n := min(cut, len(pcm)-at)
		data, err := files.Next(pcm[at:at+n], at+n == len(pcm))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, heardMP3(t, data)...)
		joins = append(joins, len(got))
		at += n
	}
	want := Resample(pcm, rateHz, MP3Hz)
	if len(got) != len(want) {
		t.Fatalf("%d samples; want %d", len(got), len(want))
	}
	for _, at := range joins {
		// A step at a join that the sound does not have.
		if at == 0 || at >= len(got) {
			continue
		}
		step := got[at] - got[at-1] - (want[at] - want[at-1])
		if math.Abs(float64(step)) > 0.01 {
			t.Errorf("a step of %.3f at %d", step, at)
		}
	}
	if snr := noise(want, got); snr < 30 {
		t.Errorf("%.1f dB of noise", snr)
	}
}

func TestMP3OfNoSamplesDecodesToNothing(t *testing.T) {
	data, err := encodeMP3(nil, 22050)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := DecodeAll(data, MP3Hz); err != nil || len(got) > 0 {
		t.Errorf("%d samples, %v", len(got), err)
	}
}

func TestMP3WriterAcceptsInvalidSamples(t *testing.T) {
	pcm := make([]float32, 48000)
	for i := range pcm {
		pcm[i] = []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 3e38, -7}[i%5]
	}
	data, err := encodeMP3(pcm, 48000)
	if err != nil {
		t.Fatal(err)
	}
	if got := heardMP3(t, data); len(got) != len(pcm) {
		t.Errorf("%d samples", len(got))
	}
	for _, rateHz := range []int{0, -1, MaxResampleHz + 1} {
		if _, err := NewMP3Writer(io.Discard, rateHz); err == nil {
			t.Errorf("%d Hz is accepted", rateHz)
		}
	}
}

// fullAfter accepts so many bytes.
type fullAfter struct{ left int }

var errFull = errors.New("full")

func (f *fullAfter) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestMP3WriterErrorIsFinal(t *testing.T) {
	if _, err := NewMP3Writer(&fullAfter{}, 48000); !errors.Is(err, errFull) {
		t.Errorf("without space for the header: %v", err)
	}
	w, err := NewMP3Writer(&fullAfter{left: 1000}, 48000)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Write(make([]float32, 48000)); !errors.Is(err, errFull) {
			t.Errorf("a full disk is %v", err)
		}
	}
	if err := w.Close(); !errors.Is(err, errFull) {
		t.Errorf("and afterwards %v", err)
	}
}

func TestMissingLAMEErrorSaysWhatToInstall(t *testing.T) {
	if _, err := openLAME("nobody"); err == nil || !strings.Contains(err.Error(), "apt-get install libmp3lame0") {
		t.Errorf("the error is %v", err)
	}
	if err := CheckMP3Encoder(); err != nil {
		t.Error(err)
	}
}

// encodeMP3 returns pcm as one MP3 file.
func encodeMP3(pcm []float32, rateHz int) ([]byte, error) {
	files, err := NewMP3Files(rateHz)
	if err != nil {
		return nil, err
	}
	return files.Next(pcm, true)
}
