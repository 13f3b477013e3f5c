package onnx

import (
	"errors"
	"path/filepath"
)

// StraightPiper is the graph of a voice, straight: no words, no phonemes, no
// loudness, only the numbers in and the sound out.
type StraightPiper struct {
	graph *Graph
	voice *Piper
}

// Piper loads the graph from dir, the folder of voice, which finds the numbers
// for it.
func (y *Yardstick) Piper(dir string, voice *Piper) (*StraightPiper, error) {
	graph, err := y.Load(filepath.Join(dir, "voice.onnx"), piperThreads)
	if err != nil {
		return nil, err
	}
	return &StraightPiper{graph, voice}, nil
}

// Prepare makes the runs of the graph that Synthesize makes for s, to be run
// again and again; release gives them back.
func (p *StraightPiper) Prepare(s string) (run func() error, release func(), err error) {
	var runs []func() error
	var releases []func()
	release = func() {
		for _, r := range releases {
			r()
		}
	}
	for _, sentence := range p.voice.sentences(s) {
		ids, sounds, err := p.voice.ids(sentence)
		if err == nil && len(sounds) > 0 {
			var r func() error
			var free func()
			if r, free, err = p.graph.Prepare([]string{"output"}, p.inputs(ids)...); err == nil {
				runs, releases = append(runs, r), append(releases, free)
			}
		}
		if err != nil {
			release()
			return nil, nil, err
		}
	}
	return func() (err error) {
		for _, r := range runs {
			err = errors.Join(err, r())
		}
		return err
	}, release, nil
}

func (p *StraightPiper) inputs(ids []int64) []Input {
	n := int64(len(ids))
	inputs := []Input{
		{Name: "input", Shape: []int64{1, n}, Data: ids},
		{Name: "input_lengths", Shape: []int64{1}, Data: []int64{n}},
		{Name: "scales", Shape: []int64{3}, Data: []float32{0, float32(p.voice.config.Inference.LengthScale), 0}},
	}
	if p.voice.config.NumSpeakers > 1 {
		inputs = append(inputs, Input{Name: "sid", Shape: []int64{1}, Data: []int64{0}})
	}
	return inputs
}

// Close gives the graph's memory back.
func (p *StraightPiper) Close() error { return p.graph.Close() }
