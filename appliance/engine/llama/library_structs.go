//lint:file-ignore U1000 the fields mirror the C structs, whether we set them or not

package llama

import (
	"errors"
	"fmt"
	"unsafe"
)

// The structs that libllama passes by value, as llama.h of the 0.5 library lays them out on 64-bit
// machines. Go pads them like the C compiler, so only the tails need explicit fields.

// modelParams is struct llama_model_params, 80 bytes.
type modelParams struct {
	devices, tensorBufts               unsafe.Pointer
	gpuLayers, splitMode               int32
	loadMode, lazyMode, mainGPU        int32
	tensorSplit, progress, progressArg unsafe.Pointer
	kvOverrides                        unsafe.Pointer
	vocabOnly, checkTensors, repack    bool
	noHost, noAlloc, loadMTP           bool
}

// contextParams is struct llama_context_params, 160 bytes.
type contextParams struct {
	ctx, batch, microBatch, seqMax        uint32
	rsSeq, outputsMax, outputsMaxPerSeq   uint32
	threads, threadsBatch                 int32
	ctxType, ropeScaling, pooling         int32
	attention, flash                      int32
	ropeBase, ropeScale                   float32
	yarnExt, yarnAttn, yarnFast, yarnSlow float32
	yarnOrigCtx                           uint32
	defrag                                float32
	evalCallback, evalArg                 unsafe.Pointer
	typeK, typeV                          int32
	abortCallback, abortArg               unsafe.Pointer
	embeddings, offloadKQV, noPerf        bool
	opOffload, slidingFull, unifiedKV     bool
	samplers                              unsafe.Pointer
	samplerCount                          uint64
	other                                 unsafe.Pointer
}

// cBatch is struct llama_batch, 56 bytes. Its arrays are C memory.
type cBatch struct {
	count   int32
	tokens  *Token
	embd    *float32
	pos     *int32
	seqLens *int32
	seqs    **int32
	outputs *int8
}

// chatMessage is struct llama_chat_message.
type chatMessage struct{ role, content *byte }

// The values of llama.h that are used.
const (
	loadModeRead = 0 // LLAMA_LOAD_MODE_NONE: read the file, map nothing
	typeF16      = 1 // GGML_TYPE_F16
	typeQ8       = 8 // GGML_TYPE_Q8_0
)

// checkSizes returns an error if this build lays the structs out differently from libllama.
func checkSizes() error {
	for _, s := range []struct {
		name      string
		got, want uintptr
	}{
		{"llama_model_params", unsafe.Sizeof(modelParams{}), 80},
		{"llama_context_params", unsafe.Sizeof(contextParams{}), 160},
		{"llama_batch", unsafe.Sizeof(cBatch{}), 56},
	} {
		if s.got != s.want {
			return fmt.Errorf("struct %s is %d bytes on this machine, libllama has %d: only 64-bit Linux is supported",
				s.name, s.got, s.want)
		}
	}
	return nil
}

// checkModelDefaults compares the library's defaults with those of the version that this binding
// was written for. It detects a library with another struct layout before that library
// misinterprets its arguments.
func (p *modelParams) checkModelDefaults() error {
	if p.loadMode == -1 && p.mainGPU == 0 && p.devices == nil && p.kvOverrides == nil &&
		!p.vocabOnly && !p.checkTensors && p.repack && !p.noAlloc {
		return nil
	}
	return errors.New("llama_model_default_params returns unexpected values")
}

func (p *contextParams) checkContextDefaults() error {
	if p.ctx == 512 && p.batch == 2048 && p.microBatch == 512 && p.seqMax == 1 &&
		p.flash == -1 && p.yarnExt == -1 && p.defrag == -1 && p.abortCallback == nil &&
		p.typeK == typeF16 && p.typeV == typeF16 && p.offloadKQV && p.noPerf && p.other == nil {
		return nil
	}
	return errors.New("llama_context_default_params returns unexpected values")
}
