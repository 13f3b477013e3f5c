package reply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/engine"
	"parley/appliance/engine/enginetest"
)

// scripted is a model that says some pieces, each after a time, and then fails.
type scripted struct {
	engine.LanguageModel
	pieces []string
	again  []string // said instead of pieces when it is asked again; nil: the same
	each   time.Duration
	err    error
	asked  []engine.Prompt
	tokens int // that it reports as written
}

func (s *scripted) Generate(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
	s.asked = append(s.asked, p)
	pieces := s.pieces
	if s.again != nil && len(s.asked) > 1 {
		pieces = s.again
	}
	if _, err := enginetest.FixedReply(s.each, pieces...)(ctx, p, emit); err != nil {
		return engine.Usage{}, err
	}
	return engine.Usage{ReplyTokens: s.tokens}, s.err
}

// thought returns what a mind posts for a turn, including "quick: …" and "broke".
func thought(t *testing.T, m mind, think turn.Think, options ModelOptions, s *schedule) []string {
	t.Helper()
	var said []string
	begun := time.Now()
	m.log, m.clock, m.chatID = slog.New(slog.DiscardHandler), func() time.Duration { return time.Since(begun) }, "chat"
	m.post = func(e turn.Event) {
		switch e := e.(type) {
		case turn.SentenceThought:
			if e.Sentence.Quick {
				said = append(said, fmt.Sprintf("quick after %v", e.Time()))
				return
			}
			said = append(said, e.Sentence.Text)
		case turn.MindFailed:
			said = append(said, "broke")
			if e.ID == "" || e.Fault.Cause == nil {
				t.Errorf("%+v", e)
			}
		case turn.ThinkingEnded:
			said = append(said, "end")
		case turn.SessionNamed:
			said = append(said, "named "+e.Session)
		}
	}
	m.reply(t.Context(), think, options, s)
	return said
}

// alone returns a mind with these models.
func alone(m *scripted, fallback ...*scripted) mind {
	out := mind{
		model:      m,
		throughput: NewThroughput(),
		outage:     &outage{},
		toolChecks: &toolChecks{},
	}
	for _, f := range fallback {
		out.fallback = append(out.fallback, Fallback{Model: f, Throughput: NewThroughput(), Prompt: "own"})
	}
	return out
}

func question(text string) turn.Think {
	return turn.Think{Turn: 1, Conversation: turn.Conversation{History: []turn.Entry{{Role: turn.User, Text: text}}}}
}

func wantSaid(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, " | ") != strings.Join(want, " | ") {
		t.Errorf("said %q\nwant %q", got, want)
	}
}

// What a model said before it failed is said as far as it is certain.
func TestAnIncompleteAnswerIsSaid(t *testing.T) {
	for _, c := range []struct {
		pieces []string
		want   []string
	}{
		{nil, []string{"broke"}},
		{[]string{"The museum ope"}, []string{"The museum", "broke"}},
		{[]string{"The museum opens "}, []string{"The museum opens", "broke"}},
		{[]string{"It is open. It costs 1"}, []string{"It is open.", "It costs", "broke"}},
		{[]string{"It is open. It costs 1."}, []string{"It is open.", "It costs", "broke"}},
		{[]string{"It is open."}, []string{"It is open.", "broke"}},
		{[]string{"Muse"}, []string{"broke"}},
		{[]string{"博物馆十点"}, []string{"博物馆十", "broke"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := alone(&scripted{pieces: c.pieces, err: io.ErrUnexpectedEOF})
			wantSaid(t, thought(t, m, question("When?"), ModelOptions{}, newSchedule(true, time.Now())), c.want...)
		})
	}
}

func TestTheNextModelContinuesAFailedAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := &scripted{pieces: []string{"The museum opens at te"}, err: fmt.Errorf("x: %w", engine.ErrConnection)}
		second := &scripted{err: engine.ErrBroken}
		third := &scripted{pieces: []string{"ten o'clock."}}
		m := alone(first, second, third)
		wantSaid(t, thought(t, m, question("When?"), ModelOptions{Key: "k", Session: "s"}, newSchedule(true,
			time.Now())),
			"The museum opens at", "ten o'clock.", "end")
		if p := first.asked[0]; p.Key != "k" || p.Session != "s" || p.Messages[0].Content != "" {
			t.Errorf("the first was asked %+v", p)
		}
		p := third.asked[0]
		n := len(p.Messages)
		if p.Key != "" || p.Messages[0].Content != "own" || p.Messages[n-2].Content != "The museum opens at" ||
			p.Messages[n-1].Content != continueInstruction {
			t.Errorf("the third was asked %+v", p)
		}
		// The first model is not waited for again at once, but later it is.
		thought(t, m, question("And then?"), ModelOptions{}, newSchedule(true, time.Now()))
		if len(first.asked) != 1 || len(third.asked) != 2 {
			t.Errorf("asked %d and %d times", len(first.asked), len(third.asked))
		}
		time.Sleep(outageTime)
		thought(t, m, question("And then?"), ModelOptions{}, newSchedule(true, time.Now()))
		if len(first.asked) != 2 {
			t.Errorf("asked %d times", len(first.asked))
		}
	})
}

// A model on several servers continues what one of them has begun, and is asked again at once. Before an answer
// begins, it has tried all of them.
func TestAModelOnSeveralServersContinuesItsAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dies := &scripted{pieces: []string{"The museum opens at te"}, err: fmt.Errorf("x: %w", engine.ErrConnection)}
		lives, other := &scripted{pieces: []string{"ten o'clock."}}, &scripted{pieces: []string{"Later."}}
		m := alone(dies, lives, other)
		m.fallback[0].OnlyContinues = true
		for n := range 2 {
			wantSaid(t, thought(t, m, question("When?"), ModelOptions{}, newSchedule(true, time.Now())),
				"The museum opens at", "ten o'clock.", "end")
			if len(dies.asked) != n+1 || len(lives.asked) != n+1 || len(other.asked) != 0 {
				t.Errorf("asked %d, %d and %d times", len(dies.asked), len(lives.asked), len(other.asked))
			}
		}
		dies.pieces = nil
		wantSaid(t, thought(t, m, question("When?"), ModelOptions{}, newSchedule(true, time.Now())), "Later.", "end")
		if len(lives.asked) != 2 {
			t.Errorf("it was asked %d times", len(lives.asked))
		}
	})
}

// A model that adds nothing to an unfinished sentence has not answered. After a complete sentence it may have
// nothing to add.
func TestAnUnfinishedSentenceIsAFailure(t *testing.T) {
	for _, c := range []struct{ first, second, said, end string }{
		{"It is open. It closes at five and the gar", "It closes at five.", "It closes at five and the", "broke"},
		{"It is open. It closes at", "", "It closes", "broke"},
		{"It is open. It closes at five. ", "", "It closes at five.", "end"},
	} {
		synctest.Test(t, func(t *testing.T) {
			first := &scripted{pieces: []string{c.first}, err: fmt.Errorf("x: %w", engine.ErrConnection)}
			m := alone(first, &scripted{pieces: []string{c.second}})
			wantSaid(t, thought(t, m, question("When?"), ModelOptions{}, newSchedule(true, time.Now())), "It is open.",
				c.said, c.end)
		})
	}
}

func TestACancelledAnswerHasNoFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		first, second := &scripted{pieces: []string{"a"}, each: time.Second}, &scripted{pieces: []string{"No."}}
		m := alone(first, second)
		m.log, m.clock = slog.New(slog.DiscardHandler), func() time.Duration { return 0 }
		m.post = func(e turn.Event) {
			if b, ok := e.(turn.MindFailed); !ok || !errors.Is(b.Fault.Cause, context.Canceled) {
				t.Errorf("posted %+v", e)
			}
		}
		time.AfterFunc(time.Millisecond, cancel)
		m.reply(ctx, question("When?"), ModelOptions{}, newSchedule(true, time.Now()))
		if len(second.asked) > 0 {
			t.Error("the next model was asked")
		}
	})
}

// A model without speculation is not asked about a speculative transcript.
func TestAModelWithoutSpeculationWaitsForTheUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := &scripted{pieces: []string{"Ten."}}
		m := alone(first)
		m.noSpeculation = true
		s := newSchedule(false, time.Now().Add(800*time.Millisecond))
		time.AfterFunc(500*time.Millisecond, func() {
			if len(first.asked) > 0 {
				t.Error("the fallback was asked for a speculative answer")
			}
			s.promote()
		})
		think := question("When?")
		think.Speculative = true
		wantSaid(t, thought(t, m, think, ModelOptions{}, s), "Ten.", "end")
	})
}

func TestAQuickAnswerComesOnlyBeforeALateOne(t *testing.T) {
	quickly := ModelOptions{Quick: true}
	for _, c := range []struct {
		name  string
		each  time.Duration
		think turn.Think
		how   ModelOptions
		want  []string
	}{
		{"in time", 800 * time.Millisecond, question("When?"), quickly, []string{"Ten.", "end"}},
		{"late", 3 * time.Second, question("When?"), quickly, []string{"quick after 900ms", "Ten.", "end"}},
		{"not allowed", 3 * time.Second, question("When?"), ModelOptions{}, []string{"Ten.", "end"}},
		{"after a tool", 3 * time.Second, turn.Think{Turn: 1, AfterTool: true}, quickly, []string{"Ten.", "end"}},
		{"unasked", 3 * time.Second, turn.Think{Turn: 1, Unprompted: true}, quickly, []string{"Ten.", "end"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := alone(&scripted{pieces: []string{"Ten."}, each: c.each})
			t.Log(c.name)
			wantSaid(t, thought(t, m, c.think, c.how, newSchedule(true, time.Now())), c.want...)
			synctest.Wait()
		})
	}
}

// No one waits for the answer to a speculative transcript, so it has no quick answer. A model that is known
// to be late is not waited for.
func TestAQuickAnswerIsDueWhenTheAnswerIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := alone(&scripted{pieces: []string{"Ten."}, each: 4 * time.Second})
		think := question("When?")
		think.Speculative = true
		s := newSchedule(false, time.Now().Add(800*time.Millisecond))
		time.AfterFunc(800*time.Millisecond, s.promote)
		wantSaid(t, thought(t, m, think, ModelOptions{Quick: true}, s), "quick after 1.7s", "Ten.", "end")
		for range 4 {
			thought(t, m, question("When?"), ModelOptions{}, newSchedule(true, time.Now()))
		}
		wantSaid(t, thought(t, m, question("When?"), ModelOptions{Quick: true}, newSchedule(true, time.Now())),
			"quick after 300ms", "Ten.", "end")
	})
}

// Signs alone are not an answer. They are not said; the user is asked to say it again, or another model answers.
// After a tool has answered, asking again would call the tool again, so the tool's answer is read out, or the
// assistant apologises. There is no error in either case.
func TestSignsAreNoAnswer(t *testing.T) {
	custom := func(m mind) mind { m.noSpeculation = true; return m }
	unasked := question("")
	unasked.Unprompted = true
	answered := func(content string) turn.Think {
		t := question("When?")
		t.AfterTool = true
		t.History = append(t.History, turn.Entry{Role: turn.ToolCall, ID: "a", Name: "hours"},
			turn.Entry{Role: turn.ToolResult, ID: "a", Text: content})
		return t
	}
	german := question("Wann?")
	german.Language = "de"
	const again = "I'm sorry, could you say that again?"
	for _, c := range []struct {
		name  string
		mind  mind
		think turn.Think
		want  []string
	}{
		{"a sign", alone(&scripted{pieces: []string{"#"}}), question("When?"), []string{again, "end"}},
		{"nothing", alone(&scripted{}), question("When?"), []string{again, "end"}},
		{"signs in lines", alone(&scripted{pieces: []string{"…\n\n", "— !?\n\n", "🙂"}}), question("When?"),
			[]string{again, "end"}},
		{"another language", alone(&scripted{}), german,
			[]string{"Entschuldigung, können Sie das noch einmal sagen?", "end"}},
		{"behind a tool's words", alone(&scripted{}), answered("At ten"), []string{"At ten.", "end"}},
		{"behind a tool's data", alone(&scripted{}), answered(`{"at":"10:00"}`),
			[]string{"I'm sorry, I cannot answer that just now.", "end"}},
		{"a sign before words", alone(&scripted{pieces: []string{"…\n\n", "At ten."}}), question("When?"),
			[]string{"At ten.", "end"}},
		{"a sign behind words", alone(&scripted{pieces: []string{"At ten. ", "###"}}), question("When?"),
			[]string{"At ten.", "end"}},
		{"signs, and words when asked once more", alone(&scripted{pieces: []string{"# "}, again: []string{"At ten."}}),
			question("When?"), []string{"At ten.", "end"}},
		{"a number", alone(&scripted{pieces: []string{"½"}}), question("How much?"), []string{"½", "end"}},
		{"another script", alone(&scripted{pieces: []string{"はい"}}), question("When?"), []string{"はい", "end"}},
		{"another model", alone(&scripted{pieces: []string{"#"}}, &scripted{pieces: []string{"Ten."}}),
			question("When?"), []string{"Ten.", "end"}},
		{"nobody has asked", alone(&scripted{pieces: []string{"#"}}), unasked, []string{"end"}},
		{"a custom model is silent", custom(alone(&scripted{})), question("When?"), []string{"end"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			t.Log(c.name)
			wantSaid(t, thought(t, c.mind, c.think, ModelOptions{}, newSchedule(true, time.Now())), c.want...)
		})
	}
	if lines := Sentences("# …\n\nHello. — !"); len(lines) != 1 || lines[0].Text != "Hello." {
		t.Errorf("to be read aloud: %+v", lines)
	}
}

// A model that was silent is asked again, in a different way.
func TestASilentModelIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &scripted{pieces: []string{" ##\n"}}
		begins := map[string]float64{"Yes": 1}
		messages := []engine.Message{{Role: engine.System}, {Role: engine.User, Content: "When?"}}
		think := thinking{
			mind:          alone(m),
			schedule:      newSchedule(true, time.Now()),
			began:         new(time.Duration),
			wordsExpected: true,
		}
		think.log, think.clock, think.post = slog.New(slog.DiscardHandler), func() time.Duration {
			return 0
		}, func(turn.Event) {}
		_, err := think.generateWithFallback(t.Context(),
			engine.Prompt{Messages: messages, FirstWordBias: begins})
		if !errors.Is(err, ErrSilent) || !strings.Contains(err.Error(), "##") || len(m.asked) != 2 {
			t.Fatalf("asked %d times: %v", len(m.asked), err)
		}
		if p := m.asked[1]; p.Temperature <= 0 || p.FirstWordBias["##"] > -100 || p.FirstWordBias["Yes"] != 1 {
			t.Errorf("asked once more by %+v", p)
		}
		if last := m.asked[1].Messages[1]; !strings.HasPrefix(last.Content, "When? (") ||
			last.NoteBytes != len(last.Content)-len("When?") || messages[1].Content != "When?" {
			t.Errorf("asked once more with %+v", last)
		}
		if len(begins) != 1 {
			t.Errorf("what others have was changed: %v", begins)
		}
	})
}
