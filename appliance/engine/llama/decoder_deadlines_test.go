package llama

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"parley/appliance/engine"
)

// The prompt of a newcomer, whose answer is overdue, lets the sound of a running answer go first
// that is needed before the prompt can be computed; also if that sound is late, so that it is due
// again each time.
func TestALongPromptLetsSoundThroughThatIsDueBeforeItCanBeRead(t *testing.T) {
	now := time.Now()
	gate := engine.NewGate(2)
	for name, row := range map[string]struct {
		tokens, cached int
		sound          time.Duration // due so much later
		first          string
	}{
		"a newcomer, and sound that is late": {tokens: 1500, sound: 700 * time.Millisecond, first: "sound"},
		"a newcomer, and sound for a minute": {tokens: 1500, sound: time.Minute, first: "prompt"},
		"the words of a turn": {
			tokens: 1500,
			cached: 1472,
			sound:  700 * time.Millisecond,
			first:  "prompt",
		},
		"the words of a turn, sound due before": {tokens: 28, sound: -2 * time.Second, first: "sound"},
	} {
		t.Run(name, func(t *testing.T) {
			o := &decoder{gate: gate}
			o.steps.record(stepTokensInteractive, 20*time.Millisecond, now)
			r := missedSince(now.Add(-time.Second), row.tokens)
			r.cached = row.cached
			o.running = []*request{r}
			u, stop := o.atGate(now)
			defer stop()
			if got := order(t, gate, u, engine.NewUrgency(engine.Live, now.Add(row.sound))); got[0] != row.first {
				t.Errorf("%v is the order", got)
			}
		})
	}
}

// missedSince returns a request with a prompt of so many tokens, which arrived when its answer was
// due.
func missedSince(at time.Time, tokens int) *request {
	return &request{
		prompt:    make([]Token, tokens),
		seq:       &sequence{},
		startedAt: at,
		urgency:   engine.NewUrgency(engine.Live, at),
	}
}

// order returns the order in which a step and a piece of sound pass the gate.
func order(t *testing.T, gate *engine.Gate, step, sound *engine.Urgency) (names []string) {
	t.Helper()
	leave, err := gate.Enter(t.Context(), engine.Live.Urgency(), gate.Cores())
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	for i, u := range []*engine.Urgency{step, sound} {
		all.Go(func() {
			if err := gate.Do(context.Background(), u, gate.Cores(), func() error {
				mu.Lock()
				defer mu.Unlock()
				names = append(names, []string{"prompt", "sound"}[i])
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	for waits := 0; waits < 2; time.Sleep(time.Millisecond) {
		_, waiting := gate.Load()
		waits = waiting[engine.Live]
	}
	leave()
	all.Wait()
	return slices.Clone(names)
}

// A guess that becomes a turn while the decoder waits with its long prompt continues as a turn.
func TestALongPromptIsPromotedWhereItWaits(t *testing.T) {
	now := time.Now()
	r := missedSince(now, 1500)
	r.urgency.Set(engine.Speculative, now.Add(time.Second))
	o := &decoder{running: []*request{r}}
	u, stop := o.atGate(now)
	defer stop()
	r.urgency.Set(engine.Live, now)
	if got := u.Get(); got.Priority != engine.Live || !got.Due.Equal(now.Add(firstWordsTime)) {
		t.Errorf("the request waits as %+v", got)
	}
}

// The words of a turn are computed before the long prompt of a newcomer that has waited longer, and
// a step for that prompt is aborted for them.
func TestALongPromptHoldsUpNoShortOne(t *testing.T) {
	now := time.Now()
	long, short := missedSince(now.Add(-time.Second), 1500), missedSince(now, 28)
	o := &decoder{running: []*request{long, short}}
	o.steps.record(stepTokensInteractive, 20*time.Millisecond, now)
	if _, prompts := o.ordered(now); prompts[0] != short {
		t.Error("the long prompt comes first")
	}
	a := &abort{gate: engine.NewGate(1)}
	a.arm(func() engine.Need { return o.due(long, now) }, time.Minute, "", 0)
	if a.yieldTo(short.urgency, "another"); !a.shouldAbort() {
		t.Error("the step goes on")
	}
}
