package onnx

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sync/errgroup"
)

// The relevant tensors of a Piper model, as the exporter names them in every voice.
const (
	// durationsTensor holds the number of frames of each id.
	durationsTensor = "/Ceil_output_0"
	// lengthsTensor holds the same before rounding up to whole frames.
	lengthsTensor = "/Mul_1_output_0"
	// latentTensor and maskTensor are the encoder's output for each frame: a vector, and a 1.
	latentTensor = "/Add_output_0"
	maskTensor   = "/Cast_2_output_0"
	// acousticTensor is the latent in the form that the decoder takes. coarseTensor is the
	// decoder's output after upsampling from one value per frame to coarseRate values.
	acousticTensor = "/Mul_7_output_0"
	coarseTensor   = "/dec/LeakyRelu_1_output_0"
	soundTensor    = "output"

	speakerInput = "sid"

	// lengthNoiseTensor is the noise from which the durations come, and spreadTensor is the
	// standard deviation of each number of the latent.
	lengthNoiseTensor   = "/dp/RandomNormalLike_output_0"
	lengthNoiseChannels = 2
	spreadTensor        = "/Exp_1_output_0"
)

// The stages of a Piper model after the encoder. The encoder needs the whole text; in the stages
// each frame only depends on the frames around it, so they can run over any range. The decoder is
// split in two: its first part looks ten frames to each side but is fast; its second part does most
// of all the work and looks hardly further than one frame, so that sound in short pieces costs
// little more than in one.
const (
	flowStage = iota
	coarseStage
	fineStage
	stageCount
)

// wholePart returns the whole model as a part.
func wholePart(speakers bool) part {
	p := part{[]string{"input", "input_lengths", "scales"}, []string{soundTensor, durationsTensor}}
	if speakers {
		p.inputs = append(p.inputs, speakerInput)
	}
	return p
}

// encoderPart returns the encoder as a part.
func encoderPart(speakers bool) part {
	p := wholePart(speakers)
	p.outputs = []string{latentTensor, maskTensor, durationsTensor, lengthsTensor}
	return p
}

// noisyEncoderPart returns the encoder without the model's own random generator; the noise is an
// input instead.
func noisyEncoderPart(speakers bool) part {
	p := encoderPart(speakers)
	p.inputs = append(p.inputs, lengthNoiseTensor)
	p.outputs = append(p.outputs, spreadTensor)
	return p
}

// stagePart returns stage i as a part.
func stagePart(i int) part {
	return [stageCount]part{
		flowStage:   {[]string{latentTensor, maskTensor}, []string{acousticTensor}},
		coarseStage: {[]string{acousticTensor}, []string{coarseTensor}},
		fineStage:   {[]string{coarseTensor}, []string{soundTensor}},
	}[i]
}

// durationsPatch, appended to a Piper model, makes the durations an output. Protocol Buffers
// concatenates repeated fields, so these bytes (ModelProto.graph → GraphProto.output →
// ValueInfoProto.name) add an entry to the graph's outputs.
const durationsPatch = "\x3a\x12\x62\x10\x0a\x0e" + durationsTensor

// maxVoiceModel limits a voice's model; the largest Piper voices have 114 MB.
const maxVoiceModel = 1 << 30

// open loads the model in parts, or in one piece if it cannot be cut.
func (p *Piper) open(rt *Runtime, file *modelFile, known *cachedVoice) error {
	if p.streamError = p.openParts(rt, file, known); p.streamError == nil {
		return nil
	}
	model, err := file.model()
	if err != nil {
		return err
	}
	return p.openWhole(rt, file.path, model)
}

// openWhole loads the model in one piece, with durations if it has them; the durationsPatch follows
// it in memory.
func (p *Piper) openWhole(rt *Runtime, path string, model []byte) (err error) {
	edges := wholePart(p.config.NumSpeakers > 1)
	p.hasDurations = true
	p.wholeModel, err = rt.LoadBytes(path, model[:cap(model)], SessionOptions{
		Threads: p.cores, Inputs: edges.inputs, Outputs: edges.outputs,
	})
	if err == nil {
		return nil
	}
	// A voice from another exporter speaks but reports no durations.
	p.hasDurations = false
	p.wholeModel, err = rt.LoadBytes(path, model, SessionOptions{
		Threads: p.cores, Inputs: edges.inputs, Outputs: edges.outputs[:1],
	})
	return err
}

// openParts cuts the model and loads its parts in parallel, all or none.
func (p *Piper) openParts(rt *Runtime, file *modelFile, known *cachedVoice) error {
	rates := [stageCount]int{flowStage: 1, coarseStage: coarseRate, fineStage: piperHop / coarseRate}
	var loading errgroup.Group
	loading.Go(func() error { return p.openEncoder(rt, file, known) })
	loading.Go(func() error { // together they take a tenth of the encoder's time
		model, err := file.model()
		if err != nil {
			return err
		}
		for i := range p.stages {
			if p.stages[i], err = rt.loadStage(file.path, model, stagePart(i), rates[i], p.cores); err != nil {
				break
			}
		}
		return err
	})
	if err := loading.Wait(); err != nil {
		err = errors.Join(err, p.Close())
		p.encoder, p.stages = nil, [stageCount]stage{}
		return err
	}
	return nil
}

// openEncoder loads the cached encoder, or cuts it out of the model and caches it.
func (p *Piper) openEncoder(rt *Runtime, file *modelFile, known *cachedVoice) (err error) {
	chancy, plain := noisyEncoderPart(p.config.NumSpeakers > 1), encoderPart(p.config.NumSpeakers > 1)
	p.noiseInput, p.encoderOutputs = true, len(chancy.outputs)
	if prepared, release := known.encoder(); prepared != nil {
		p.encoder, err = rt.LoadBytes(file.path, prepared, SessionOptions{
			Threads:   p.cores,
			Inputs:    chancy.inputs,
			Outputs:   chancy.outputs,
			Optimized: true,
		})
		release()
		if err == nil {
			if known.matches() {
				return nil
			}
			if err := p.encoder.Close(); err != nil {
				return err
			}
		}
	}
	path := file.path
	model, err := file.model()
	if err != nil {
		return err
	}
	if p.encoder, err = rt.loadEncoder(path, model, chancy, p.cores, known); err == nil {
		return nil
	}
	p.noiseInput, p.encoderOutputs = false, len(plain.outputs) // from another exporter
	p.encoder, err = rt.loadPart(path, model, plain, SessionOptions{Threads: p.cores})
	return err
}

// loadEncoder cuts the encoder out of a model, loads it, and caches the optimized result.
func (r *Runtime) loadEncoder(path string, model []byte, encoder part, threads int, known *cachedVoice) (*Session,
	error) {
	file := known.newEncoderFile()
	defer file.discard()
	s, err := r.loadPart(path, model, encoder,
		SessionOptions{Threads: threads, Portable: true, SaveOptimized: file.name()})
	if err == nil {
		file.commit()
	} else if file != nil { // the disk may be the cause
		return r.loadPart(path, model, encoder, SessionOptions{Threads: threads, Portable: true})
	}
	return s, err
}

// cutOverhead is the size that a part may have in addition to its share of the model: the
// descriptions of its inputs and outputs, and 350 bytes for each planar convolution.
const cutOverhead = 64 << 10

// loadPart cuts a part out of model and loads it.
func (r *Runtime) loadPart(path string, model []byte, p part, o SessionOptions) (*Session, error) {
	buffer, release, err := memory(len(model) + cutOverhead) // only pages that are written use memory
	if err != nil {
		return nil, err
	}
	defer release()
	cut, err := cutGraph(buffer[:0], model, p)
	if err != nil {
		return nil, fmt.Errorf("onnx: cut %s: %w", path, err)
	}
	o.Inputs, o.Outputs = p.inputs, p.outputs
	return r.LoadBytes(path, cut, o)
}

// modelFile is a model that is read in the background.
type modelFile struct {
	path  string
	done  chan struct{} // closed when the following fields are set
	bytes []byte        // the tail follows, up to the capacity
	free  func() error
	err   error
}

// startReading starts reading a model and appends tail. close waits until it is read.
func startReading(path, tail string) *modelFile {
	f := &modelFile{path: path, done: make(chan struct{})}
	go func() {
		defer close(f.done)
		if f.bytes, f.free, f.err = readModel(path, tail); f.err == nil {
			f.bytes = f.bytes[: len(f.bytes)-len(tail) : len(f.bytes)]
		}
	}()
	return f
}

// model waits for the model, which is valid until close.
func (f *modelFile) model() ([]byte, error) {
	<-f.done
	return f.bytes, f.err
}

func (f *modelFile) close() {
	if <-f.done; f.err == nil {
		_ = f.free()
	}
}

// readModel reads a file and appends tail, in memory that Go's collector does not count. Tens of
// megabytes that are only needed for a second would otherwise raise its next goal. The bytes are
// valid until release.
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

// memory allocates bytes outside Go's heap.
func memory(size int) (b []byte, release func() error, err error) {
	b, err = syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	return b, func() error { return syscall.Munmap(b) }, err
}
