package llama

import (
	"strings"
	"testing"

	"parley/appliance/engine"
	"parley/internal/packtest"
)

// Answers after interrupted ones are complete, although a small model ends its answers like the
// earlier ones.
func TestAnswersAreWholeAfterOnesThatWereInterrupted(t *testing.T) {
	m := small(t, func(o *Options) { o.ModelPath = packtest.File(t, "llm-qwen-small", "model.gguf") })
	for _, heard := range []string{"Breakfast is from…", "Breakfast is from"} {
		for _, question := range []string{"And when is breakfast?", "Where is the pool?"} {
			cut := engine.Message{Role: engine.Assistant, Content: heard, Interrupted: true}
			p := engine.Prompt{
				Conversation: "c",
				Urgency:      engine.Live.Urgency(),
				MaxTokens:    40,
				Messages: append(ask("When is breakfast?"),
					cut, says(engine.User, "Sorry, when?"), cut, says(engine.User, question)),
			}
			answer, _ := reply(t, m, p)
			if !endsSentence(answer) || strings.Contains(answer, "…") {
				t.Errorf("after %q, to %q: %q", heard, question, answer)
			}
		}
	}
}

func TestWhatEndsWithASentence(t *testing.T) {
	for answer, whole := range map[string]bool{
		"Yes.": true, "Is it?": true, "He said \"no.\" ": true, "All right! 🙂": true, "开了。": true, "क्या?": true,
		"(It is.)": true,
		"":         false, "The weather in Linz is…": false, "The weather in Linz": false, "At 10:": false,
		"From 7 to 10.30, (daily": false,
	} {
		if endsSentence(answer) != whole {
			t.Errorf("%q is whole: %v", answer, !whole)
		}
	}
}

func TestAReplyEndsOnlyWhereItMay(t *testing.T) {
	for name, c := range map[string]struct {
		r   *request
		may bool
	}{
		"nothing was said": {&request{}, false},
		"by a grammar":     {&request{grammar: &grammar{}}, true},
		"in a sentence":    {&request{generated: make([]Token, 3), text: "The pool is"}, true},
		"in a sentence, after an interruption": {
			&request{wholeSentences: true, generated: make([]Token, 3), text: "The pool is"}, false},
		"after a sentence, and an interruption": {
			&request{wholeSentences: true, generated: make([]Token, 4), text: "The pool is closed."}, true},
		"in a long sentence, after interruption": {
			&request{wholeSentences: true, generated: make([]Token, earlyTokens), text: "one, two"}, true},
	} {
		if c.r.mayEnd() != c.may {
			t.Errorf("%s: it may end: %v", name, !c.may)
		}
	}
}

// An answer that was interrupted at its first word is left out: a model that reads "I'm" three
// times continues that way.
func TestFragmentsOfAnswersAreLeftOut(t *testing.T) {
	cut := func(answer string) engine.Message {
		return engine.Message{Role: engine.Assistant, Content: answer, Interrupted: true}
	}
	p := engine.Prompt{Messages: append(ask("Who is this?"), cut("I'm… …"), says(engine.User, "Hello?"),
		cut("You have reached…"), says(engine.User, "Who?"),
		says(engine.Assistant, "Yes."), says(engine.User, "What?"), cut("I"))}
	var got []string
	for _, m := range withTools(p, nil) {
		if m.Role != engine.System {
			got = append(got, m.Content)
		}
	}
	if all := strings.Join(got, "|"); all != "Who is this?|Hello?|You have reached|Who?|Yes.|What?|I" {
		t.Errorf("the model reads %s", all)
	}
}
