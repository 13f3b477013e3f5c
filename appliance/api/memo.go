package api

import (
	"encoding/json"
	"fmt"
	"sync"

	"parley/appliance/contract"
	"parley/store"
)

// contents remembers what the versions of resources say.
type contents struct {
	configs memo[contract.PostedConfigVersion]
	prompts memo[contract.PostedPromptVersion]
	tools   memo[contract.PostedUserDefinedToolVersion]
}

// mostRemembered is how many bytes of texts one generation of a memo holds: the
// contents of a thousand configs. With what was read from them, two generations
// of three memos are about 10 MiB where a box has that many.
const mostRemembered = 1 << 20

// memo remembers what JSON texts say. What a version of a resource says never
// changes, so that nothing it remembers grows old; it forgets only for want of
// room, the generation that was asked for longest ago. The zero value is ready.
//
// Who reads the same text gets the same value, and must not change what it
// points to.
type memo[T any] struct {
	mu            sync.Mutex
	newer, before map[string]T
	size          int // of the texts in newer, in bytes
}

// of returns what a version says.
func (m *memo[T]) of(v store.Version) (T, error) {
	text := v.Content
	if said, ok := m.recall(text); ok {
		return said, nil
	}
	var said T
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		return said, fmt.Errorf("version %d of %s %s as it is stored: %w", v.Number, v.Kind, v.ID, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keep(text, said)
	return said, nil
}

func (m *memo[T]) recall(text string) (T, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if said, ok := m.newer[text]; ok {
		return said, true
	}
	said, ok := m.before[text]
	if ok {
		m.keep(text, said)
	}
	return said, ok
}

func (m *memo[T]) keep(text string, said T) {
	if len(text) > mostRemembered/4 {
		return // one prompt of the longest would push out all others
	}
	if m.newer == nil || m.size+len(text) > mostRemembered {
		m.before, m.newer, m.size = m.newer, map[string]T{}, 0
	}
	m.newer[text], m.size = said, m.size+len(text)
}
