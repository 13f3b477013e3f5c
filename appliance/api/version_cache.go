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

// versionCache caches the parsed contents of configs, prompts and tools.
type versionCache struct {
	configs *parseCache[contract.PostedConfigVersion]
	prompts *parseCache[contract.PostedPromptVersion]
	tools   *parseCache[contract.PostedUserDefinedToolVersion]
	answers *parseCache[contract.Answers]
}

const (
	// maxCacheBytes bounds the JSON texts that one cache holds, in bytes: those of
	// two thousand configs. The parsed values take about as much again.
	maxCacheBytes = 2 << 20
	// maxAnswersCacheBytes is the same for approved answers. A desk's answers have
	// 50 KB; 500 answers with 50 ways to ask of 200 characters have 5.5 MB, which
	// take 50 ms to parse.
	maxAnswersCacheBytes = 16 << 20
)

func newVersionCache() *versionCache {
	return &versionCache{
		// A few prompts of the longest would push out all others.
		configs: newParseCache[contract.PostedConfigVersion](maxCacheBytes, maxCacheBytes/8),
		prompts: newParseCache[contract.PostedPromptVersion](maxCacheBytes, maxCacheBytes/8),
		tools:   newParseCache[contract.PostedUserDefinedToolVersion](maxCacheBytes, maxCacheBytes/8),
		answers: newParseCache[contract.Answers](maxAnswersCacheBytes, maxAnswersCacheBytes/2),
	}
}

// parseCache caches values parsed from JSON texts, least recently used first out.
// The content of a version never changes, so no entry becomes stale.
//
// Callers share the value of a text and must not change what it points to.
type parseCache[T any] struct {
	most, longest int // of all texts, and of one, in bytes

	mu      sync.Mutex
	entries *simplelru.LRU[string, T] // by text
	size    int                       // of the texts, in bytes
}

func newParseCache[T any](most, longest int) *parseCache[T] {
	m := &parseCache[T]{most: most, longest: longest}
	// bounded by size below; fails for a size below 1 only
	m.entries, _ = simplelru.NewLRU(math.MaxInt, func(text string, _ T) { m.size -= len(text) })
	return m
}

// parse returns the parsed content of a version.
func (m *parseCache[T]) parse(v store.Version) (T, error) { return m.parseText(v, v.Content) }

// parseText returns the value of a text that belongs to a version.
func (m *parseCache[T]) parseText(v store.Version, text string) (T, error) {
	m.mu.Lock()
	value, ok := m.entries.Get(text)
	m.mu.Unlock()
	if ok {
		return value, nil
	}
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return value, fmt.Errorf("version %d of %s %s as it is stored: %w", v.Number, v.Kind, v.ID, err)
	}
	m.add(text, value)
	return value, nil
}

func (m *parseCache[T]) add(text string, value T) {
	if len(text) > m.longest {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries.Contains(text) { // another request parsed it meanwhile
		return
	}
	m.entries.Add(text, value)
	for m.size += len(text); m.size > m.most; {
		m.entries.RemoveOldest()
	}
}
