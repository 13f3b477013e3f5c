package llama

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"unsafe"
)

// candidates is struct llama_token_data_array.
type candidates struct {
	data     *tokenData
	size     uint64
	selected int64
	sorted   bool
}

// tokenData is struct llama_token_data.
type tokenData struct {
	id    Token
	logit float32
	_     float32 // the probability, which grammars ignore
}

// grammar restricts one reply to a GBNF grammar. The decoder uses it.
type grammar struct {
	vocab vocabulary
	h     handle
	all   []tokenData // buffer
}

var errGrammar = errors.New("llama: the grammar is not GBNF with a rule \"root\"")

// newGrammar parses text. The grammar is freed when it is no longer referenced.
func newGrammar(v vocabulary, text string) (*grammar, error) {
	v.lib.clearError()
	h := v.lib.samplerInitGrammar(v.h, text, "root")
	if h == 0 {
		return nil, errors.Join(errGrammar, errors.New(v.lib.takeError()))
	}
	g := &grammar{vocab: v, h: h}
	runtime.AddCleanup(g, func(h handle) { v.lib.samplerFree(h) }, h)
	return g, nil
}

// allows reports whether a token may follow. Asking about one token takes microseconds, about the
// whole vocabulary milliseconds.
func (g *grammar) allows(t Token, logit float32) bool {
	one := []tokenData{{id: t, logit: logit}}
	g.apply(one)
	return !math.IsInf(float64(one[0].logit), -1)
}

// mask returns logits with negative infinity for tokens that may not follow.
func (g *grammar) mask(logits []float32) []float32 {
	g.all = g.all[:0]
	for i, l := range logits {
		g.all = append(g.all, tokenData{id: Token(i), logit: l})
	}
	g.apply(g.all)
	masked := slices.Clone(logits)
	for _, c := range g.all {
		masked[c.id] = c.logit
	}
	return masked
}

func (g *grammar) apply(to []tokenData) {
	c := candidates{data: &to[0], size: uint64(len(to)), selected: -1}
	g.vocab.lib.samplerApply(g.h, unsafe.Pointer(&c))
	runtime.KeepAlive(to)
}

// took records the next token of the reply, which must be allowed.
func (g *grammar) took(t Token) {
	if !g.vocab.ends(t) {
		g.vocab.lib.samplerAccept(g.h, t)
	}
}
