package bench

import (
	"context"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"parley/appliance/engine"
	"parley/appliance/engine/llama"
	"parley/appliance/engine/onnx"
	"parley/appliance/engines"
	"parley/bench/yardstick"
)

// enginesFor opens engines of the test profile, and the plain library.
func enginesFor(t *testing.T, o Options, which engines.Which) *engines.Set {
	t.Helper()
	opened, err := engines.Open(t.Context(), o.Config, which, o.Log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	return opened
}

func plainONNX(t *testing.T, o Options) *yardstick.ONNX {
	t.Helper()
	y, err := yardstick.OpenONNX(filepath.Join(o.Config.Pack("runtime-onnx"), "libonnxruntime.so"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := y.Close(); err != nil {
			t.Error(err)
		}
	})
	return y
}

// speech is a recording that is not the same for every i.
func speech(t *testing.T, i int) []float32 {
	t.Helper()
	said, err := recordings("")
	if err != nil {
		t.Fatal(err)
	}
	return judged(said, 300)[i].PCM
}

func TestTheYardstickHearsWhatMoonshineHears(t *testing.T) {
	o := options(t)
	opened := enginesFor(t, o, engines.Hearing)
	m, ok := opened.Transcriber.(*onnx.Moonshine)
	if !ok {
		t.Fatalf("the test profile's transcriber is %T", opened.Transcriber)
	}
	straight, err := plainONNX(t, o).OpenMoonshine(o.Config.Pack("moonshine"))
	if err != nil {
		t.Fatal(err)
	}
	defer straight.Close()
	for _, i := range []int{20, 60, 240} {
		pcm := speech(t, i)
		var text string
		c, err := yardstick.Compare(1,
			func() error {
				heard, err := m.Transcribe(context.Background(), pcm, engine.TranscribeOptions{})
				text = heard.Text
				return err
			},
			func() error {
				ids, err := straight.Tokens(pcm)
				if want := m.Text(ids); err == nil && text != "" && text != want {
					t.Errorf("heard %q, the yardstick %q", text, want)
				}
				return err
			})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%.1f s of speech: ours %v, straight %v, ratio %.3f", float64(len(pcm))/engine.SpeechRateHz, c.Ours,
			c.Straight, c.Ratio)
	}
}

func TestTheYardstickHearsTheVoiceThatSileroHears(t *testing.T) {
	o := options(t)
	stream := enginesFor(t, o, engines.Hearing).Detector.NewStream()
	straight, err := plainONNX(t, o).OpenSilero(filepath.Join(o.Config.Pack("turn"), "silero_vad.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	defer straight.Close()
	for pcm := speech(t, 100); len(pcm) >= engine.FrameSamples; pcm = pcm[engine.FrameSamples:] {
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
}

// Speech and language share the processor's matrix unit, which each sets up in its
// own way, a thread at a time: neither may compute on the other's threads.
func TestSpeechDoesNotDisturbTheLanguageModel(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // few threads, that are used in turn
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	o := options(t)
	m := enginesFor(t, o, engines.Thinking).Model.(*llama.Model)
	speaking := enginesFor(t, o, engines.Speaking)
	voice, err := speaking.Voice(t.Context(), "heart") // its model is in 8 bits
	if err != nil {
		t.Fatal(err)
	}
	p := engine.Prompt{MaxTokens: 6,
		Messages: []engine.Message{{Role: engine.User, Content: "What is the capital of France?"}}}
	for n := range 3 {
		var said, straight strings.Builder
		if _, err := m.Generate(t.Context(), p, func(part engine.Part) error {
			said.WriteString(part.Text)
			return nil
		}); err != nil {
			t.Error(err)
		}
		if _, err := yardstick.Llama(t.Context(), m, p, func(piece string) {
			straight.WriteString(piece)
		}); err != nil {
			t.Error(err)
		}
		if !strings.Contains(said.String(), "France") || !strings.Contains(straight.String(), "France") {
			t.Errorf("round %d: the engine says %q, the yardstick %q", n, said.String(), straight.String())
		}
		if _, err := engine.SpeakWhole(t.Context(), voice, "Good morning.", engine.SpeakOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheYardstickSaysWhatTheLanguageModelSays(t *testing.T) {
	o := options(t)
	m := enginesFor(t, o, engines.Thinking).Model.(*llama.Model)
	p := engine.Prompt{MaxTokens: 12,
		Messages: []engine.Message{{Role: engine.User, Content: "What is the capital of France?"}}}
	var want, got strings.Builder
	u, err := m.Generate(t.Context(), p, func(part engine.Part) error { want.WriteString(part.Text); return nil })
	if err != nil {
		t.Fatal(err)
	}
	r, err := yardstick.Llama(t.Context(), m, p, func(piece string) { got.WriteString(piece) })
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != want.String() || got.String() == "" || r.PromptTokens != u.PromptTokens {
		t.Errorf("straight %q (%+v), through the engine %q (%+v)", got.String(), r, want.String(), u)
	}
	if r.PromptRate() <= 0 || r.ReplyRate() <= 0 || r.Total <= r.FirstToken {
		t.Errorf("%+v", r)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	cancel()
	if _, err := yardstick.Llama(ctx, m, p, func(string) {}); err == nil {
		t.Error("a cancelled yardstick ran")
	}
}
