package onnx

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"parley/appliance/engine"
)

const (
	// kokoroRateHz is the model's sample rate and kokoroHop the samples per frame.
	kokoroRateHz = 24000
	kokoroHop    = 600
	// kokoroLeadFrames is how many frames earlier each phoneme sounds than its durations say. After
	// a pause, words begin 40 to 60 ms early in six voices of three languages (with Piper within
	// 10); Kokoro's authors correct by three frames.
	kokoroLeadFrames = 2
	// kokoroThreads is how many cores one call uses.
	kokoroThreads = 2

	// kokoroDurations is the tensor with the number of frames of each id. kokoroPatch, appended to
	// the model, makes it an output (see durationsPatch).
	kokoroDurations = "/encoder/Clip_output_0"
	kokoroPatch     = "\x3a\x1a\x62\x18\x0a\x16" + kokoroDurations
)

// Kokoro is one model with many voices: each is a style vector, and styles can be blended. It is
// safe for concurrent use.
type Kokoro struct {
	// Log receives one warning for each phoneme that the model does not know; it may be nil. Set it
	// before the first use.
	Log *slog.Logger

	dir        string
	session    *Session
	gate       *engine.Gate
	phonemizer phonemizer
	alphabet   *alphabet
	throughput throughput

	mu     sync.Mutex
	styles map[string][]float32 // the styles used so far
}

// LoadKokoro loads model.onnx from dir, with the styles in voices/, and runs it once. The caller
// closes it.
func LoadKokoro(rt *Runtime, dir string, gate *engine.Gate, ph phonemizer) (*Kokoro, error) {
	letters, err := kokoroAlphabet()
	if err != nil {
		return nil, err
	}
	k := &Kokoro{
		dir:        dir,
		gate:       gate,
		phonemizer: ph,
		alphabet:   letters,
		styles:     map[string][]float32{},
	}
	letters.onUnknown = k.warn
	path := filepath.Join(dir, "model.onnx")
	if err := checkReadable(path); err != nil {
		return nil, err
	}
	if k.session, err = rt.loadKokoro(path); err != nil {
		return nil, err
	}
	if err := k.warm(context.Background()); err != nil {
		return nil, errors.Join(fmt.Errorf("warming %s: %w", path, err), k.Close())
	}
	return k, nil
}

// loadKokoro loads the model with planar convolutions, which makes it two and a half times as fast,
// and with the frames of each id as an output.
func (r *Runtime) loadKokoro(path string) (*Session, error) {
	model, release, err := readPlanar(path, kokoroPatch)
	if err != nil {
		return nil, err
	}
	defer release()
	return r.LoadBytes(path, model, SessionOptions{
		Threads: kokoroThreads, Inputs: []string{"tokens", "style", "speed"},
		Outputs: []string{"audio", kokoroDurations},
	})
}

// Close releases the memory of the model and thereby of all its voices. No call may be running.
func (k *Kokoro) Close() error { return k.session.Close() }

// warm makes the model's first run, which is slower than later ones.
func (k *Kokoro) warm(ctx context.Context) error {
	b := k.alphabet.phrase("", "həlˈoʊ", "")
	return k.gate.Do(ctx, engine.Request.Urgency(), k.session.Threads(), func() error {
		begun := time.Now()
		_, _, err := k.run(ctx, b.ids, make([]float32, kokoroStyle), 1)
		k.throughput.record(len(b.ids), time.Since(begun))
		return err
	})
}

// run runs the model on a text, a style and a speed, and returns its sound and the frames of each
// id. It stops when ctx ends.
func (k *Kokoro) run(ctx context.Context, ids []int64, style []float32, speed float64) (pcm, frames []float32,
	err error) {
	var inputs []Value
	in := func(v Value, e error) {
		if e != nil {
			err = errors.Join(err, e)
			return
		}
		inputs = append(inputs, v)
	}
	outputs := make([]Value, 2)
	defer func() { err = errors.Join(err, destroy(inputs), destroy(outputs)) }()
	in(NewTensor(ids, 1, int64(len(ids))))
	in(NewTensor(style, 1, kokoroStyle))
	in(NewTensor([]float32{float32(speed)}, 1))
	if err != nil {
		return nil, nil, err
	}
	if err := k.session.RunUntil(ctx, inputs, outputs); err != nil {
		return nil, nil, err
	}
	pcm, err1 := Floats(outputs[0])
	frames, err2 := Floats(outputs[1])
	if err := errors.Join(err1, err2); err != nil {
		return nil, nil, err
	}
	if len(frames) != len(ids) || framesOf(frames)*kokoroHop != len(pcm) {
		return nil, nil, fmt.Errorf("onnx: %s: %d frames in %d values, and %d samples, for %d ids", k.session.name,
			framesOf(frames), len(frames), len(pcm), len(ids))
	}
	return pcm, advanceFrames(frames), nil
}

// advanceFrames moves all phonemes forward by kokoroLeadFrames: the first id, which is silent,
// loses the frames and the last one gains them.
func advanceFrames(frames []float32) []float32 {
	early := min(kokoroLeadFrames, frames[0])
	frames[0] -= early
	frames[len(frames)-1] += early
	return frames
}

// throughput measures how long the model takes for a text on this machine.
type throughput struct{ perID atomic.Int64 } // nanoseconds

// record takes the duration of a text of ids ids. The newest counts as much as all before it,
// because other load changes the speed of a machine within seconds.
func (t *throughput) record(ids int, d time.Duration) {
	perID := int64(d) / int64(ids)
	if before := t.perID.Load(); before > 0 {
		perID = (perID + before) / 2
	}
	t.perID.Store(perID)
}

// estimate returns the expected duration of a text of ids ids.
func (t *throughput) estimate(ids int) time.Duration {
	return time.Duration(t.perID.Load() * int64(ids))
}

func (k *Kokoro) warn(phoneme rune) {
	if k.Log != nil {
		k.Log.Warn("Kokoro does not know a phoneme and leaves it out", "phoneme", string(phoneme))
	}
}
