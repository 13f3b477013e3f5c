package audio

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"parley/internal/isolate"
)

// TestMain is also the process that decodes.
func TestMain(m *testing.M) {
	Main()
	isolate.Main(lying, func([]string) (isolate.Work, error) { return isolate.Work{Answer: lie}, nil })
	goleak.VerifyTestMain(collected{m})
}

// collected has the garbage collector end the decoders that tests did not close.
type collected struct{ *testing.M }

func (c collected) Run() int {
	defer runtime.GC()
	return c.M.Run()
}

// ffmpeg runs ffmpeg; "OUT" in args is a file of the given name, whose bytes
// are returned.
func ffmpeg(t testing.TB, name, args string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), name)
	fields := strings.Fields("-hide_banner -loglevel error -bitexact -y " + args)
	for i, f := range fields {
		fields[i] = strings.ReplaceAll(f, "OUT", out)
	}
	if msg, err := exec.Command("ffmpeg", fields...).CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg %v: %v\n%s", fields, err, msg)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ffmpegDecode returns a file decoded by ffmpeg: the mean of its channels, at its own rate.
// (ffmpeg's own mixing has another gain.)
func ffmpegDecode(t testing.TB, data []byte, name string) (pcm []float32, rateHz int) {
	t.Helper()
	in := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(in, data, 0o600); err != nil {
		t.Fatal(err)
	}
	wav := ffmpeg(t, "decoded.wav", "-i "+in+" -c:a pcm_f32le -fflags +bitexact OUT")
	le := binary.LittleEndian
	channels, rateHz := int(le.Uint16(wav[22:])), int(le.Uint32(wav[24:]))
	raw := wav[bytes.Index(wav, []byte("data"))+8:]
	for ; len(raw) >= 4*channels; raw = raw[4*channels:] {
		sum := float32(0)
		for c := range channels {
			sum += math.Float32frombits(le.Uint32(raw[4*c:]))
		}
		pcm = append(pcm, sum/float32(channels))
	}
	return pcm, rateHz
}

func tone(hz, amplitude float64, rateHz, n int) []float32 {
	pcm := make([]float32, n)
	for i := range pcm {
		pcm[i] = float32(amplitude * math.Sin(2*math.Pi*hz*float64(i)/float64(rateHz)))
	}
	return pcm
}

func rms(pcm []float32) float64 {
	sum := 0.0
	for _, v := range pcm {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(max(1, len(pcm))))
}

func decibels(ratio float64) float64 { return 20 * math.Log10(ratio) }

// snr compares got with want, in dB, over their common length.
func snr(got, want []float32) float64 {
	n := min(len(got), len(want))
	diff := make([]float32, n)
	for i := range diff {
		diff[i] = got[i] - want[i]
	}
	return decibels(rms(want[:n]) / (rms(diff) + 1e-12))
}
