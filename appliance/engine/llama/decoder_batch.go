package llama

import "unsafe"

// batch is the input of one decode, in C memory that is reused.
type batch struct {
	lib        *library
	c          cBatch
	capacity   int
	tokens     []Token
	pos        []int32
	lens       []int32
	seqs       []*int32
	withLogits []int8
}

func newBatch(lib *library, capacity int) *batch {
	b := &batch{lib: lib, c: lib.batchInit(int32(capacity), 0, 1), capacity: capacity}
	b.tokens = unsafe.Slice(b.c.tokens, capacity)
	b.pos = unsafe.Slice(b.c.pos, capacity)
	b.lens = unsafe.Slice(b.c.seqLens, capacity)
	b.seqs = unsafe.Slice(b.c.seqs, capacity)
	b.withLogits = unsafe.Slice(b.c.outputs, capacity)
	return b
}

func (b *batch) empty() { b.c.count = 0 }

// left returns how many more tokens fit.
func (b *batch) left() int { return b.capacity - int(b.c.count) }

// add appends tokens, which follow the first at tokens of sequence seq, and returns the index of
// the last one; its logits are computed if wanted.
func (b *batch) add(seq int32, at int, tokens []Token, wanted bool) int32 {
	for i, t := range tokens {
		n := b.c.count
		b.tokens[n] = t
		b.pos[n] = int32(at + i)
		b.lens[n] = 1
		*b.seqs[n] = seq
		b.withLogits[n] = 0
		b.c.count++
	}
	if wanted {
		b.withLogits[b.c.count-1] = 1
	}
	return b.c.count - 1
}

func (b *batch) close() { b.lib.batchFree(b.c) }
