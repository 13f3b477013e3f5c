package answers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/enginetest"
	"parley/store"
)

// museum has three answers.
func museum() contract.Answers {
	return contract.Answers{Items: []contract.AnswerItem{
		{
			ID:  "hours",
			Ask: []string{"when are you open", "what are your hours", "opening times"},
			Say: "From ten to six.",
		},
		{
			ID:  "parking",
			Ask: []string{"where can I park", "is there a car park"},
			Say: "Behind the house.",
		},
		{
			ID:  "cafe",
			Ask: []string{"is there a cafe", "can I eat here"},
			Say: "On the first floor.",
		},
	}}
}

// embedder is a WordEmbedder that notes what it embeds.
type embedder struct {
	enginetest.WordEmbedder
	before func(texts []string) error // nil or called before each call

	mu    sync.Mutex
	texts []string
}

func (e *embedder) Embed(ctx context.Context, texts []string, u *engine.Urgency) ([][]float32, error) {
	if e.before != nil {
		if err := e.before(texts); err != nil {
			return nil, err
		}
	}
	e.mu.Lock()
	e.texts = append(e.texts, texts...)
	e.mu.Unlock()
	return e.WordEmbedder.Embed(ctx, texts, u)
}

func (e *embedder) embedded() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.texts)
}

// with returns an embedder that is installed.
func with(e engine.SentenceEmbedder) func() (engine.SentenceEmbedder, error) {
	return func() (engine.SentenceEmbedder, error) { return e, nil }
}

func without() Parts {
	return Parts{Embedder: func() (engine.SentenceEmbedder, error) { return nil, ErrNoPack }}
}

func newFinder(t testing.TB, p Parts) *Finder {
	t.Helper()
	if p.Log == nil {
		p.Log = slog.New(slog.DiscardHandler)
	}
	f := New(p)
	t.Cleanup(f.Close)
	return f
}

func openStore(t testing.TB, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func ready(t testing.TB, f *Finder, a contract.Answers) *Set {
	t.Helper()
	s, err := f.Open(t.Context(), a)
	must(t, err)
	must(t, f.Ready(t.Context(), s))
	return s
}

// nearestItem returns the item with the nearest way of asking, -1 if no way is embedded.
func nearestItem(t testing.TB, s *Set, text string) int {
	t.Helper()
	v, err := s.embed(t.Context(), text, nil)
	must(t, err)
	best, most := -1, -1.0
	for i, l := range s.likenesses(v) {
		if l.Way >= 0 && l.Cosine > most {
			best, most = i, l.Cosine
		}
	}
	return best
}

func TestTheNearestItemHasTheNearestWayOfAsking(t *testing.T) {
	s := ready(t, newFinder(t, Parts{Embedder: with(&embedder{})}), museum())
	for text, want := range map[string]int{
		"What are your hours?":            0,
		"Opening times!":                  0,
		"is there a car park near by":     1,
		"Can I eat something in here now": 2,
	} {
		if got := nearestItem(t, s, text); got != want {
			t.Errorf("%q: item %d, want %d", text, got, want)
		}
	}
	v, _ := s.embed(t.Context(), "what are your hours", nil)
	if l := s.likenesses(v)[0]; l.Way != 1 || l.Cosine < 0.999 {
		t.Errorf("the words of a way: %+v, want way 1 with cosine 1", l)
	}
}

func TestARestartEmbedsNothingAndANewVersionOnlyWhatIsNew(t *testing.T) {
	vectors := openStore(t, t.TempDir())
	first := &embedder{}
	ready(t, newFinder(t, Parts{Embedder: with(first), Vectors: vectors}), museum())
	if n := len(first.embedded()); n != 10 {
		t.Fatalf("embedded %d texts, want 10", n)
	}
	second := &embedder{}
	f := newFinder(t, Parts{Embedder: with(second), Vectors: vectors})
	s := ready(t, f, museum())
	if texts := second.embedded(); len(texts) > 0 {
		t.Errorf("after a restart embedded %q", texts)
	}
	if got := nearestItem(t, s, "where can I park"); got != 1 {
		t.Errorf("with stored vectors: item %d, want 1", got)
	}
	changed := museum()
	changed.Items[2].Ask = append(changed.Items[2].Ask, "do you sell cake")
	ready(t, f, changed)
	if texts := second.embedded()[1:]; !slices.Equal(texts, []string{"do you sell cake"}) {
		t.Errorf("for a new version embedded %q", texts)
	}
}

func TestVectorsOfAnotherModelAreNotUsed(t *testing.T) {
	if keyOf("a", "text") == keyOf("b", "text") || keyOf("a", "text") == keyOf("at", "ext") {
		t.Error("two models share a key")
	}
}

func TestASetAnswersWithTheWaysThatAreEmbedded(t *testing.T) {
	large := museum() // more first ways than are embedded at once
	for i := range fillAtOnce {
		large.Items = append(large.Items, contract.AnswerItem{
			ID:  fmt.Sprint("room-", i),
			Ask: []string{fmt.Sprint("room number", i)},
		})
	}
	blocked, release := make(chan struct{}), make(chan struct{})
	calls := 0
	e := &embedder{}
	e.before = func([]string) error {
		if calls++; calls == 2 {
			close(blocked)
			<-release
		}
		return nil
	}
	f := newFinder(t, Parts{Embedder: with(e)})
	s, err := f.Open(t.Context(), large)
	must(t, err)
	<-blocked
	first := e.embedded()
	if len(first) != fillAtOnce || first[0] != "when are you open" || first[1] != "where can I park" ||
		slices.Contains(first, "opening times") {
		t.Errorf("first embedded %q, not the first way of each item", first)
	}
	l := s.likenesses(first0(t, "when are you open"))
	if l[0].Cosine < 0.999 || l[len(l)-1].Way != -1 {
		t.Errorf("before the end: %+v and %+v, want the first item and nothing of the last", l[0], l[len(l)-1])
	}
	close(release)
	must(t, f.Ready(t.Context(), s))
	if got := nearestItem(t, s, "opening times"); got != 0 {
		t.Errorf("at the end: item %d, want 0", got)
	}
}

func first0(t *testing.T, text string) []float32 {
	t.Helper()
	v, err := enginetest.WordEmbedder{}.Embed(t.Context(), []string{text}, nil)
	must(t, err)
	return v[0]
}

func TestAnswersOfTwoChatsAreOneSet(t *testing.T) {
	e := &embedder{}
	f := newFinder(t, Parts{Embedder: with(e)})
	a, b := ready(t, f, museum()), ready(t, f, museum())
	if a != b || len(e.embedded()) != 10 {
		t.Errorf("sets %p and %p, embedded %d texts; want one set and 10 texts", a, b, len(e.embedded()))
	}
	other := museum()
	other.Items[0].Say = "From nine to five."
	if c := ready(t, f, other); c == a || c.Answers.Items[0].Say != "From nine to five." {
		t.Error("answers that say something else have the set of the old ones")
	}
}

func TestWhatWasSaidIsEmbeddedOnce(t *testing.T) {
	e := &embedder{}
	s := ready(t, newFinder(t, Parts{Embedder: with(e)}), museum())
	for range 3 {
		nearestItem(t, s, "is there parking")
	}
	if n := len(e.embedded()); n != 11 {
		t.Errorf("embedded %d texts, want 10 texts and 1 question", n)
	}
}

func TestADamagedStoredVectorIsComputedAgain(t *testing.T) {
	vectors := openStore(t, t.TempDir())
	bad := map[int64][]byte{}
	for i, text := range []string{"when are you open", "where can I park", "is there a cafe"} {
		bad[keyOf("words", text)] = [][]byte{{}, make([]byte, 4+width), []byte(strings.Repeat("\xff", 4+width))}[i]
	}
	must(t, vectors.AddAnswerVectors(t.Context(), bad, 0))
	e := &embedder{}
	ready(t, newFinder(t, Parts{Embedder: with(e), Vectors: vectors}), museum())
	if n := len(e.embedded()); n != 10 {
		t.Errorf("embedded %d texts, want 10", n)
	}
}

func TestAnEmbedderThatFailedIsTriedAgain(t *testing.T) {
	e := &embedder{}
	fails := true
	e.before = func([]string) error {
		if fails {
			return errors.New("out of memory")
		}
		return nil
	}
	f := newFinder(t, Parts{Embedder: with(e)})
	s, err := f.Open(t.Context(), museum())
	must(t, err)
	if err := f.Ready(t.Context(), s); err == nil {
		t.Fatal("no error")
	}
	f.running.Wait()
	fails = false
	ready(t, f, museum())
}

func TestClosingStopsTheEmbedding(t *testing.T) {
	entered := make(chan struct{}, 1)
	e := blockingEmbedder{entered: entered}
	f := newFinder(t, Parts{Embedder: with(e)})
	s, err := f.Open(t.Context(), museum())
	must(t, err)
	<-entered
	f.Close()
	if err := f.Ready(t.Context(), s); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if _, err := f.Open(t.Context(), museum()); err == nil {
		t.Error("a closed finder opens a set")
	}
}

// blockingEmbedder embeds nothing before its context ends.
type blockingEmbedder struct {
	enginetest.WordEmbedder
	entered chan struct{}
}

func (b blockingEmbedder) Embed(ctx context.Context, _ []string, _ *engine.Urgency) ([][]float32, error) {
	b.entered <- struct{}{}
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func TestWaitingForASetMakesItUrgent(t *testing.T) {
	seen := make(chan engine.Priority, 1)
	waits := make(chan struct{})
	e := urgencyEmbedder{seen: seen, waits: waits}
	f := newFinder(t, Parts{Embedder: with(e)})
	a := museum()
	for i := range fillAtOnce {
		a.Items[0].Ask = append(a.Items[0].Ask, fmt.Sprint("question ", i))
	}
	s, err := f.Open(t.Context(), a)
	must(t, err)
	if p := <-seen; p != engine.Prefetch {
		t.Errorf("nobody waits: %v, want ahead", p)
	}
	done := make(chan error, 1)
	go func() { done <- f.Ready(t.Context(), s) }()
	for s.hurry.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	close(waits)
	if p := <-seen; p != engine.Request {
		t.Errorf("somebody waits: %v, want request", p)
	}
	must(t, <-done)
}

// urgencyEmbedder tells the priority of each call, and ends the first one when waits is closed.
type urgencyEmbedder struct {
	enginetest.WordEmbedder
	seen  chan engine.Priority
	waits chan struct{}
}

func (e urgencyEmbedder) Embed(ctx context.Context, texts []string, u *engine.Urgency) ([][]float32, error) {
	e.seen <- u.Get().Priority
	<-e.waits
	return e.WordEmbedder.Embed(ctx, texts, u)
}

func TestCachedSetsAreBounded(t *testing.T) {
	f := newFinder(t, Parts{Embedder: with(enginetest.WordEmbedder{})})
	for n := range 10 {
		a := contract.Answers{Unknown: fmt.Sprint(n), Items: museum().Items[:1]}
		a.Items = slices.Clone(a.Items)
		a.Items[0].Ask = slices.Repeat([]string{"when"}, cachedWays/4)
		ready(t, f, a)
		if f.ways > cachedWays || f.ways != f.sets.Len()*(cachedWays/4+1) {
			t.Fatalf("%d sets with %d ways are cached", f.sets.Len(), f.ways)
		}
	}
}

func TestASetThatIsNoLongerCachedIsNotFilled(t *testing.T) {
	entered := make(chan struct{}, 9)
	f := newFinder(t, Parts{Embedder: with(blockingEmbedder{entered: entered})})
	a := contract.Answers{Items: slices.Clone(museum().Items[:1])}
	a.Items[0].Ask = slices.Repeat([]string{"when"}, cachedWays)
	s, err := f.Open(t.Context(), a)
	must(t, err)
	<-entered
	if _, err := f.Open(t.Context(), museum()); err != nil {
		t.Fatal(err)
	}
	if err := f.Ready(t.Context(), s); !errors.Is(err, ErrBusy) {
		t.Errorf("the error is %v, want %v", err, ErrBusy)
	}
	again, err := f.Open(t.Context(), a)
	must(t, err)
	if again == s {
		t.Error("the set that was not filled is opened again")
	}
}

func TestWithoutThePackTheErrorNamesTheCommand(t *testing.T) {
	_, err := newFinder(t, without()).Open(t.Context(), museum())
	if !errors.Is(err, ErrNoPack) || !strings.Contains(err.Error(), "parley packs pull embed") {
		t.Errorf("the error is %v", err)
	}
}
