package onnx

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// A stage is a part of a model whose result at a place depends on its input
// around that place alone. So it may be run over a stretch of the input with
// its surroundings, and gives what it would have given there over all of it
// (but for the order in which ONNX Runtime adds, about the last three bits).
type stage struct {
	session *Session
	reach   int // how many places of the input to each side matter
	rate    int // places of the output for one of the input
	masked  bool
}

// loadStage cuts a part out of a model; it has to have that rate.
func (r *Runtime) loadStage(path string, model []byte, p part, rate, threads int) (stage, error) {
	graph, _, err := graphOf(model)
	if err != nil {
		return stage{}, err
	}
	s, err := reachOf(graph, p)
	if err != nil {
		return stage{}, err
	}
	if s.rate != float64(rate) || s.reach > maxReach {
		return stage{}, fmt.Errorf("from %q to %q a value becomes %g and depends on %g around it; %d and at most %d are expected", p.inputs, p.outputs, s.rate, s.reach, rate, maxReach)
	}
	session, err := r.loadPart(path, model, p, SessionOptions{Threads: threads})
	return stage{session, int(math.Ceil(s.reach)), rate, len(p.inputs) > 1}, err
}

// maxReach is beyond what any voice has; one that has more gains nothing by
// pieces.
const maxReach = 100

// track is what a stage is given or gives: rows of numbers, one a channel, for
// the places from begin on.
type track struct {
	rows  [][]float32
	begin int
}

// newTrack is a track over a tensor [1, channels, n], without a copy.
func newTrack(data []float32, channels, n int) *track {
	t := &track{rows: make([][]float32, channels)}
	for c := range t.rows {
		t.rows[c] = data[c*n : (c+1)*n : (c+1)*n]
	}
	return t
}

// end is the first place that is not there yet.
func (t *track) end() int {
	if len(t.rows) == 0 {
		return t.begin
	}
	return t.begin + len(t.rows[0])
}

// window is a copy of the places from a to b, as a tensor wants them.
func (t *track) window(a, b int) []float32 {
	out := make([]float32, 0, len(t.rows)*(b-a))
	for _, row := range t.rows {
		out = append(out, row[a-t.begin:b-t.begin]...)
	}
	return out
}

// add appends the places from a to b of a tensor that has n.
func (t *track) add(data []float32, n, a, b int) {
	if t.rows == nil {
		t.rows = make([][]float32, len(data)/n)
	}
	for c := range t.rows {
		t.rows[c] = append(t.rows[c], data[c*n+a:c*n+b]...)
	}
}

// forget drops the places before at.
func (t *track) forget(at int) {
	n := min(at, t.end()) - t.begin
	if n <= 0 {
		return
	}
	for c, row := range t.rows {
		t.rows[c] = append(row[:0:0], row[n:]...)
	}
	t.begin += n
}

// extend runs the stage over as much of in as makes out reach to places of the
// input, where all of the input has whole places. What in has before is not
// needed any more.
func (s stage) extend(ctx context.Context, out, in *track, to, whole int) error {
	from := out.end() / s.rate
	if to <= from {
		return nil
	}
	a, b := max(from-s.reach, 0), min(to+s.reach, whole)
	if a < in.begin || b > in.end() {
		return fmt.Errorf("onnx: %s: places %d to %d are wanted, %d to %d are there", s.session.name, a, b, in.begin, in.end())
	}
	made, err := s.run(ctx, in, a, b)
	if err != nil {
		return err
	}
	n := (b - a) * s.rate
	if len(made) == 0 || len(made)%n != 0 {
		return fmt.Errorf("onnx: %s: %d values of %d places, expected so many times %d", s.session.name, len(made), b-a, s.rate)
	}
	out.add(made, n, (from-a)*s.rate, (to-a)*s.rate)
	in.forget(to - s.reach)
	return nil
}

// run runs the stage over the places from a to b, until ctx ends.
func (s stage) run(ctx context.Context, in *track, a, b int) (made []float32, err error) {
	n := int64(b - a)
	var inputs []Value
	outputs := make([]Value, 1)
	defer func() { err = errors.Join(err, destroy(inputs), destroy(outputs)) }()
	v, err := NewTensor(in.window(a, b), 1, int64(len(in.rows)), n)
	if err != nil {
		return nil, err
	}
	inputs = append(inputs, v)
	if s.masked {
		ones := make([]float32, n)
		for i := range ones {
			ones[i] = 1
		}
		if v, err = NewTensor(ones, 1, 1, n); err != nil {
			return nil, err
		}
		inputs = append(inputs, v)
	}
	if err := s.session.RunUntil(ctx, inputs, outputs); err != nil {
		return nil, err
	}
	return Floats(outputs[0])
}
