package llama

import (
	"testing"
	"time"

	"parley/appliance/engine"
)

// A prompt whose answer is due first is computed before replies that have time; one that is
// prefetched, or due later, never delays them.
func TestAPromptGoesBeforeRepliesThatHaveTime(t *testing.T) {
	now := time.Now()
	due := func(p engine.Priority, after time.Duration) *request {
		return &request{urgency: engine.NewUrgency(p, now.Add(after))}
	}
	second := due(engine.Live, 2*time.Second) // the first sentence is being heard
	first := due(engine.Live, -100*time.Millisecond)
	for name, row := range map[string]struct {
		prompt  *request
		replies []*request
		want    bool
	}{
		"somebody waits":                  {due(engine.Live, 0), []*request{second}, true},
		"a guess":                         {due(engine.Speculative, 700*time.Millisecond), []*request{second}, true},
		"somebody has waited longer":      {due(engine.Live, 0), []*request{second, first}, false},
		"a guess that is due later":       {due(engine.Speculative, 3*time.Second), []*request{second}, false},
		"prefetched":                      {due(engine.Prefetch, 0), []*request{second}, false},
		"nobody else":                     {due(engine.Live, 0), nil, true},
		"with work that nobody waits for": {due(engine.Live, 0), []*request{due(engine.Prefetch, -time.Minute)}, true},
	} {
		if got := dueBefore(row.prompt.urgency.Get(), row.replies); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Replies are decoded together if that is faster, and otherwise the one due first goes first.
func TestRepliesAreWrittenTogetherWhereThatIsQuicker(t *testing.T) {
	now := time.Now()
	for name, row := range map[string]struct {
		took    map[int]time.Duration // of steps
		replies int
		want    int
	}{
		"nothing is known":              {nil, 4, 4},
		"one":                           {map[int]time.Duration{1: 100}, 1, 1},
		"none":                          {nil, 0, 0},
		"the cores are the limit":       {map[int]time.Duration{1: 110, 2: 220, 4: 420}, 4, 1},
		"memory is the limit":           {map[int]time.Duration{1: 30, 2: 31, 4: 34}, 4, 4},
		"two are no gain, but four are": {map[int]time.Duration{1: 110, 2: 220, 4: 240}, 4, 4},
		"two of them":                   {map[int]time.Duration{1: 110, 2: 220, 4: 240}, 2, 1},
		"four was never tried":          {map[int]time.Duration{1: 110, 2: 220}, 4, 4},
	} {
		var o decoder
		for tokens, ms := range row.took {
			o.steps.record(tokens, ms*time.Millisecond, now)
		}
		if got := o.batchedReplies(row.replies, now); got != row.want {
			t.Errorf("%s: %d, want %d", name, got, row.want)
		}
	}
}
