package llama

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ggufHeader is the beginning of a GGUF file, little-endian:
// github.com/ggml-org/ggml/blob/master/docs/gguf.md.
type ggufHeader struct {
	Magic   [4]byte
	Version uint32
	Tensors uint64
	Keys    uint64
}

// checkGGUF rejects files that are obviously not models with a clear error; the library checks the
// rest.
func checkGGUF(path string) error {
	if path == "" {
		return errors.New("model path is empty")
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("cannot open the model: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return fmt.Errorf("cannot open the model: %w", err)
	} else if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file: a GGUF file is required", path)
	}
	var h ggufHeader
	switch err := binary.Read(f, binary.LittleEndian, &h); {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s is too short for a GGUF file", path)
	case err != nil:
		return fmt.Errorf("cannot read the model: %w", err)
	case string(h.Magic[:]) != "GGUF":
		return fmt.Errorf("%s is not a GGUF file: it begins with %q, not %q", path, h.Magic, "GGUF")
	case h.Version < 2 || h.Version > 3:
		return fmt.Errorf("%s is GGUF version %d: 2 and 3 are supported", path, h.Version)
	case h.Tensors == 0 || h.Tensors > 1<<20 || h.Keys == 0 || h.Keys > 1<<20:
		return fmt.Errorf("%s is damaged: its header counts %d tensors and %d keys", path, h.Tensors, h.Keys)
	}
	return nil
}

// openModel loads the weights. The file is read, not mapped: the weights are repacked for this
// processor while they load, and with a mapping both copies count as memory (1.99 instead of 1.38
// GB for Qwen 1.5B).
func (l *library) openModel(path string) (handle, error) {
	l.clearError()
	p := l.modelDefaultParams()
	p.gpuLayers = 0
	p.loadMode = loadModeRead
	abs, err := filepath.Abs(path)
	if err != nil {
		return 0, fmt.Errorf("model %q: %w", path, err)
	}
	model := l.modelLoadFromFile(abs, p)
	if model == 0 {
		return 0, fmt.Errorf("libllama cannot load %s: it is damaged, truncated, or of an unknown kind%s", path,
			l.takeError())
	}
	if l.modelHasEncoder(model) || l.modelIsDiffusion(model) {
		l.modelFree(model)
		return 0, fmt.Errorf("%s does not generate text from left to right: a chat model is required", path)
	}
	return model, nil
}

// shape is the size of a context.
type shape struct {
	cells, sequences, batchTokens, threads int
}

func (o Options) shape() shape {
	return shape{
		cells:     o.ContextTokens,
		sequences: o.sequences() + promptSequences,
		// A step of prompts only, or of some with a token for every reply.
		batchTokens: max(stepTokensWhole, stepTokensWithReplies+o.sequences()),
		threads:     o.Threads,
	}
}

// The number formats of a cell. Eight bits, with a scale for every 32 numbers, take little more
// than half of the memory of 16 and give equal answers. They require flash attention and heads with
// a multiple of 32 numbers.
const (
	blockQ8 = 32 // numbers that share a scale
	bitsQ8  = 8.5
	bitsF16 = 16
)

// openContext creates a cache that all sequences share, with 8-bit cells if the model allows it,
// else with 16-bit cells, and the buffers for one batch. Flash attention is left to the library,
// which enables it where the model allows it.
func (l *library) openContext(model handle, s shape) (handle, error) {
	if l.cellBits(model) == bitsQ8 {
		if ctx, err := l.tryContext(model, s, typeQ8); err == nil {
			return ctx, nil
		}
	}
	return l.tryContext(model, s, typeF16)
}

// cellBits returns the bits per number of a cell.
func (l *library) cellBits(model handle) float64 {
	if l.headSize(model)%blockQ8 == 0 {
		return bitsQ8
	}
	return bitsF16
}

func (l *library) headSize(model handle) int {
	return int(l.modelNEmbd(model)) / max(int(l.modelNHead(model)), 1)
}

func (l *library) tryContext(model handle, s shape, cells int32) (handle, error) {
	l.clearError()
	p := l.contextDefaultParams()
	p.ctx = uint32(s.cells)
	p.batch, p.microBatch = uint32(s.batchTokens), uint32(s.batchTokens)
	p.seqMax = uint32(s.sequences)
	p.outputsMax = uint32(s.sequences) // otherwise it allocates the logits of every token
	p.threads, p.threadsBatch = int32(s.threads), int32(s.threads)
	p.unifiedKV = true
	p.typeK, p.typeV = cells, cells
	ctx := l.initFromModel(model, p)
	if ctx == 0 {
		return 0, fmt.Errorf("libllama cannot create a context of %d tokens: with less memory use fewer%s", s.cells,
			l.takeError())
	}
	return ctx, nil
}
