package bench

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"parley/appliance/engine"
	"parley/appliance/engines"
	"parley/appliance/text"
)

// referenceErrors returns the word error rates of the transcribers, in percent, over the
// 150 longest prompts up to 9.5 s: the same models in Python with the same C library.
func referenceErrors() map[string]float64 {
	return map[string]float64{"moonshine": 6.45, "whisper": 3.87}
}

// referencePrompts is the number of prompts of these figures.
const referencePrompts = 150

// STT measures speech-to-text and voice detection.
func STT(ctx context.Context, o Options) (Report, error) {
	if err := o.check(); err != nil {
		return Report{}, err
	}
	said, err := recordings(o.Recordings)
	if err != nil {
		return Report{}, err
	}
	prompts := scored(said, o.Prompts)
	if len(prompts) == 0 {
		return Report{}, fmt.Errorf("no recording in %s has a text file with its words and is at most %v long: "+
			"put the words of NAME.wav in NAME.txt", o.Recordings, maxRecording)
	}
	ear := o.Config.Engines.Transcriber
	r := Report{Bench: "stt", Machine: describe(o.Config, "runtime-onnx", "turn", ear)}
	o.announce("loading %s", ear)
	opened, err := engines.Open(ctx, o.Config, engines.Hearing, o.Log)
	if err != nil {
		return r, err
	}
	defer opened.Close()

	if err := r.wordError(ctx, o, opened.Transcriber, prompts); err != nil {
		return r, err
	}
	r.memory(self(), 0)
	if err := r.allocations(ctx, opened.Transcriber, speechOf(prompts, 3*time.Second)); err != nil {
		return r, err
	}
	if err := r.transcribing(ctx, o, opened.Transcriber, scored(said, referencePrompts)); err != nil {
		return r, err
	}
	return r, r.detecting(o, opened.Detector, speechOf(said, time.Second))
}

// wordError transcribes the prompts, and adds the share of wrong, missing and surplus
// words, and the time.
func (r *Report) wordError(ctx context.Context, o Options, ear engine.Transcriber, prompts []recording) error {
	var wrong, words int
	var heard, took time.Duration
	for i, p := range prompts {
		if i%25 == 0 {
			o.announce("transcribing recording %d of %d", i+1, len(prompts))
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

// allocations adds what one call allocates on Go's heap.
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

// transcribing times calls of several lengths.
func (r *Report) transcribing(ctx context.Context, o Options, ear engine.Transcriber, said []recording) error {
	for _, seconds := range []int{1, 3, 5, 10} {
		o.announce("transcribing %d s of speech, %d times", seconds, o.Rounds)
		speech := speechOf(said, time.Duration(seconds)*time.Second)
		took, err := timed(o.Rounds, func() error {
			_, err := ear.Transcribe(ctx, speech,
				engine.TranscribeOptions{Urgency: engine.Live.Urgency(), Language: "en"})
			return err
		})
		if err != nil {
			return err
		}
		r.figure(fmt.Sprintf("transcribe_%ds", seconds), took, "ms", "")
	}
	return nil
}

// framesARound makes one round of the detector long enough to be timed.
const framesARound = 20

func (r *Report) detecting(o Options, d engine.VoiceDetector, speech []float32) error {
	o.announce("detecting voice")
	stream := d.NewStream()
	took, err := timed(20*o.Rounds, func() error {
		for i := range framesARound {
			if _, err := stream.Probability(speech[i*engine.FrameSamples : (i+1)*engine.FrameSamples]); err != nil {
				return err
			}
		}
		return nil
	})
	r.figure("detect_frame", 1000*took/framesARound, "µs", "voice activity in 32 ms")
	return err
}
