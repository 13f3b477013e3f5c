package bench

import (
	"errors"
	"log/slog"
	"regexp"
	"testing"

	"parley/appliance/chat"
	"parley/appliance/engines"
	"parley/bench/desks"
)

// A real model keeps to the form in which a sum is made, whichever prices it takes
// for it; the smallest one takes any.
func TestARealModelLeavesSumsToTheBox(t *testing.T) {
	o := options(t)
	o.Half, o.Only = tunedHalf, []string{desks.Sum}
	opened, err := engines.Open(t.Context(), o.Config, engines.Thinking, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { opened.Close() })
	all, err := desks.All()
	if err != nil {
		t.Fatal(err)
	}
	answers, err := atDesk(t.Context(), all[0], o, chat.Parts{Defaults: chat.DefaultSettings(), Rules: opened.Rules},
		opened.Model)
	if err != nil || len(answers) != 1 {
		t.Fatalf("%+v, %v", answers, err)
	}
	form := regexp.MustCompile(`^((2 times )?(0|5|9|14)( plus (2 times )?(0|5|9|14)){0,3}, that is (nothing|\d+ ` +
		`dollars?)\.|I'm sorry, I don't know that\.)$`)
	if said := answers[0].Said; !form.MatchString(said) {
		t.Errorf("%q was answered by %q", answers[0].Asked, said)
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
