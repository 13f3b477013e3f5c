package yardstick

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// piperThreads is how many cores the engine gives to one sentence.
const piperThreads = 2

// A numberer is a voice that says which numbers its graph is given for a text.
type numberer interface {
	// PhonemeIDs returns those of each sentence.
	PhonemeIDs(ctx context.Context, text string) ([][]int64, error)
}

// Piper is the graph of a voice: no words, no phonemes, no loudness, only the
// numbers in and the sound out.
type Piper struct {
	graph       *Graph
	voice       numberer
	lengthScale float32
	speakers    int
}

// OpenPiper loads the graph from dir, the folder of voice.
func (y *ONNX) OpenPiper(dir string, voice numberer) (*Piper, error) {
	about, err := os.ReadFile(filepath.Join(dir, "voice.json"))
	if err != nil {
		return nil, fmt.Errorf("yardstick: %w", err)
	}
	var config struct {
		Inference struct {
			LengthScale float32 `json:"length_scale"`
		} `json:"inference"`
		Speakers int `json:"num_speakers"`
	}
	config.Inference.LengthScale = 1
	if err := json.Unmarshal(about, &config); err != nil {
		return nil, fmt.Errorf("yardstick: voice.json in %s: %w", dir, err)
	}
	graph, err := y.Load(filepath.Join(dir, "voice.onnx"), piperThreads)
	if err != nil {
		return nil, err
	}
	return &Piper{graph, voice, config.Inference.LengthScale, config.Speakers}, nil
}

// Prepare makes the runs of the graph that the engine makes for a text, to be
// run again and again; release gives them back.
func (p *Piper) Prepare(ctx context.Context, text string) (run func() error, release func(), err error) {
	sentences, err := p.voice.PhonemeIDs(ctx, text)
	if err != nil {
		return nil, nil, err
	}
	var runs []func() error
	var releases []func()
	release = func() {
		for _, r := range releases {
			r()
		}
	}
	for _, ids := range sentences {
		r, free, err := p.graph.Prepare([]string{"output"}, p.inputs(ids)...)
		if err != nil {
			release()
			return nil, nil, err
		}
		runs, releases = append(runs, r), append(releases, free)
	}
	return func() (err error) {
		for _, r := range runs {
			err = errors.Join(err, r())
		}
		return err
	}, release, nil
}

// inputs are those of one sentence, without noise and at the voice's own speed.
func (p *Piper) inputs(ids []int64) []Input {
	n := int64(len(ids))
	inputs := []Input{
		{Name: "input", Shape: []int64{1, n}, Data: ids},
		{Name: "input_lengths", Shape: []int64{1}, Data: []int64{n}},
		{Name: "scales", Shape: []int64{3}, Data: []float32{0, p.lengthScale, 0}},
	}
	if p.speakers > 1 {
		inputs = append(inputs, Input{Name: "sid", Shape: []int64{1}, Data: []int64{0}})
	}
	return inputs
}

// Close gives the graph's memory back.
func (p *Piper) Close() error { return p.graph.Close() }
