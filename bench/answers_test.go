package bench

import (
	"errors"
	"log/slog"
	"maps"
	"testing"

	"parley/appliance/chat"
	"parley/appliance/engines"
	"parley/bench/cases"
)

func TestARealModelAnswersACase(t *testing.T) {
	o := options(t)
	o.Half, o.Only = openHalf, []string{"plain"}
	opened, err := engines.Open(t.Context(), o.Config, engines.Thinking, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { opened.Close() })
	a := cases.Assistant{Name: "test", Prompt: "You are the voice of a shop. We open at nine.", Cases: []cases.Case{
		{Kind: "plain", Ask: "When do you open?", Right: []string{`\bnine\b|\b9\b`}},
		{Kind: "plain", Ask: "When do you close?", Held: true},
	}}
	parts := chat.Parts{Defaults: chat.DefaultSettings(), Rules: chat.RulesOf(opened.Rules)}
	answers, err := answersOf(t.Context(), a, o, parts, opened.Model)
	if err != nil || len(answers) != 1 || answers[0].Half != openHalf || answers[0].Reply == "" {
		t.Fatalf("%+v, %v", answers, err)
	}
	// The smallest model may be wrong; what it said is judged all the same.
	if right, err := a.Cases[0].Passes(answers[0].Reply); err != nil || right != answers[0].Right {
		t.Errorf("%q is right: %v (%v)", answers[0].Reply, answers[0].Right, err)
	}
}

func TestAnswersAreCountedByHalfAndKind(t *testing.T) {
	r := Report{Answers: []Answer{
		{Kind: "plain", Half: openHalf, Right: true},
		{Kind: "sum", Half: openHalf},
		{Kind: "plain", Half: heldHalf, Right: true},
	}}
	r.tally()
	got := map[string]Number{}
	for _, f := range r.Figures {
		got[f.Name] = f.Value
	}
	want := map[string]Number{"open_right": 50, "held_right": 100, "plain_right": 100, "sum_right": 0}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestOnlyQuestionsThatThereAreCanBeAsked(t *testing.T) {
	o := options(t)
	o.Only = []string{"sums"}
	_, err := Answers(t.Context(), o)
	if e, ok := errors.AsType[*ErrOption](err); !ok {
		t.Errorf("%v (%v)", err, e)
	}
}
