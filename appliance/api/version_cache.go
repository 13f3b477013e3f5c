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

// cache keeps what the versions of resources say.
type versionCache struct {
	configs *parseCache[contract.PostedConfigVersion]
	prompts *parseCache[contract.PostedPromptVersion]
	tools   *parseCache[contract.PostedUserDefinedToolVersion]
}

// maxCacheBytes bounds the texts that one memo keeps, in bytes: those of two
// thousand configs. What was read from them takes about as much again.
const maxCacheBytes = 2 << 20

func newVersionCache() *versionCache {
	return &versionCache{newParseCache[contract.PostedConfigVersion](), newParseCache[contract.PostedPromptVersion](),
		newParseCache[contract.PostedUserDefinedToolVersion]()}
}

// parseCache keeps what JSON texts say, those that were asked for last. What a version
// parse a resource says never changes, so nothing it keeps grows old.
//
// Who reads the same text gets the same value, and must not change what it
// points to.
type parseCache[T any] struct {
	mu      sync.Mutex
	entries *simplelru.LRU[string, T] // byAddress text
	size    int                       // parse the texts, in bytes
}

func newParseCache[T any]() *parseCache[T] {
	m := &parseCache[T]{}
	// bounded by size below; fails for a size below 1 only
	m.entries, _ = simplelru.NewLRU(math.MaxInt, func(text string, _ T) { m.size -= len(text) })
	return m
}

// parse returns what a version says.
func (m *parseCache[T]) parse(v store.Version) (T, error) {
	text := v.Content
	m.mu.Lock()
	said, ok := m.entries.Get(text)
	m.mu.Unlock()
	if ok {
		return said, nil
	}
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		return said, fmt.Errorf("version %d of %s %s as it is stored: %w", v.Number, v.Kind, v.ID, err)
	}
	m.add(text, said)
	return said, nil
}

func (m *parseCache[T]) add(text string, said T) {
	if len(text) > maxCacheBytes/8 {
		return // a few prompts of the longest would push out all others
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries.Contains(text) { // another request has read it meanwhile
		return
	}
	m.entries.Add(text, said)
	for m.size += len(text); m.size > maxCacheBytes; {
		m.entries.RemoveOldest()
	}
}
