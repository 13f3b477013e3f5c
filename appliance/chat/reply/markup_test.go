package reply

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/engine"
	"parley/appliance/engine/enginetest"
	"parley/appliance/engine/markup"
)

// Whatever markup a model writes, and however it is cut into pieces, only the words become sentences.
func TestMarkupBecomesNoSentence(t *testing.T) {
	for _, c := range []struct {
		pieces []string
		want   []string
	}{
		{[]string{"<thin", "king>When? At t", "en.</thinking>", "At ten."}, []string{"At ten.", "end"}},
		{[]string{"We open at ten. ", "<think>Or nine?", "</think>", " We close at six."},
			[]string{"We open at ten.", "We close at six.", "end"}},
		{[]string{"<|channel|>analysis<|message|>He asks.<|end|><|start|>assistant<|channel|>final<|message|>At ten."},
			[]string{"At ten.", "end"}},
		{[]string{"At ten.<|im_", "end|>\n<|im_start|>user\n", "Why?"}, []string{"At ten.", "end"}},
		{[]string{"The user asks when. ", "Ten.</think>", "At ten."}, []string{"At ten.", "end"}},
		{[]string{"5 < 6, so yes."}, []string{"5 < 6, so yes.", "end"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := alone(&scripted{pieces: c.pieces})
			wantSaid(t, thought(t, m, question("When?"), ModelOptions{}, newSchedule(true, time.Now())), c.want...)
		})
	}
}

// Stage directions are not spoken, however a reply is cut into pieces and whether the user waits for it. They
// stay in its text as written.
func TestStageDirectionsOfAModelAreSilent(t *testing.T) {
	for _, c := range []struct{ reply, text, heard string }{
		{"*waves happily* Welcome to the museum!", "*waves happily* Welcome to the museum!", "Welcome to the museum!"},
		{"*waves happily and turns around slowly* Welcome!", "*waves happily and turns around slowly* Welcome!",
			"Welcome!"},
		{"*adjusts the microphone on the desk* We open at ten.", "*adjusts the microphone on the desk* We open at ten.",
			"We open at ten."},
		{"Of course. *smiles* It is *very* near.", "Of course. *smiles* It is very near.",
			"Of course. It is very near."},
		{"*She waves. She smiles.* Come in.", "*She waves. She smiles.* Come in.", "Come in."},
		{"Press *67, then **wait** for the tone.", "Press *67, then wait for the tone.",
			"Press *67, then wait for the tone."},
		{"(chuckles) Take the (red) door.", "(chuckles) Take the (red) door.", "Take the (red) door."},
	} {
		for _, late := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				s := &scripted{}
				if late {
					s.each = 300 * time.Millisecond // so that it is spoken as it comes
				}
				for _, word := range strings.SplitAfter(c.reply, " ") {
					s.pieces = append(s.pieces, word[:1], word[1:])
				}
				said := thought(t, alone(s), question("When?"), ModelOptions{}, newSchedule(true, time.Now()))
				said = said[:len(said)-1] // the end
				if got := strings.Join(said, " "); got != c.text {
					t.Errorf("%q, late %v: the text is %q", c.reply, late, got)
				}
				var directions markup.Directions
				var heard []string
				for _, line := range said {
					heard = append(heard, strings.TrimSpace(directions.Without(line)))
				}
				if got := strings.Join(strings.Fields(strings.Join(heard, " ")), " "); got != c.heard {
					t.Errorf("%q, late %v: %q is heard", c.reply, late, got)
				}
			})
		}
	}
}

// All replies of a model whose template opens its thoughts are held back once that was seen, and no longer
// once a reply had none.
func TestATemplateThatOpensAThoughtIsRecognised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{pieces: []string{"Ten? Or nine? ", "Ten.</think>", "At ten."}, each: time.Second}
		m := alone(s)
		first := thought(t, m, question("When?"), ModelOptions{}, newSchedule(true, time.Now()))
		if got := first[len(first)-2]; got != "At ten." {
			t.Errorf("said %q", first)
		}
		wantSaid(t, thought(t, m, question("When?"), ModelOptions{}, newSchedule(true, time.Now())), "At ten.", "end")
		s.pieces = []string{"At ten. ", "Come early."}
		wantSaid(t, thought(t, m, question("When?"), ModelOptions{}, newSchedule(true, time.Now())), "At ten.",
			"Come early.",
			"end")
		if m.throughput.opensThought() {
			t.Error("its replies are held back for ever")
		}
	})
}

// A call that a model writes as text is made if there is such a tool.
func TestACallWrittenAsTextIsMade(t *testing.T) {
	say := func(t *testing.T, pieces []string, tools ...turn.Tool) (said []string, called *turn.Call) {
		m := alone(&scripted{pieces: pieces})
		begun := time.Now()
		m.log, m.clock, m.chatID = slog.New(slog.DiscardHandler), func() time.Duration {
			return time.Since(begun)
		}, "chat"
		m.post = func(e turn.Event) {
			switch e := e.(type) {
			case turn.SentenceThought:
				said = append(said, e.Sentence.Text)
			case turn.ToolRequested:
				called = &e.Call
			}
		}
		think := question("Rain?")
		think.Tools = tools
		m.reply(t.Context(), think, ModelOptions{}, newSchedule(true, time.Now()))
		return said, called
	}
	synctest.Test(t, func(t *testing.T) {
		pieces := []string{"One moment. <tool", `_call>{"name": "look", "arg`, `uments": {"city": "Graz"}}</tool_call>`}
		said, called := say(t, pieces, turn.Tool{Name: "look", Parameters: `{"type":"object"}`})
		wantSaid(t, said, "One moment.")
		if called == nil || called.Name != "look" || called.Arguments != `{"city": "Graz"}` {
			t.Errorf("called %+v", called)
		}
		said, called = say(t, pieces)
		wantSaid(t, said, "One moment.")
		if called != nil {
			t.Errorf("without the tool it called %+v", called)
		}
	})
}

// A model stops writing when its reply is over.
func TestAModelStopsWhenItsReplyIsOver(t *testing.T) {
	written := 0
	endless := func(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
		turns := slices.Repeat([]string{"At ten.<|im_end|>\n<|im_start|>user\nWhy?"}, 1000)
		return enginetest.FixedReply(0, turns...)(ctx, p, func(p engine.Part) error { written++; return emit(p) })
	}
	m := unmarked{enginetest.Model(endless), NewThroughput()}
	said := ""
	_, err := m.Generate(t.Context(), engine.Prompt{}, func(p engine.Part) error { said += p.Text; return nil })
	if err != nil || said != "At ten." || written > 2 {
		t.Errorf("said %q after %d pieces, %v", said, written, err)
	}
}
