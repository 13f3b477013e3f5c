package bench

import (
	"errors"
	"log/slog"
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
	answers, err := answersOf(t.Context(), a, o, chat.Parts{Defaults: chat.DefaultSettings(), Rules: opened.Rules},
		opened.Model)
	if err != nil || len(answers) != 1 || !answers[0].Right || answers[0].Half != openHalf {
		t.Fatalf("%+v, %v", answers, err)
	}
	r := Report{Answers: answers}
	r.tally()
	if len(r.Figures) != 2 || r.Figures[0].Name != "open_right" || r.Figures[0].Value != 100 {
		t.Errorf("%+v", r.Figures)
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
