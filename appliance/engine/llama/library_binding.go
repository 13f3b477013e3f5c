package llama

import (
	"unsafe"

	"parley/internal/clib"
)

// Token is one entry of a model's vocabulary.
type Token = int32

// handle is an opaque libllama pointer: a model, a context or a vocabulary.
type handle = uintptr

// calls are the libllama functions in use, by their C names without "llama_". Arguments are as in
// llama.h.
type calls struct {
	loadBackends func(dir string)
	backendCount func() uint64

	backendInit func()
	logSet      func(callback, arg uintptr)
	version     func() string

	modelDefaultParams   func() modelParams
	contextDefaultParams func() contextParams
	modelLoadFromFile    func(path string, p modelParams) handle
	modelFree            func(model handle)
	initFromModel        func(model handle, p contextParams) handle
	free                 func(ctx handle)
	setAbortCallback     func(ctx handle, callback, arg uintptr)
	setNThreads          func(ctx handle, single, batch int32)

	modelGetVocab     func(model handle) handle
	modelChatTemplate func(model handle, name *byte) string
	modelDesc         func(model handle, buf *byte, size uint64) int32
	modelMetaValStr   func(model handle, key string, buf *byte, size uint64) int32
	modelSize         func(model handle) uint64
	modelNParams      func(model handle) uint64
	modelNCtxTrain    func(model handle) int32
	modelNLayer       func(model handle) int32
	modelNEmbd        func(model handle) int32
	modelNHead        func(model handle) int32
	modelNHeadKV      func(model handle) int32
	modelNSWA         func(model handle) int32
	modelHasEncoder   func(model handle) bool
	modelIsRecurrent  func(model handle) bool
	modelIsHybrid     func(model handle) bool
	modelIsDiffusion  func(model handle) bool

	vocabNTokens   func(vocab handle) int32
	vocabGetAttr   func(vocab handle, t Token) int32
	vocabIsEOG     func(vocab handle, t Token) bool
	vocabBOS       func(vocab handle) Token
	vocabGetAddBOS func(vocab handle) bool
	tokenize       func(vocab handle, text *byte, n int32, out *Token, capacity int32, addSpecial,
		parseSpecial bool) int32
	tokenToPiece func(vocab handle, t Token, buf *byte, capacity, lstrip int32, special bool) int32
	chatApply    func(template *byte, messages *chatMessage, n uint64, addAssistant bool, buf *byte,
		capacity int32) int32

	getMemory       func(ctx handle) handle
	memorySeqRm     func(mem handle, seq, from, to int32) bool
	memorySeqCp     func(mem handle, src, dst, from, to int32)
	memorySeqPosMax func(mem handle, seq int32) int32
	stateSeqGetSize func(ctx handle, seq int32) uint64
	stateSeqGetData func(ctx handle, out *byte, size uint64, seq int32) uint64
	stateSeqSetData func(ctx handle, in *byte, size uint64, seq int32) uint64

	batchInit    func(tokens, embd, seqMax int32) cBatch
	batchFree    func(b cBatch)
	decode       func(ctx handle, b cBatch) int32
	getLogitsIth func(ctx handle, i int32) *float32

	samplerFree        func(sampler handle)
	samplerInitGrammar func(vocab handle, text, root string) handle
	samplerApply       func(sampler handle, candidates unsafe.Pointer)
	samplerAccept      func(sampler handle, t Token)
}

// bind looks up all functions in the loaded library and its dependencies.
func bind(llama clib.Library) (*calls, error) {
	c := &calls{}
	return c, llama.Bind(map[string]any{
		"ggml_backend_load_all_from_path": &c.loadBackends,
		"ggml_backend_reg_count":          &c.backendCount,
		"llama_backend_init":              &c.backendInit,
		"llama_log_set":                   &c.logSet,
		"llama_version":                   &c.version,
		"llama_model_default_params":      &c.modelDefaultParams,
		"llama_context_default_params":    &c.contextDefaultParams,
		"llama_model_load_from_file":      &c.modelLoadFromFile,
		"llama_model_free":                &c.modelFree,
		"llama_init_from_model":           &c.initFromModel,
		"llama_free":                      &c.free,
		"llama_set_abort_callback":        &c.setAbortCallback,
		"llama_set_n_threads":             &c.setNThreads,
		"llama_model_get_vocab":           &c.modelGetVocab,
		"llama_model_chat_template":       &c.modelChatTemplate,
		"llama_model_desc":                &c.modelDesc,
		"llama_model_meta_val_str":        &c.modelMetaValStr,
		"llama_model_size":                &c.modelSize,
		"llama_model_n_params":            &c.modelNParams,
		"llama_model_n_ctx_train":         &c.modelNCtxTrain,
		"llama_model_n_layer":             &c.modelNLayer,
		"llama_model_n_embd":              &c.modelNEmbd,
		"llama_model_n_head":              &c.modelNHead,
		"llama_model_n_head_kv":           &c.modelNHeadKV,
		"llama_model_n_swa":               &c.modelNSWA,
		"llama_model_has_encoder":         &c.modelHasEncoder,
		"llama_model_is_recurrent":        &c.modelIsRecurrent,
		"llama_model_is_hybrid":           &c.modelIsHybrid,
		"llama_model_is_diffusion":        &c.modelIsDiffusion,
		"llama_vocab_n_tokens":            &c.vocabNTokens,
		"llama_vocab_get_attr":            &c.vocabGetAttr,
		"llama_vocab_is_eog":              &c.vocabIsEOG,
		"llama_vocab_bos":                 &c.vocabBOS,
		"llama_vocab_get_add_bos":         &c.vocabGetAddBOS,
		"llama_tokenize":                  &c.tokenize,
		"llama_token_to_piece":            &c.tokenToPiece,
		"llama_chat_apply_template":       &c.chatApply,
		"llama_get_memory":                &c.getMemory,
		"llama_memory_seq_rm":             &c.memorySeqRm,
		"llama_memory_seq_cp":             &c.memorySeqCp,
		"llama_memory_seq_pos_max":        &c.memorySeqPosMax,
		"llama_state_seq_get_size":        &c.stateSeqGetSize,
		"llama_state_seq_get_data":        &c.stateSeqGetData,
		"llama_state_seq_set_data":        &c.stateSeqSetData,
		"llama_batch_init":                &c.batchInit,
		"llama_batch_free":                &c.batchFree,
		"llama_decode":                    &c.decode,
		"llama_get_logits_ith":            &c.getLogitsIth,
		"llama_sampler_free":              &c.samplerFree,
		"llama_sampler_init_grammar":      &c.samplerInitGrammar,
		"llama_sampler_apply":             &c.samplerApply,
		"llama_sampler_accept":            &c.samplerAccept,
	})
}

// bytesPtr returns a pointer to the first byte of b for C; it is never nil.
func bytesPtr(b []byte) *byte {
	if len(b) == 0 {
		return new(byte)
	}
	return unsafe.SliceData(b)
}
