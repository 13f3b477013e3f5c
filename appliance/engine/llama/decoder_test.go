package llama

import (
	"context"
	"errors"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"parley/appliance/engine"
)

var questions = []string{
	"When is breakfast?", "Where is the pool?", "How much is parking?",
	"When does the shuttle leave?", "Where is the parking?", "On which floor is breakfast?",
}

// repeating asks for a word in a way that leaves even a small model no choice: batching changes the
// order of sums, and sometimes the result of a near tie.
func repeating(word string) []engine.Message {
	messages := []engine.Message{says(engine.System, "Repeat the word that the user says.")}
	for _, example := range []string{"window", "table", "winter"} {
		messages = append(messages, says(engine.User, example), says(engine.Assistant, example))
	}
	return append(messages, says(engine.User, word))
}

func TestManyAtOnceEachGetTheirOwnAnswer(t *testing.T) {
	m := small(t, func(o *Options) { o.Conversations, o.Threads = 3, 0 })
	words := []string{"garden", "market", "silver", "doctor", "monkey", "bridge"}
	answers := make([]string, len(words))
	var wg sync.WaitGroup
	for i, word := range words {
		wg.Go(func() {
			answers[i], _ = reply(t, m, engine.Prompt{
				Conversation: word,
				Messages:     repeating(word),
				MaxTokens:    8,
				Urgency:      engine.Live.Urgency(),
			})
		})
	}
	wg.Wait()
	for i, word := range words {
		if answers[i] != word {
			t.Errorf("asked for %q, got %q", word, answers[i])
		}
	}
}

func TestACancelledReplyEndsAtOnceAndDisturbsNoOther(t *testing.T) {
	m := small(t, nil)
	other := engine.Prompt{
		Conversation: "other",
		Messages:     repeating("garden"),
		MaxTokens:    8,
		Urgency:      engine.Live.Urgency(),
	}
	ctx, cancel := context.WithCancelCause(within(t))
	why := errors.New("barge-in")
	var got string
	var wg sync.WaitGroup
	wg.Go(func() { got, _ = reply(t, m, other) })
	pieces := 0
	cut := engine.Prompt{
		Conversation: "cut",
		Messages:     ask("Count to a hundred."),
		MaxTokens:    100,
		Urgency:      engine.Live.Urgency(),
	}
	u, err := m.Generate(ctx, cut, func(engine.Part) error {
		if pieces++; pieces == 3 {
			cancel(why)
		}
		return nil
	})
	wg.Wait()
	if !errors.Is(err, why) || pieces != 3 {
		t.Errorf("cancelled at the third piece: %d pieces, error %v, %+v", pieces, err, u)
	}
	if got != "garden" {
		t.Errorf("in parallel with a cancelled reply: %q", got)
	}
	// The decoded tokens stay valid.
	_, u = reply(t, m, engine.Prompt{Conversation: "cut", Messages: cut.Messages, MaxTokens: 2})
	if u.CachedTokens != u.PromptTokens-1 {
		t.Errorf("after the cancelled reply %d of %d tokens are cached", u.CachedTokens, u.PromptTokens)
	}
}

func TestAnErrorOfEmitEndsTheReply(t *testing.T) {
	m := small(t, nil)
	full := errors.New("full")
	calls := 0
	_, err := m.Generate(within(t), engine.Prompt{Messages: ask("Count to ten.")}, func(engine.Part) error {
		calls++
		return full
	})
	if !errors.Is(err, full) || calls != 1 {
		t.Errorf("%d calls of emit, error %v", calls, err)
	}
}

func TestASlowCallerDelaysNoOther(t *testing.T) {
	m := small(t, nil)
	stuck := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := m.Generate(within(t), engine.Prompt{Conversation: "slow", Messages: ask(questions[0]), MaxTokens: 32},
			func(engine.Part) error { <-stuck; return nil })
		if err != nil {
			t.Error(err)
		}
	})
	reply(t, m, engine.Prompt{Conversation: "quick", Messages: ask(questions[1]), MaxTokens: 16})
	close(stuck)
	wg.Wait()
}

func TestACallGivesUpAtTheGate(t *testing.T) {
	gate := engine.NewGate(1)
	m := small(t, func(o *Options) { o.Gate = gate })
	leave, err := gate.Enter(within(t), engine.Live.Urgency(), 1) // long work of another caller
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(within(t), 50*time.Millisecond)
	defer cancel()
	p := engine.Prompt{
		Conversation: "a",
		Messages:     ask(questions[0]),
		MaxTokens:    4,
		Urgency:      engine.Batch.Urgency(),
	}
	if _, err := m.Generate(ctx, p, func(engine.Part) error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting at the gate: %v", err)
	}
	leave()
	reply(t, m, p)
}

func TestTheGateIsEnteredForTheMostUrgentRequest(t *testing.T) {
	gate := engine.NewGate(1)
	m := small(t, func(o *Options) { o.Gate = gate })
	leave, err := gate.Enter(within(t), engine.Live.Urgency(), 1)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	generate := func(name string, p engine.Priority) {
		wg.Go(func() {
			reply(t, m, engine.Prompt{
				Conversation: name,
				Messages:     ask(questions[0]),
				MaxTokens:    2,
				Urgency:      p.Urgency(),
			})
		})
	}
	generate("batch", engine.Batch)
	waitFor(t, func() bool { m.mailbox.mu.Lock(); defer m.mailbox.mu.Unlock(); return m.mailbox.recall != nil })
	generate("live", engine.Live)
	waitFor(t, func() bool {
		m.mailbox.mu.Lock()
		defer m.mailbox.mu.Unlock()
		return m.mailbox.recall != nil && m.mailbox.waitsFor.Priority == engine.Live
	})
	leave()
	wg.Wait()
}

func TestLiveWorkGoesBeforeBatchWork(t *testing.T) {
	m := small(t, nil)
	began := make(chan struct{})
	var batchEnded time.Time
	var wg sync.WaitGroup
	wg.Go(func() {
		var once sync.Once
		m.Generate(within(t), engine.Prompt{Conversation: "batch", Messages: ask("Count to a hundred in words."),
			MaxTokens: 60},
			func(engine.Part) error { once.Do(func() { close(began) }); return nil })
		batchEnded = time.Now()
	})
	<-began
	reply(t, m, engine.Prompt{
		Conversation: "live",
		Messages:     ask(questions[1]),
		MaxTokens:    20,
		Urgency:      engine.Live.Urgency(),
	})
	liveEnded := time.Now()
	wg.Wait()
	if !liveEnded.Before(batchEnded) {
		t.Error("a batch job of 60 tokens, begun first, ended before a live reply of 20")
	}
}

func TestTheDecoderSleepsWithoutWork(t *testing.T) {
	gate := engine.NewGate(1)
	m := small(t, func(o *Options) { o.Gate = gate })
	reply(t, m, engine.Prompt{Conversation: "a", Messages: ask(questions[0]), MaxTokens: 2})
	leave, err := gate.Enter(within(t), engine.Batch.Urgency(), 1) // nobody uses it any more
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	const idle = 500 * time.Millisecond
	before := processorTime(t)
	time.Sleep(idle)
	if used := processorTime(t) - before; used > idle/10 {
		t.Errorf("%v of processor time in %v without work", used, idle)
	}
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestGenerateTakesOverARunningPrefill(t *testing.T) {
	m := small(t, nil)
	p := engine.Prompt{Conversation: "a",
		Messages: ask(strings.Repeat("And another thing. ", 100) + "Where is the pool?"), MaxTokens: 2}
	prefilled := make(chan error, 1)
	go func() { prefilled <- m.Prefill(within(t), p) }()
	_, u := reply(t, m, p)
	if err := <-prefilled; err != nil {
		t.Error(err)
	}
	if u.ReplyTokens == 0 {
		t.Errorf("%+v", u)
	}
}

func TestCloseEndsEveryCall(t *testing.T) {
	m := small(t, func(o *Options) { o.Conversations = 1 })
	began := make(chan struct{})
	var once sync.Once
	var wg sync.WaitGroup
	for _, q := range questions[:3] {
		wg.Go(func() {
			_, err := m.Generate(within(t), engine.Prompt{Messages: ask(q + " Count to a thousand."), MaxTokens: 500},
				func(engine.Part) error { once.Do(func() { close(began) }); return nil })
			if err != nil && !errors.Is(err, ErrClosed) {
				t.Errorf("%s: %v", q, err)
			}
		})
	}
	<-began
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if _, err := m.Generate(within(t), engine.Prompt{Messages: ask("Hi")}, func(engine.Part) error {
		return nil
	}); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if err := m.Prefill(within(t), engine.Prompt{Conversation: "a", Messages: ask("Hi")}); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	m.Forget("a")
}

func TestTooManyRequestsAreRefused(t *testing.T) {
	gate := engine.NewGate(1)
	m := small(t, func(o *Options) { o.Gate = gate })
	leave, err := gate.Enter(within(t), engine.Live.Urgency(), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	ctx, cancel := context.WithCancel(within(t))
	var wg sync.WaitGroup
	for range maxWaiting {
		wg.Go(func() { m.Generate(ctx, engine.Prompt{Messages: ask("Hi")}, func(engine.Part) error { return nil }) })
	}
	waitFor(t, func() bool { m.mailbox.mu.Lock(); defer m.mailbox.mu.Unlock(); return m.mailbox.pending == maxWaiting })
	if _, err := m.Generate(ctx, engine.Prompt{Messages: ask("Hi")}, func(engine.Part) error {
		return nil
	}); !errors.Is(err, ErrBusy) {
		t.Errorf("one more than %d: %v", maxWaiting, err)
	}
	cancel()
	wg.Wait()
}

func waitFor(t *testing.T, what func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !what(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the condition never became true")
		}
	}
}

// A reply whose sampling panics ends with an error; the replies in the same steps are not affected,
// and the model continues.
func TestAPanicInOneReplyDoesNotAffectOthers(t *testing.T) {
	m := small(t, nil)
	var got string
	var others sync.WaitGroup
	others.Go(func() {
		got, _ = reply(t, m, engine.Prompt{
			Conversation: "other",
			Messages:     repeating("garden"),
			MaxTokens:    8,
			Urgency:      engine.Live.Urgency(),
		})
	})
	prompt, _, _, err := m.promptTokens(t.Context(), engine.Prompt{Messages: repeating("market")}, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	r := &request{ // sampling without a random source panics
		prompt:    prompt,
		urgency:   engine.Live.Urgency(),
		maxTokens: 8,
		sampler:   sampler{temperature: 1},
		out:       make(chan delivery, 10),
	}
	if err := m.mailbox.put(r); err != nil {
		t.Fatal(err)
	}
	if _, err := r.stream(within(t), m.mailbox, time.Now(), func(engine.Part) error {
		return nil
	}); err == nil || !strings.Contains(err.Error(), "panic") {
		t.Errorf("got %v, want the panic as an error", err)
	}
	others.Wait()
	if got != "garden" {
		t.Errorf("in parallel with a panic: %q", got)
	}
	if again, _ := reply(t, m, engine.Prompt{Messages: repeating("market"), MaxTokens: 8}); again != "market" {
		t.Errorf("after a panic: %q", again)
	}
}

// A panic that no single request caused ends all running requests with an error; the model
// continues, and the caches of idle conversations are still valid.
func TestAPanicOutsideAReplyEndsTheRequestsAndNotTheProgram(t *testing.T) {
	gate := engine.NewGate(1)
	m := small(t, func(o *Options) { o.Gate = gate })
	cached := engine.Prompt{Conversation: "kept", Messages: repeating("garden"), MaxTokens: 8}
	reply(t, m, cached)
	began := make(chan struct{})
	var once sync.Once
	var othersErr error
	var others sync.WaitGroup
	others.Go(func() {
		p := engine.Prompt{Conversation: "other", Messages: ask("Count to a thousand in words."), MaxTokens: 400}
		_, othersErr = m.Generate(within(t), p, func(engine.Part) error {
			once.Do(func() { close(began) })
			return nil
		})
	})
	<-began
	r := &request{urgency: engine.Live.Urgency(), out: make(chan delivery, 2)} // an empty prompt has no last token
	if err := m.mailbox.put(r); err != nil {
		t.Fatal(err)
	}
	if _, err := r.stream(within(t), m.mailbox, time.Now(), discardPart); err == nil ||
		!strings.Contains(err.Error(), "panic") {
		t.Errorf("got %v, want the panic as an error", err)
	}
	others.Wait()
	if othersErr == nil || !strings.Contains(othersErr.Error(), "panic") {
		t.Errorf("the parallel request: %v, want the panic as an error", othersErr)
	}
	if busy, _ := gate.Load(); busy != 0 {
		t.Errorf("%d cores are still held", busy)
	}
	answer, u := reply(t, m, cached)
	if answer != "garden" || u.CachedTokens != u.PromptTokens-1 {
		t.Errorf("afterwards %q, %+v", answer, u)
	}
	waitFor(t, func() bool { m.mailbox.mu.Lock(); defer m.mailbox.mu.Unlock(); return m.mailbox.pending == 0 })
}
