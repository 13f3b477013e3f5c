package onnx

import (
	"context"
	"testing"

	"parley/appliance/engine"
)

func openYardstick(t testing.TB) *Yardstick {
	t.Helper()
	y, err := OpenYardstick(packFile(t, "runtime-onnx", "libonnxruntime.so"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeOrFail(t, y) })
	return y
}

func TestYardstickHearsWhatMoonshineHears(t *testing.T) {
	m := openMoonshine(t)
	straight, err := openYardstick(t).Moonshine(packFile(t, "moonshine"))
	if err != nil {
		t.Fatal(err)
	}
	defer closeOrFail(t, straight)
	for _, i := range []int{20, 60, 240} {
		pcm := prompts(t)[i].pcm(t)
		var text string
		c, err := Compare(3,
			func() error {
				heard, err := m.Transcribe(context.Background(), pcm, engine.TranscribeOptions{})
				text = heard.Text
				return err
			},
			func() error {
				ids, err := straight.Tokens(pcm)
				if want := m.text(ids); err == nil && text != "" && text != want {
					t.Errorf("heard %q, the yardstick %q", text, want)
				}
				return err
			})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%.1f s of speech: ours %v, straight %v, ratio %.3f", float64(len(pcm))/16000, c.Ours, c.Straight, c.Ratio)
	}
}

func TestYardstickHearsWhatSileroHears(t *testing.T) {
	s := openSilero(t)
	straight, err := openYardstick(t).Silero(packFile(t, "turn", "silero_vad.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	defer closeOrFail(t, straight)
	stream, pcm := s.NewStream(), prompts(t)[100].pcm(t)
	for ; len(pcm) >= engine.FrameSamples; pcm = pcm[engine.FrameSamples:] {
		a, err := stream.Probability(pcm[:engine.FrameSamples])
		if err != nil {
			t.Fatal(err)
		}
		b, err := straight.Frame(pcm[:engine.FrameSamples])
		if err != nil {
			t.Fatal(err)
		}
		if a != b {
			t.Fatalf("probability %v, the yardstick's %v", a, b)
		}
	}
	frame := testSound(engine.FrameSamples)
	c, err := Compare(300,
		func() error { _, err := stream.Probability(frame); return err },
		func() error { _, err := straight.Frame(frame); return err })
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("a frame: ours %v, straight %v, ratio %.3f", c.Ours, c.Straight, c.Ratio)
}
