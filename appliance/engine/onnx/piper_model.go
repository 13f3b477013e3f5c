package onnx

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sync/errgroup"
)

// The tensors of a Piper model that matter here; the exporter names them so in
// every voice.
const (
	// durationsTensor holds how many frames each id sounds.
	durationsTensor = "/Ceil_output_0"
	// lengthsTensor holds the same before they are rounded up to whole frames.
	lengthsTensor = "/Mul_1_output_0"
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
	flowStage = iota
	coarseStage
	fineStage
	stageCount
)

// wholePart is a whole model.
func wholePart(speakers bool) part {
	p := part{[]string{"input", "input_lengths", "scales"}, []string{soundTensor, durationsTensor}}
	if speakers {
		p.inputs = append(p.inputs, speakerInput)
	}
	return p
}

func encoderPart(speakers bool) part {
	p := wholePart(speakers)
	p.outputs = []string{latentTensor, maskTensor, durationsTensor, lengthsTensor}
	return p
}

// noisyEncoderPart is the front with the model's own chance taken out, so that it
// can be put in from outside.
func noisyEncoderPart(speakers bool) part {
	p := encoderPart(speakers)
	p.inputs = append(p.inputs, lengthNoiseTensor)
	p.outputs = append(p.outputs, spreadTensor)
	return p
}

func stagePart(i int) part {
	return [stageCount]part{
		flowStage:   {[]string{latentTensor, maskTensor}, []string{acousticTensor}},
		coarseStage: {[]string{acousticTensor}, []string{coarseTensor}},
		fineStage:   {[]string{coarseTensor}, []string{soundTensor}},
	}[i]
}

// durationsPatch, behind a Piper model, makes the durations an output. A file of
// Protocol Buffers joins what is repeated, so these bytes (ModelProto.graph →
// GraphProto.output → ValueInfoProto.name) add an entry to the graph's list.
const durationsPatch = "\x3a\x12\x62\x10\x0a\x0e" + durationsTensor

// maxVoiceModel bounds a voice's model: the largest Piper voices have 114 MB.
const maxVoiceModel = 1 << 30

// open loads the model: in parts, or, where it cannot be cut, in one.
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

// openWhole loads the model in one, with durations where it has them: behind it
// lies the durationsPatch.
func (p *Piper) openWhole(rt *Runtime, path string, model []byte) (err error) {
	edges := wholePart(p.config.NumSpeakers > 1)
	p.hasDurations = true
	p.wholeModel, err = rt.LoadBytes(path, model[:cap(model)], SessionOptions{
		Threads: p.cores, Inputs: edges.inputs, Outputs: edges.outputs,
	})
	if err == nil {
		return nil
	}
	// A voice from another exporter: it speaks, but does not tell when.
	p.hasDurations = false
	p.wholeModel, err = rt.LoadBytes(path, model, SessionOptions{
		Threads: p.cores, Inputs: edges.inputs, Outputs: edges.outputs[:1],
	})
	return err
}

// openParts cuts the model and loads its parts side by side, all of them or none.
func (p *Piper) openParts(rt *Runtime, file *modelFile, known *cachedVoice) error {
	rates := [stageCount]int{flowStage: 1, coarseStage: coarseRate, fineStage: piperHop / coarseRate}
	var loading errgroup.Group
	loading.Go(func() error { return p.openEncoder(rt, file, known) })
	loading.Go(func() error { // together they take a tenth of the front's time
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

// openEncoder loads the front: as ONNX Runtime has prepared it before, or cut out of
// the model, and keeps it then.
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
	p.noiseInput, p.encoderOutputs = false, len(plain.outputs) // of another exporter
	p.encoder, err = rt.loadPart(path, model, plain, SessionOptions{Threads: p.cores})
	return err
}

// loadEncoder cuts the front out of a model, loads it, and keeps it as it is then.
func (r *Runtime) loadEncoder(path string, model []byte, front part, threads int, known *cachedVoice) (*Session,
	error) {
	file := known.newEncoderFile()
	defer file.discard()
	s, err := r.loadPart(path, model, front,
		SessionOptions{Threads: threads, Portable: true, SaveOptimized: file.name()})
	if err == nil {
		file.commit()
	} else if file != nil { // it may be the disk that is at fault
		return r.loadPart(path, model, front, SessionOptions{Threads: threads, Portable: true})
	}
	return s, err
}

// cutOverhead is what a part may have beside what it has of the model: the
// descriptions of its edges, and 350 bytes for each convolution that is planar.
const cutOverhead = 64 << 10

// loadPart cuts a part out of model and loads it.
func (r *Runtime) loadPart(path string, model []byte, p part, o SessionOptions) (*Session, error) {
	room, release, err := memory(len(model) + cutOverhead) // only what is written to takes memory
	if err != nil {
		return nil, err
	}
	defer release()
	cut, err := cutGraph(room[:0], model, p)
	if err != nil {
		return nil, fmt.Errorf("onnx: cut %s: %w", path, err)
	}
	o.Inputs, o.Outputs = p.inputs, p.outputs
	return r.LoadBytes(path, cut, o)
}

// modelFile is a model that is read beside what can be done without it.
type modelFile struct {
	path  string
	done  chan struct{} // closed when what follows is known
	bytes []byte        // behind them, up to their capacity, lies the tail
	free  func() error
	err   error
}

// startReading begins to read a model, behind which tail is put. Who closes it waits for
// it.
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

// model waits for the model. It is good until close.
func (f *modelFile) model() ([]byte, error) {
	<-f.done
	return f.bytes, f.err
}

func (f *modelFile) close() {
	if <-f.done; f.err == nil {
		_ = f.free()
	}
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
