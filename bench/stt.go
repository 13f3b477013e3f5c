package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"parley/appliance/engine"
	"parley/appliance/engine/onnx"
	"parley/appliance/engines"
	"parley/appliance/text"
	"parley/bench/yardstick"
)

// straight names the yardstick of an engine's call.
const straight = "the same call made straight to the C library, in turn with ours"

// referenceErrors are the word error rates of the transcribers, in percent,
// over the 150 longest prompts up to 9.5 s: the same models in Python over the
// same C library.
func referenceErrors() map[string]float64 {
	return map[string]float64{"moonshine": 6.45, "whisper": 3.87}
}

// referencePrompts is how many prompts those figures are of.
const referencePrompts = 150

// STT measures the ears: speech to text, and the voice detector.
func STT(ctx context.Context, o Options) (Report, error) {
	if err := o.check(); err != nil {
		return Report{}, err
	}
	said, err := recordings(o.Recordings)
	if err != nil {
		return Report{}, err
	}
	prompts := judged(said, o.Prompts)
	if len(prompts) == 0 {
		return Report{}, fmt.Errorf("no recording in %s has its words beside it and is at most %v long: put the "+
			"words of NAME.wav in NAME.txt", o.Recordings, maxRecording)
	}
	ear := o.Config.Engines.Transcriber
	r := Report{Bench: "stt", Machine: describe(o.Config, "runtime-onnx", "turn", ear)}
	o.say("loading %s", ear)
	opened, err := engines.Open(ctx, o.Config, engines.Hearing, o.Log)
	if err != nil {
		return r, err
	}
	defer opened.Close()

	if err := r.wordError(ctx, o, opened.Transcriber, prompts); err != nil {
		return r, err
	}
	r.memory(self(), 0) // before the yardstick loads its own models
	if err := r.allocations(ctx, opened.Transcriber, speechOf(prompts, 3*time.Second)); err != nil {
		return r, err
	}
	err = r.straightEars(ctx, o, opened, said)
	return r, err
}

// wordError transcribes the prompts, and finds the share of words that are
// wrong, missing or too many, and the time that it takes.
func (r *Report) wordError(ctx context.Context, o Options, ear engine.Transcriber, prompts []recording) error {
	var wrong, words int
	var heard, took time.Duration
	for i, p := range prompts {
		if i%25 == 0 {
			o.say("transcribing recording %d of %d", i+1, len(prompts))
		}
		begun := time.Now()
		got, err := ear.Transcribe(ctx, p.PCM, engine.TranscribeOptions{Language: "en"})
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		took, heard = took+time.Since(begun), heard+p.duration()
		want := text.Words(p.Text)
		wrong, words = wrong+text.WordErrors(want, text.Words(got.Text)), words+len(want)
	}
	rate := 100 * float64(wrong) / float64(words)
	note := fmt.Sprintf("of %d words in %d recordings", words, len(prompts))
	if reference, ok := referenceErrors()[o.Config.Engines.Transcriber]; ok && len(prompts) == referencePrompts &&
		o.Recordings == "" {
		r.against("word_error", rate, "%", reference, note+"; the same model in Python")
	} else {
		r.figure("word_error", rate, "%", note)
	}
	r.figure("time_per_second", milliseconds(took)/heard.Seconds(), "ms", "for each second of these recordings")
	return nil
}

// allocations adds what one call leaves to Go's collector.
func (r *Report) allocations(ctx context.Context, ear engine.Transcriber, speech []float32) error {
	const calls = 5
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range calls {
		if _, err := ear.Transcribe(ctx, speech, engine.TranscribeOptions{Language: "en"}); err != nil {
			return err
		}
	}
	runtime.ReadMemStats(&after)
	r.figure("go_heap_per_call", float64(after.TotalAlloc-before.TotalAlloc)/calls/1024, "KiB",
		"allocated by transcribing 3 s")
	return nil
}

// straightEars compares the engines with their C library alone.
func (r *Report) straightEars(ctx context.Context, o Options, opened *engines.Set, said []recording) (err error) {
	y, err := yardstick.OpenONNX(filepath.Join(o.Config.Pack("runtime-onnx"), "libonnxruntime.so"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, y.Close()) }()
	if err := r.transcribing(ctx, o, y, opened.Transcriber, judged(said, referencePrompts)); err != nil {
		return err
	}
	return r.detecting(o, y, opened.Detector, speechOf(said, time.Second))
}

// transcribing times calls of several lengths. Only Moonshine has a yardstick:
// what surrounds Whisper's graphs is more than a loop.
func (r *Report) transcribing(ctx context.Context, o Options, y *yardstick.ONNX, ear engine.Transcriber,
	said []recording) (err error) {
	var plain *yardstick.Moonshine
	if _, ok := ear.(*onnx.Moonshine); ok {
		if plain, err = y.OpenMoonshine(o.Config.Pack("moonshine")); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, plain.Close()) }()
	}
	for _, seconds := range []int{1, 3, 5, 10} {
		o.say("transcribing %d s of speech, %d times", seconds, o.Rounds)
		speech := speechOf(said, time.Duration(seconds)*time.Second)
		name := fmt.Sprintf("transcribe_%ds", seconds)
		ours := func() error {
			_, err := ear.Transcribe(ctx, speech,
				engine.TranscribeOptions{Urgency: engine.Live.Urgency(), Language: "en"})
			return err
		}
		if plain == nil {
			took, err := timed(o.Rounds, ours)
			if err != nil {
				return err
			}
			r.figure(name, took, "ms", "")
			continue
		}
		c, err := yardstick.Compare(o.Rounds, ours, func() error { _, err := plain.Tokens(speech); return err })
		if err != nil {
			return err
		}
		r.paired(name, milliseconds(c.Ours), "ms", milliseconds(c.Straight), c.Ratio, straight)
	}
	return nil
}

// framesARound makes one round of the detector long enough to be timed.
const framesARound = 20

func (r *Report) detecting(o Options, y *yardstick.ONNX, d engine.VoiceDetector, speech []float32) (err error) {
	o.say("detecting voice")
	plain, err := y.OpenSilero(filepath.Join(o.Config.Pack("turn"), "silero_vad.onnx"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plain.Close()) }()
	stream := d.NewStream()
	frames := func(each func([]float32) (float32, error)) func() error {
		return func() error {
			for i := range framesARound {
				if _, err := each(speech[i*engine.FrameSamples : (i+1)*engine.FrameSamples]); err != nil {
					return err
				}
			}
			return nil
		}
	}
	c, err := yardstick.Compare(20*o.Rounds, frames(stream.Probability), frames(plain.Frame))
	if err != nil {
		return err
	}
	r.paired("detect_frame", microseconds(c.Ours)/framesARound, "µs", microseconds(c.Straight)/framesARound, c.Ratio,
		straight)
	return nil
}
