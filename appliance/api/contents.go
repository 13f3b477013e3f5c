package api

import (
	"encoding/json"
	"fmt"
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"parley/appliance/contract"
	"parley/store"
)

// contents keeps what the versions of resources say.
type contents struct {
	configs *memo[contract.PostedConfigVersion]
	prompts *memo[contract.PostedPromptVersion]
	tools   *memo[contract.PostedUserDefinedToolVersion]
}

// maxContents bounds the texts that one memo keeps, in bytes: those of two
// thousand configs. What was read from them takes about as much again.
const maxContents = 2 << 20

func newContents() *contents {
	return &contents{newMemo[contract.PostedConfigVersion](), newMemo[contract.PostedPromptVersion](),
		newMemo[contract.PostedUserDefinedToolVersion]()}
}

// memo keeps what JSON texts say, those that were asked for last. What a version
// of a resource says never changes, so nothing it keeps grows old.
//
// Who reads the same text gets the same value, and must not change what it
// points to.
type memo[T any] struct {
	mu   sync.Mutex
	kept *simplelru.LRU[string, T] // by text
	size int                       // of the texts, in bytes
}

func newMemo[T any]() *memo[T] {
	m := &memo[T]{}
	// bounded by size below; fails for a size below 1 only
	m.kept, _ = simplelru.NewLRU(math.MaxInt, func(text string, _ T) { m.size -= len(text) })
	return m
}

// of returns what a version says.
func (m *memo[T]) of(v store.Version) (T, error) {
	text := v.Content
	m.mu.Lock()
	said, ok := m.kept.Get(text)
	m.mu.Unlock()
	if ok {
		return said, nil
	}
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		return said, fmt.Errorf("version %d of %s %s as it is stored: %w", v.Number, v.Kind, v.ID, err)
	}
	m.keep(text, said)
	return said, nil
}

func (m *memo[T]) keep(text string, said T) {
	if len(text) > maxContents/8 {
		return // a few prompts of the longest would push out all others
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept.Contains(text) { // another request has read it meanwhile
		return
	}
	m.kept.Add(text, said)
	for m.size += len(text); m.size > maxContents; {
		m.kept.RemoveOldest()
	}
}
