package llama

import (
	"testing"
	"time"

	"parley/appliance/engine"
)

// A prompt whose answer is due first is read before replies that have time go on;
// one that is read ahead, or due later, never holds them up.
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
		"somebody waits":               {due(engine.Live, 0), []*request{second}, true},
		"a guess":                      {due(engine.Speculative, 700*time.Millisecond), []*request{second}, true},
		"somebody has waited longer":   {due(engine.Live, 0), []*request{second, first}, false},
		"a guess that is due later":    {due(engine.Speculative, 3*time.Second), []*request{second}, false},
		"read ahead":                   {due(engine.Ahead, 0), []*request{second}, false},
		"nobody else":                  {due(engine.Live, 0), nil, true},
		"beside what nobody waits for": {due(engine.Live, 0), []*request{due(engine.Ahead, -time.Minute)}, true},
	} {
		if got := dueBefore(row.prompt, row.replies); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
