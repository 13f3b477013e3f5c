package onnx

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// durationsOutput is the node of a Piper model that holds how many frames each
// id sounds; the exporter names it so in every voice.
const durationsOutput = "/Ceil_output_0"

// durationsPatch, behind a Piper model, makes that node an output. A file of
// Protocol Buffers joins what is repeated, so these bytes (ModelProto.graph →
// GraphProto.output → ValueInfoProto.name) add an entry to the graph's list.
const durationsPatch = "\x3a\x12\x62\x10\x0a\x0e" + durationsOutput

// maxVoiceModel bounds a voice's model: the largest Piper voices have 114 MB.
const maxVoiceModel = 1 << 30

// open loads the model, with durations where it has them.
func (p *Piper) open(rt *Runtime, path string) error {
	if err := readable(path); err != nil {
		return err
	}
	model, release, err := readModel(path, durationsPatch)
	if err != nil {
		return err
	}
	defer release()
	inputs := []string{"input", "input_lengths", "scales"}
	if p.config.NumSpeakers > 1 {
		inputs = append(inputs, "sid")
	}
	p.timed = true
	p.session, err = rt.LoadBytes(path, model, SessionOptions{
		Threads: piperThreads, Inputs: inputs, Outputs: []string{"output", durationsOutput},
	})
	if err == nil {
		return nil
	}
	// A voice from another exporter: it speaks, but does not tell when.
	p.timed = false
	p.session, err = rt.LoadBytes(path, model[:len(model)-len(durationsPatch)], SessionOptions{
		Threads: piperThreads, Inputs: inputs, Outputs: []string{"output"},
	})
	return err
}

// readModel reads a file with tail behind it into memory that the collector
// does not count: tens of megabytes that are needed for a second only would
// otherwise raise its next goal. The bytes are good until release.
func readModel(path, tail string) (model []byte, release func() error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("voice: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("voice: %w", err)
	}
	size := int(info.Size())
	if size == 0 || size > maxVoiceModel {
		return nil, nil, fmt.Errorf("voice: %s has %d bytes; a Piper model has 1 to %d", path, size, maxVoiceModel)
	}
	model, err = syscall.Mmap(-1, 0, size+len(tail), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, nil, fmt.Errorf("voice: memory for %s: %w", path, err)
	}
	release = func() error { return syscall.Munmap(model) }
	if _, err := io.ReadFull(f, model[:size]); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("voice: read %s: %w", path, err), release())
	}
	copy(model[size:], tail)
	return model, release, nil
}

// run gives the model its numbers and returns its sound and, when it tells,
// the frames of each id. The noise scales are 0: a Piper model adds noise to
// the sound and to the durations, and without it the same text gives the same
// samples, bit by bit, at the same word error.
func (p *Piper) run(ids []int64, speed float64) (pcm, frames []float32, err error) {
	n := int64(len(ids))
	scales := []float32{0, float32(p.config.Inference.LengthScale / speed), 0}
	var inputs, outputs []Value
	defer func() {
		for _, v := range append(inputs, outputs...) {
			if v != nil {
				err = errors.Join(err, v.Destroy())
			}
		}
	}()
	in := func(v Value, e error) {
		if e != nil {
			err = errors.Join(err, e)
			return
		}
		inputs = append(inputs, v)
	}
	in(NewTensor(ids, 1, n))
	in(NewTensor([]int64{n}, 1))
	in(NewTensor(scales, 3))
	if p.config.NumSpeakers > 1 {
		in(NewTensor([]int64{0}, 1))
	}
	if err != nil {
		return nil, nil, err
	}
	outputs = make([]Value, 1, 2)
	if p.timed {
		outputs = append(outputs, nil)
	}
	if err := p.session.Run(inputs, outputs); err != nil {
		return nil, nil, err
	}
	if pcm, err = Floats(outputs[0]); err != nil || !p.timed {
		return pcm, nil, err
	}
	frames, err = Floats(outputs[1])
	return pcm, frames, err
}
