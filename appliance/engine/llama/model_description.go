package llama

// Description describes an open model.
type Description struct {
	Name          string // from its file, such as "Qwen2.5 1.5B Instruct"
	Kind          string // architecture, size, quantisation: "qwen2 1.5B Q4_K - Medium"
	Parameters    uint64
	TrainedTokens int    // the longest context it was trained on
	ContextTokens int    // cells of the cache, for all conversations together
	Conversations int    // how many are cached
	Threads       int    // per decode
	WeightBytes   uint64 // memory of the weights
	CacheBytes    uint64 // memory of a full cache
	Library       string // libllama's version
}

// Describe returns the description of the model.
func (m *Model) Describe() Description { return m.description }

func (m *Model) describe() Description {
	l := m.lib
	// A cell holds a key and a value for each layer.
	numbers := 2 * int(l.modelNLayer(m.model)) * int(l.modelNHeadKV(m.model)) * l.headSize(m.model)
	return Description{
		Name: m.text(func(buf []byte) int32 {
			return l.modelMetaValStr(m.model, "general.name", &buf[0], uint64(len(buf)))
		}),
		Kind:          m.text(func(buf []byte) int32 { return l.modelDesc(m.model, &buf[0], uint64(len(buf))) }),
		Parameters:    l.modelNParams(m.model),
		TrainedTokens: int(l.modelNCtxTrain(m.model)),
		ContextTokens: m.options.ContextTokens,
		Conversations: m.options.Conversations,
		Threads:       m.options.Threads,
		WeightBytes:   l.modelSize(m.model),
		CacheBytes:    uint64(float64(numbers*m.options.ContextTokens) * l.cellBits(m.model) / 8),
		Library:       l.version(),
	}
}

// text returns a string that C writes into a buffer; "" if there is none.
func (m *Model) text(write func([]byte) int32) string {
	buf := make([]byte, 256)
	n := min(int(write(buf)), len(buf)-1)
	return string(buf[:max(n, 0)])
}
