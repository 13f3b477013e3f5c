package onnx

import (
	"context"
	"errors"
	"fmt"
	"math"

	"golang.org/x/sync/errgroup"
)

// A stage is a part of a model whose result at a position only depends on its input around that
// position. So it can run over a range of the input with its surroundings and gives the same result
// there as over all of it (except for ONNX Runtime's order of addition, about the last three bits).
type stage struct {
	session *Session
	reach   int // input positions to each side that affect a result
	rate    int // output positions per input position
	masked  bool
	splits  int // ranges into which the input is split; one thread runs each
	cores   int // ranges that run at once
}

// maxSplitReach is the reach up to which a stage runs on both cores by splitting its input. With
// multithreaded operators the threads wait for each other some hundred times a call, which costs 5
// to 9 % more of a sentence than what such a stage computes twice at the joints; with the reach of
// a flow, 32, the joints cost more. The number of ranges does not depend on the number of cores, so
// that the samples do not.
const maxSplitReach = 16

// loadStage cuts a stage out of a model. The stage must have the given rate.
func (r *Runtime) loadStage(path string, model []byte, p part, rate, threads int) (stage, error) {
	graph, _, err := graphOf(model)
	if err != nil {
		return stage{}, err
	}
	s, err := receptiveFieldOf(graph, p)
	if err != nil {
		return stage{}, err
	}
	if s.rate != float64(rate) || s.reach > maxReach {
		return stage{},
			fmt.Errorf("from %q to %q a value becomes %g and depends on %g around it; %d and at most %d are expected",
				p.inputs, p.outputs, s.rate, s.reach, rate, maxReach)
	}
	reach, sides, cores := int(math.Ceil(s.reach)), 1, 1
	if reach <= maxSplitReach {
		sides, cores, threads = piperThreads, SessionOptions{Threads: threads}.threads(), 1
	}
	session, err := r.loadPart(path, model, p, SessionOptions{Threads: threads})
	return stage{session, reach, rate, len(p.inputs) > 1, sides, cores}, err
}

// maxReach is more than any voice has; a stage with a longer reach gains nothing from pieces.
const maxReach = 100

// frameBuffer holds the input or output of a stage: a row of numbers for each channel, for the
// positions from begin on.
type frameBuffer struct {
	rows  [][]float32
	begin int
}

// newFrameBuffer returns a buffer over a tensor [1, channels, n], without a copy.
func newFrameBuffer(data []float32, channels, n int) *frameBuffer {
	t := &frameBuffer{rows: make([][]float32, channels)}
	for c := range t.rows {
		t.rows[c] = data[c*n : (c+1)*n : (c+1)*n]
	}
	return t
}

// end returns the first position after the buffer.
func (f *frameBuffer) end() int {
	if len(f.rows) == 0 {
		return f.begin
	}
	return f.begin + len(f.rows[0])
}

// window returns a copy of the positions from a to b in the layout of a tensor.
func (f *frameBuffer) window(a, b int) []float32 {
	out := make([]float32, 0, len(f.rows)*(b-a))
	for _, row := range f.rows {
		out = append(out, row[a-f.begin:b-f.begin]...)
	}
	return out
}

// add appends the positions from a to b of a tensor with n positions.
func (f *frameBuffer) add(data []float32, n, a, b int) {
	if f.rows == nil {
		f.rows = make([][]float32, len(data)/n)
	}
	for c := range f.rows {
		f.rows[c] = append(f.rows[c], data[c*n+a:c*n+b]...)
	}
}

// dropBefore drops the positions before at.
func (f *frameBuffer) dropBefore(at int) {
	n := min(at, f.end()) - f.begin
	if n <= 0 {
		return
	}
	for c, row := range f.rows {
		f.rows[c] = append(row[:0:0], row[n:]...)
	}
	f.begin += n
}

// A frameRange is the positions from from to to, with the positions from a to b that affect them.
type frameRange struct{ from, to, a, b int }

// ranges splits the positions from from to to; whole is the length of the input. None is shorter
// than the reach.
func (s stage) ranges(from, to, whole int) []frameRange {
	cut := make([]frameRange, max(1, min(s.splits, (to-from)/max(1, s.reach))))
	at := from
	for i := range cut {
		end := from + (to-from)*(i+1)/len(cut)
		cut[i] = frameRange{at, end, max(at-s.reach, 0), min(end+s.reach, whole)}
		at = end
	}
	return cut
}

// extend runs the stage over as much of in as extends out to position to of the input; whole is the
// length of the input. It drops what is no longer needed from in.
func (s stage) extend(ctx context.Context, out, in *frameBuffer, to, whole int) error {
	from := out.end() / s.rate
	if to <= from {
		return nil
	}
	cut := s.ranges(from, to, whole)
	if a, b := cut[0].a, cut[len(cut)-1].b; a < in.begin || b > in.end() {
		return fmt.Errorf("onnx: %s: positions %d to %d are needed, %d to %d are available", s.session.name, a, b,
			in.begin,
			in.end())
	}
	made := make([][]float32, len(cut))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(s.cores)
	for i, c := range cut {
		work.Go(func() (err error) { made[i], err = s.run(ctx, in, c.a, c.b); return err })
	}
	if err := work.Wait(); err != nil {
		return err
	}
	for i, c := range cut {
		out.add(made[i], (c.b-c.a)*s.rate, (c.from-c.a)*s.rate, (c.to-c.a)*s.rate)
	}
	in.dropBefore(to - s.reach)
	return nil
}

// run runs the stage over the positions from a to b, until ctx ends.
func (s stage) run(ctx context.Context, in *frameBuffer, a, b int) (made []float32, err error) {
	n := b - a
	var inputs []Value
	outputs := make([]Value, 1)
	defer func() { err = errors.Join(err, destroy(inputs), destroy(outputs)) }()
	v, err := NewTensor(in.window(a, b), 1, int64(len(in.rows)), int64(n))
	if err != nil {
		return nil, err
	}
	inputs = append(inputs, v)
	if s.masked {
		ones := make([]float32, n)
		for i := range ones {
			ones[i] = 1
		}
		if v, err = NewTensor(ones, 1, 1, int64(n)); err != nil {
			return nil, err
		}
		inputs = append(inputs, v)
	}
	if err := s.session.RunUntil(ctx, inputs, outputs); err != nil {
		return nil, err
	}
	made, err = Floats(outputs[0])
	if err == nil && (len(made) == 0 || len(made)%(n*s.rate) != 0) {
		err = fmt.Errorf("onnx: %s: %d values for %d positions, expected a multiple of %d per position", s.session.name,
			len(made), n,
			s.rate)
	}
	return made, err
}
