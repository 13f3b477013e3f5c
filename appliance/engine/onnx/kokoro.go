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
	// kokoroRateHz and kokoroHop are the model's sample rate, and how many samples
	// one of its frames has.
	kokoroRateHz = 24000
	kokoroHop    = 600
	// kokoroLeadFrames is how many frames each phoneme is heard before its durations say: of
	// words behind a pause the sound begins 40 to 60 ms before that, in six voices of
	// three languages (Piper's are within 10); Kokoro's authors take three frames off.
	kokoroLeadFrames = 2
	// kokoroThreads is how many cores one call takes.
	kokoroThreads = 2

	// kokoroDurations is the tensor that holds how many frames each id sounds, and
	// kokoroPatch, behind the model, makes it an output (see durationsPatch).
	kokoroDurations = "/encoder/Clip_output_0"
	kokoroPatch     = "\x3a\x1a\x62\x18\x0a\x16" + kokoroDurations
)

// Kokoro is one model with many voices: each is a style that the model is given
// beside the text, and styles can be blended. Any number of goroutines may use
// it.
type Kokoro struct {
	// Log gets a warning for each phoneme that the model does not know, once; nil:
	// none. It is set before the first use.
	Log *slog.Logger

	dir        string
	session    *Session
	gate       *engine.Gate
	ph         phonemizer
	alphabet   *alphabet
	throughput throughput

	mu     sync.Mutex
	styles map[string][]float32 // those that were asked for
}

// LoadKokoro loads model.onnx from dir, beside which the styles lie in voices/,
// and has it run once. The caller closes it.
func LoadKokoro(rt *Runtime, dir string, gate *engine.Gate, ph phonemizer) (*Kokoro, error) {
	letters, err := kokoroAlphabet()
	if err != nil {
		return nil, err
	}
	k := &Kokoro{
		dir:      dir,
		gate:     gate,
		ph:       ph,
		alphabet: letters,
		styles:   map[string][]float32{},
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

// loadKokoro loads the model with its convolutions planar, which makes it two and a
// half times as quick, and with the frames of each id as an output.
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

// Close gives the model's memory back, and with it that of all its voices. No
// call may be running.
func (k *Kokoro) Close() error { return k.session.Close() }

// warm makes the model's first run, which is slower than all later ones.
func (k *Kokoro) warm(ctx context.Context) error {
	b := k.alphabet.phrase("", "həlˈoʊ", "")
	return k.gate.Do(ctx, engine.Request.Urgency(), k.session.Threads(), func() error {
		begun := time.Now()
		_, _, err := k.run(ctx, b.ids, make([]float32, kokoroStyle), 1)
		k.throughput.record(len(b.ids), time.Since(begun))
		return err
	})
}

// runWhole gives the model a text, a style and a speed, and returns its sound and
// the frames of each id. It breaks off when ctx ends.
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
		return nil, nil, fmt.Errorf("onnx: %s: %d frames of %d ids, and %d samples of %d ids", k.session.name,
			framesOf(frames), len(frames), len(pcm), len(ids))
	}
	return pcm, advanceFrames(frames), nil
}

// advanceFrames are the frames of ids as they are heard: what the first, in which nothing
// is said, has less, the last has more.
func advanceFrames(frames []float32) []float32 {
	early := min(kokoroLeadFrames, frames[0])
	frames[0] -= early
	frames[len(frames)-1] += early
	return frames
}

// throughput is how long the model lately took for a text on this machine.
type throughput struct{ perID atomic.Int64 } // nanoseconds

// record notes how long a text of so many ids took. The newest counts as much as all
// before it: the pace of a machine that others use, too, changes within seconds.
func (p *throughput) record(ids int, d time.Duration) {
	one := int64(d) / int64(ids)
	if before := p.perID.Load(); before > 0 {
		one = (one + before) / 2
	}
	p.perID.Store(one)
}

// word is how long a text of so many ids probably takes.
func (p *throughput) estimate(ids int) time.Duration {
	return time.Duration(p.perID.Load() * int64(ids))
}

func (k *Kokoro) warn(phoneme rune) {
	if k.Log != nil {
		k.Log.Warn("Kokoro does not know a phoneme and leaves it out", "phoneme", string(phoneme))
	}
}
