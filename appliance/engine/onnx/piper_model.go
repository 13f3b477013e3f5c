package onnx

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// The tensors of a Piper model that matter here; the exporter names them so in
// every voice.
const (
	// durationsTensor holds how many frames each id sounds.
	durationsTensor = "/Ceil_output_0"
	// latentTensor and maskTensor are what the text has become before it is
	// sound: numbers a frame, and a 1 for each.
	latentTensor = "/Add_output_0"
	maskTensor   = "/Cast_2_output_0"
	// acousticTensor is that latent as the decoder takes it, and coarseTensor
	// the decoder's work up to where it has gone from one value a frame to
	// coarseRate of them.
	acousticTensor = "/Mul_7_output_0"
	coarseTensor   = "/dec/LeakyRelu_1_output_0"
	soundTensor    = "output"

	speakerInput = "sid"

	// lengthNoiseTensor is the noise from which the durations come, and
	// spreadTensor how far each number of the latent may lie from its mean. Both
	// belong to what the model leaves to chance.
	lengthNoiseTensor   = "/dp/RandomNormalLike_output_0"
	lengthNoiseChannels = 2
	spreadTensor        = "/Exp_1_output_0"
)

// The parts of a Piper model. The front sees the whole text; of the others each
// frame depends on those around it alone, so they run over as much as is wanted.
// The decoder is in two: its first part looks ten frames to each side but is
// quick, its second makes up most of all the work and looks hardly further
// than one, so that sound in short pieces costs little more than in one.
const (
	flowPart = iota
	coarsePart
	finePart
	parts
)

// wholeOf is a whole model.
func wholeOf(speakers bool) part {
	p := part{[]string{"input", "input_lengths", "scales"}, []string{soundTensor, durationsTensor}}
	if speakers {
		p.inputs = append(p.inputs, speakerInput)
	}
	return p
}

func frontOf(speakers bool) part {
	p := wholeOf(speakers)
	p.outputs = []string{latentTensor, maskTensor, durationsTensor}
	return p
}

// chancyFrontOf is the front with the model's own chance taken out, so that it
// can be put in from outside.
func chancyFrontOf(speakers bool) part {
	p := frontOf(speakers)
	p.inputs = append(p.inputs, lengthNoiseTensor)
	p.outputs = append(p.outputs, spreadTensor)
	return p
}

func behindFront(i int) part {
	return [parts]part{
		flowPart:   {[]string{latentTensor, maskTensor}, []string{acousticTensor}},
		coarsePart: {[]string{acousticTensor}, []string{coarseTensor}},
		finePart:   {[]string{coarseTensor}, []string{soundTensor}},
	}[i]
}

// durationsPatch, behind a Piper model, makes the durations an output. A file of
// Protocol Buffers joins what is repeated, so these bytes (ModelProto.graph →
// GraphProto.output → ValueInfoProto.name) add an entry to the graph's list.
const durationsPatch = "\x3a\x12\x62\x10\x0a\x0e" + durationsTensor

// maxVoiceModel bounds a voice's model: the largest Piper voices have 114 MB.
const maxVoiceModel = 1 << 30

// open loads the model: in parts, or, where it cannot be cut, in one.
func (p *Piper) open(rt *Runtime, path string) error {
	if err := readable(path); err != nil {
		return err
	}
	if p.uncut = p.openParts(rt, path); p.uncut == nil {
		return nil
	}
	return p.openWhole(rt, path)
}

// openWhole loads the model in one, with durations where it has them.
func (p *Piper) openWhole(rt *Runtime, path string) error {
	model, release, err := readModel(path, durationsPatch)
	if err != nil {
		return err
	}
	defer release()
	edges := wholeOf(p.config.NumSpeakers > 1)
	p.timed = true
	p.whole, err = rt.LoadBytes(path, model, SessionOptions{
		Threads: p.cores, Inputs: edges.inputs, Outputs: edges.outputs,
	})
	if err == nil {
		return nil
	}
	// A voice from another exporter: it speaks, but does not tell when.
	p.timed = false
	p.whole, err = rt.LoadBytes(path, model[:len(model)-len(durationsPatch)], SessionOptions{
		Threads: p.cores, Inputs: edges.inputs, Outputs: edges.outputs[:1],
	})
	return err
}

// openParts cuts the model and loads its parts, all of them or none.
func (p *Piper) openParts(rt *Runtime, path string) (err error) {
	model, release, err := readModel(path, "")
	if err != nil {
		return err
	}
	defer release()
	room, release, err := memory(len(model) + cutRoom)
	if err != nil {
		return err
	}
	defer release()
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
			p.front, p.behind = nil, [parts]stage{}
		}
	}()
	speakers := p.config.NumSpeakers > 1
	p.front, err = rt.loadPart(path, room, model, chancyFrontOf(speakers), p.cores)
	if p.chancy = err == nil; !p.chancy { // of another exporter
		p.front, err = rt.loadPart(path, room, model, frontOf(speakers), p.cores)
	}
	if err != nil {
		return err
	}
	if p.outputs = len(frontOf(speakers).outputs); p.chancy {
		p.outputs = len(chancyFrontOf(speakers).outputs)
	}
	rates := [parts]int{flowPart: 1, coarsePart: coarseRate, finePart: piperHop / coarseRate}
	for i := range p.behind {
		if p.behind[i], err = rt.loadStage(path, room, model, behindFront(i), rates[i], p.cores); err != nil {
			return err
		}
	}
	return nil
}

// cutRoom is what a part may have beside what it has of the model: the
// descriptions of its edges.
const cutRoom = 4096

// loadPart cuts a part out of model and loads it; room is where it is put
// together.
func (r *Runtime) loadPart(path string, room, model []byte, p part, threads int) (*Session, error) {
	cut, err := cutGraph(room[:0], model, p)
	if err != nil {
		return nil, fmt.Errorf("onnx: cut %s: %w", path, err)
	}
	return r.LoadBytes(path, cut, SessionOptions{Threads: threads, Inputs: p.inputs, Outputs: p.outputs})
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
		return nil, nil, fmt.Errorf("voice: %s has %d bytes; a voice's model has 1 to %d", path, size, maxVoiceModel)
	}
	model, release, err = memory(size + len(tail))
	if err != nil {
		return nil, nil, fmt.Errorf("voice: memory for %s: %w", path, err)
	}
	if _, err := io.ReadFull(f, model[:size]); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("voice: read %s: %w", path, err), release())
	}
	copy(model[size:], tail)
	return model, release, nil
}

// memory is so many bytes beside Go's heap.
func memory(size int) (b []byte, release func() error, err error) {
	b, err = syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	return b, func() error { return syscall.Munmap(b) }, err
}
