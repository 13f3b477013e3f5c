package answers

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"parley/appliance/contract"
	"parley/appliance/engine"
)

// Reasons why a Finder has no sets, or a set is not complete.
var (
	ErrNoPack = errors.New("approved answers need the pack embed, which is not installed: fetch it with " +
		"`parley packs pull embed`")
	ErrLoading = errors.New("the models of the box are still being loaded")
	// ErrBusy means that a set was evicted from the cache before it was complete. Open continues with it.
	ErrBusy = errors.New("the ways to ask of too many configs are being embedded: try again later")

	errClosed = errors.New("answers: the finder is closed")
)

const (
	// cachedWays bounds the ways of asking of all cached sets: 40 MB of vectors, four of the largest configs. One set
	// is always cached.
	cachedWays = 100_000
	// cachedTexts is the number of texts that people said whose vectors are cached, 1.5 KB each: a text is embedded
	// at a pause, and compared again when the turn is over, and with the turn after it.
	cachedTexts = 512
	// mostBytes is the most of a text that is embedded: the model reads a hundred words.
	mostBytes = 8 << 10
	// noteEvery is how often it is noted that stored vectors are in use. They are deleted after weeks without use.
	noteEvery = 24 * time.Hour
)

// Vectors stores the vectors of ways of asking. A key is made of the model and the text.
type Vectors interface {
	// AnswerVectors calls yield with those of keys that have a stored vector. The vector is valid during the call.
	AnswerVectors(ctx context.Context, keys []int64, yield func(key int64, vector []byte)) error
	AddAnswerVectors(ctx context.Context, vectors map[int64][]byte, usedMS int64) error
	// UseAnswerVectors notes that vectors are in use. Those that are not are deleted some time later.
	UseAnswerVectors(ctx context.Context, keys []int64, nowMS int64) error
}

// Parts are what a Finder is made of.
type Parts struct {
	// Embedder returns the sentence embedder, or ErrNoPack or ErrLoading.
	Embedder func() (engine.SentenceEmbedder, error)
	Vectors  Vectors // nil to store nothing
	// Background is what people say to any assistant: see the function Background. nil: questions are compared with the
	// answers only.
	Background []string
	Log        *slog.Logger
}

// Finder compiles the answers of configs to sets. It is safe for concurrent use.
type Finder struct {
	parts Parts
	texts *lru.Cache[string, []float32] // vectors of what people said

	ctx     context.Context // of the work in the background
	stop    context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	closed bool
	sets   *simplelru.LRU[[sha256.Size]byte, *Set]
	ways   int // of all sets in sets

	background *Set // nil until a set is opened
}

// New returns a Finder, which Close stops.
func New(p Parts) *Finder {
	f := &Finder{parts: p}
	f.ctx, f.stop = context.WithCancel(context.Background())
	var err error
	if f.texts, err = lru.New[string, []float32](cachedTexts); err != nil {
		panic(err) // the size is not positive
	}
	// The number of sets is bounded by their ways: each has one at least.
	f.sets, err = simplelru.NewLRU(cachedWays, func(_ [sha256.Size]byte, s *Set) {
		f.ways -= len(s.keys)
		s.stop(ErrBusy) // so that the sets that are being filled are bounded too
	})
	if err != nil {
		panic(err)
	}
	return f
}

// Close ends the work in the background, and waits for its end. Sets stay usable as long as the embedder is open.
func (f *Finder) Close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.stop()
	f.running.Wait()
}

// Open returns the set of some answers, with the vectors that are stored. It starts to embed what is not embedded yet,
// and does not wait for that. The error is ErrNoPack or ErrLoading if there is no embedder.
func (f *Finder) Open(ctx context.Context, a contract.Answers) (*Set, error) {
	embedder, err := f.parts.Embedder()
	if err != nil {
		return nil, err
	}
	s, err := f.set(a, embedder)
	if err != nil {
		return nil, err
	}
	f.openBackground(embedder)
	select {
	case <-s.loaded:
		return s, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// set returns the cached set of some answers, or a new one, which is filled in the background.
func (f *Finder) set(a contract.Answers, embedder engine.SentenceEmbedder) (*Set, error) {
	hash := hashOf(a)
	if s, err := f.cached(hash); s != nil || err != nil {
		return s, err
	}
	s := newSet(f, a, embedder) // without the lock, for which the decisions of chats wait
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, errClosed
	}
	if other, ok := f.sets.Get(hash); ok { // it was opened at the same time
		return other, nil
	}
	var filling context.Context
	filling, s.stop = context.WithCancelCause(f.ctx)
	f.sets.Add(hash, s)
	f.ways += len(s.keys)
	for f.ways > cachedWays && f.sets.Len() > 1 {
		f.sets.RemoveOldest()
	}
	f.running.Go(func() {
		if s.fill(filling); s.err != nil {
			f.forget(hash, s) // so that a later Open tries again
		}
	})
	return s, nil
}

// cached returns a cached set, or nil. Once a day it notes that the stored vectors are in use.
func (f *Finder) cached(hash [sha256.Size]byte) (*Set, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, errClosed
	}
	s, ok := f.sets.Get(hash)
	if !ok {
		return nil, nil
	}
	for _, used := range []*Set{s, f.background} {
		if now := time.Now(); used != nil && now.Sub(used.noted) > noteEvery {
			used.noted = now
			f.running.Go(func() { used.noteUse(f.ctx) })
		}
	}
	return s, nil
}

func (f *Finder) forget(hash [sha256.Size]byte, s *Set) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if cached, ok := f.sets.Peek(hash); ok && cached == s {
		f.sets.Remove(hash)
	}
}

// Ready waits until all ways of asking of a set, and the background, are embedded, with the urgency of a request.
func (f *Finder) Ready(ctx context.Context, s *Set) error {
	f.mu.Lock()
	background := f.background
	f.mu.Unlock()
	for _, each := range []*Set{s, background} {
		if each == nil {
			continue
		}
		each.hurry.Add(1)
		err := each.wait(ctx)
		each.hurry.Add(-1)
		if err != nil {
			return err
		}
	}
	return nil
}

// Prepare opens the set of some answers and waits until it is complete, without making it urgent.
func (f *Finder) Prepare(ctx context.Context, a contract.Answers) error {
	s, err := f.Open(ctx, a)
	if err != nil {
		return err
	}
	return s.wait(ctx)
}

func (s *Set) wait(ctx context.Context) error {
	select {
	case <-s.filled:
		return s.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// embed returns the vector of a text that a person said.
func (f *Finder) embed(ctx context.Context, text string, u *engine.Urgency) ([]float32, error) {
	text = strings.Clone(text[:min(len(text), mostBytes)])
	if v, ok := f.texts.Get(text); ok {
		return v, nil
	}
	embedder, err := f.parts.Embedder()
	if err != nil {
		return nil, err
	}
	all, err := embedder.Embed(ctx, []string{text}, u)
	if err != nil {
		return nil, fmt.Errorf("embed what was said: %w", err)
	}
	f.texts.Add(text, all[0])
	return all[0], nil
}
