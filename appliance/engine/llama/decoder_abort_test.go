package llama

import (
	"strings"
	"sync"
	"testing"
	"time"

	"parley/appliance/engine"
)

// long is a prompt that takes many steps to compute.
func long(question string) []engine.Message {
	return []engine.Message{says(engine.System, strings.Repeat(hotel+" ", 5)), says(engine.User, question)}
}

func TestAStepIsAbortedForMoreUrgentWorkAtTheGate(t *testing.T) {
	gate := engine.NewGate(1)
	m := small(t, func(o *Options) { o.Gate = gate })
	var passages []engine.Passage
	var mu sync.Mutex
	gate.Observe(func(p engine.Passage) {
		mu.Lock()
		defer mu.Unlock()
		passages = append(passages, p)
	})
	var prefilling sync.WaitGroup
	var answer string
	var u engine.Usage
	prefilling.Go(func() {
		answer, u = reply(t, m, engine.Prompt{
			Conversation: "a",
			Messages:     long(questions[0]),
			MaxTokens:    8,
			Urgency:      engine.Prefetch.Urgency(),
		})
	})
	var waited []time.Duration
	for range 6 {
		time.Sleep(40 * time.Millisecond)
		begun := time.Now()
		leave, err := gate.Enter(within(t), engine.Live.Urgency(), 1)
		if err != nil {
			t.Fatal(err)
		}
		waited = append(waited, time.Since(begun))
		leave()
	}
	prefilling.Wait()
	t.Logf("waited %v with %d passages", waited, len(passages))
	// The aborted step left nothing behind: the answer is that of an undisturbed request.
	alone, _ := reply(t, m, engine.Prompt{Conversation: "b", Messages: long(questions[0]), MaxTokens: 8})
	fresh, _ := reply(t, small(t, nil), engine.Prompt{Messages: long(questions[0]), MaxTokens: 8})
	if answer != alone || answer != fresh {
		t.Errorf("disturbed %q, after it %q, undisturbed %q", answer, alone, fresh)
	}
	if u.ReplyTokens == 0 {
		t.Error("nothing was answered")
	}
}

func TestAnAbortedStepChangesNothing(t *testing.T) {
	m := small(t, nil)
	tokens := tokensOf(t, m, long(questions[0]), true)[:192]
	read := func(disturb bool) []float32 {
		ctx, err := m.lib.openContext(m.model, Options{ContextTokens: 1024, Conversations: 4, Threads: 1}.shape())
		if err != nil {
			t.Fatal(err)
		}
		defer m.lib.free(ctx)
		a := &abort{gate: engine.NewGate(1)}
		ask, stop := m.lib.watch(ctx, a)
		defer stop()
		ask(true)
		b := newBatch(m.lib, stepTokensInteractive)
		defer b.close()
		for at := 0; at < len(tokens); at += stepTokensInteractive {
			b.empty()
			b.add(0, at, tokens[at:at+stepTokensInteractive], true)
			if disturb {
				a.arm(func() engine.Need { return engine.Need{} }, time.Minute, "", 0)
				a.yieldTo(engine.Live.Urgency(), "")
				if r := m.lib.decode(ctx, b.c); r != 2 {
					t.Fatalf("a step that is to be given up: result %d", r)
				}
				if n := m.lib.memorySeqPosMax(m.lib.getMemory(ctx), 0); int(n) != at-1 {
					t.Fatalf("%d tokens are in the cache after a step that was given up; %d were before it", n+1, at)
				}
				a.disarm()
			}
			if r := m.lib.decode(ctx, b.c); r != 0 {
				t.Fatalf("result %d", r)
			}
		}
		return append([]float32(nil), logitsAt(m, ctx, stepTokensInteractive-1)...)
	}
	if d := distance(read(false), read(true)); d != 0 {
		t.Errorf("the numbers after a step that was given up are others: %g", d)
	}
}

func TestOnlyMoreUrgentWorkAbortsAStep(t *testing.T) {
	a := &abort{gate: engine.NewGate(1)}
	now := time.Now()
	need := engine.NewUrgency(engine.Speculative, now.Add(time.Second)).Get()
	live := engine.NewUrgency(engine.Live, now)
	for name, c := range map[string]struct {
		by   *engine.Urgency
		took time.Duration
		want bool
	}{
		"live":           {live, time.Second, true},
		"nearly over":    {live, minAbortGain / 2, false},
		"prefetching":    {engine.Prefetch.Urgency(), time.Second, false},
		"a later guess":  {engine.NewUrgency(engine.Speculative, now.Add(time.Minute)), time.Second, false},
		"a batch":        {nil, time.Second, false},
		"as urgent":      {engine.NewUrgency(engine.Speculative, now.Add(time.Second)), time.Second, false},
		"an older reply": {engine.NewUrgency(engine.Live, now.Add(-time.Second)), time.Second, true},
	} {
		a.arm(func() engine.Need { return need }, c.took, "", 0)
		a.yieldTo(c.by, "")
		if got := a.shouldAbort(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		a.disarm()
		if a.shouldAbort() {
			t.Errorf("%s: asked of the next step too", name)
		}
	}
	a.yieldTo(live, "")
	if a.shouldAbort() {
		t.Error("a step that may not be given up was")
	}
	// The step becomes less urgent while it runs: its reply has its first sentence, whose sound is
	// due before the second.
	step := engine.NewUrgency(engine.Live, now)
	sound := engine.NewUrgency(engine.Live, now)
	a.arm(step.Get, time.Second, "", 0)
	a.yieldTo(sound, "")
	if a.shouldAbort() {
		t.Error("a step was given up for what is as urgent")
	}
	step.Set(engine.Live, now.Add(time.Minute))
	time.Sleep(2 * gateCheckInterval)
	if !a.shouldAbort() {
		t.Error("a step whose words have time holds up the sound that is due")
	}
	// The newcomer is less urgent by now, or belongs to the step itself.
	step.Set(engine.Live, now.Add(-time.Minute))
	a.arm(step.Get, time.Second, "", 0)
	a.yieldTo(step, "")
	step.Set(engine.Live, now.Add(time.Minute))
	time.Sleep(2 * gateCheckInterval)
	if a.shouldAbort() {
		t.Error("a step was aborted for the request that it computes")
	}
	// A reply takes over what was prefilled for it.
	prefetch := engine.Prefetch.Urgency()
	for conversation, want := range map[string]bool{"mine": false, "other": true, "": true} {
		a.arm(prefetch.Get, time.Second, "mine", time.Second)
		a.yieldTo(live, conversation)
		if got := a.shouldAbort(); got != want {
			t.Errorf("during a prefetch, a reply of the conversation %q: %v", conversation, got)
		}
	}
	// But not if waiting would take longer than computing it again.
	for _, conversation := range []string{"mine", "mine" + routerSuffix} {
		a.arm(prefetch.Get, time.Second, "mine", 300*time.Millisecond)
		a.yieldTo(live, conversation)
		if !a.shouldAbort() {
			t.Errorf("a reply of the conversation %q waits for a second for a prompt that takes 0.3 s", conversation)
		}
	}
}

func TestTheSizeOfAStepFollowsItsTime(t *testing.T) {
	var s stepTimes
	now := time.Now()
	cost := func(n int) time.Duration { return 20*time.Millisecond + time.Duration(n)*5*time.Millisecond }
	for range 20 {
		n := s.fits(stepBudget, now)
		s.record(n, cost(n), now)
	}
	if n := s.fits(stepBudget, now); n != 8 {
		t.Errorf("%d tokens; eight take exactly the budget of %v", n, stepBudget)
	}
	for _, n := range sizes { // the machine gets busy
		for range 20 {
			s.record(n, 10*cost(n), now)
		}
	}
	if n := s.fits(stepBudget, now); n != 1 {
		t.Errorf("%d tokens where each step takes seconds", n)
	}
	later := now.Add(2 * sizeAge)
	for range 20 { // and quiet again
		n := s.fits(stepBudget, later)
		s.record(n, cost(n), later)
	}
	if n := s.fits(stepBudget, later); n != 8 {
		t.Errorf("%d tokens after the machine has become quiet", n)
	}
	if s.expect(8, later) != stepBudget || s.expect(stepTokensInteractive, later) != 0 {
		t.Errorf("expects %v for 8 and %v for 24, of which nothing is known", s.expect(8, later),
			s.expect(stepTokensInteractive, later))
	}
}
