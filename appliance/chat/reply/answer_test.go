package reply

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/engine"
)

func TestAModelThatFailsIsStillAFailure(t *testing.T) {
	_, _, err := Answer(t.Context(), "c", failing{}, askedOfFacts("When?"))
	if !errors.Is(err, errFailing) {
		t.Errorf("%v", err)
	}
}

var errFailing = errors.New("out of order")

type failing struct{ engine.LanguageModel }

func (failing) Prefill(context.Context, engine.Prompt) error { return nil }
func (failing) Generate(context.Context, engine.Prompt, func(engine.Part) error) (engine.Usage, error) {
	return engine.Usage{}, errFailing
}

// An answer that is too long ends with its last whole sentence.
func TestATooLongAnswerEndsWithASentence(t *testing.T) {
	for _, row := range []struct {
		pieces []string
		tokens int
		want   []string
	}{
		{[]string{"There was a girl. ", "When the"}, replyTokens, []string{"There was a girl.", "end"}},
		{[]string{"There was a girl. ", "She was good."}, replyTokens,
			[]string{"There was a girl.", "She was good.", "end"}},
		{[]string{"There was a girl. ", "When the"}, 9, []string{"There was a girl.", "When the", "end"}},
		{[]string{"Four"}, replyTokens, []string{"Four", "end"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			wantSaid(t, thought(t, alone(&scripted{pieces: row.pieces, tokens: row.tokens}),
				question("Tell me a story."), ModelOptions{}, newSchedule(true, time.Now())), row.want...)
		})
	}
}
