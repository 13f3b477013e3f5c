package reply

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/answers"
	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

var museumAnswers = contract.Answers{
	Unknown: "I don't know that. Please ask at the desk.",
	Items: []contract.AnswerItem{
		{ID: "hours", Say: "We open at ten. We close at six."},
		{ID: "cafe", Say: "The café is upstairs."},
		{ID: "guide", Say: "Your guide is {{guide}}."},
		{ID: "bye", Say: "See you soon."},
		{ID: "sundays", Say: "On Sundays we open at eleven."},
	},
}

// finder finds the items whose word is in the question, and waits before that.
type finder struct {
	mu    sync.Mutex
	asked []answers.Question
	score float64
	takes time.Duration
	judge bool // the judge is asked
	err   error
}

func (f *finder) Decide(ctx context.Context, q answers.Question, j answers.Judge, u *engine.Urgency,
	conversation string) (answers.Decision, error) {
	f.mu.Lock()
	f.asked = append(f.asked, q)
	f.mu.Unlock()
	if f.judge {
		if _, err := j.Choose(ctx, engine.Prompt{}, nil); err != nil {
			return answers.Decision{Item: answers.None}, err
		}
	}
	select {
	case <-time.After(f.takes):
	case <-ctx.Done():
		return answers.Decision{Item: answers.None}, ctx.Err()
	}
	for i, word := range []string{"open", "café", "guide", "bye", "Sundays"} {
		if strings.Contains(q.Text, word) && museumAnswers.Items[i].ID != q.Not {
			return answers.Decision{Item: i, Score: f.score}, f.err
		}
	}
	return answers.Decision{Item: answers.None}, f.err
}

// speaker is a model that says the same and counts how often it is asked.
type speaker struct {
	scripted
	waits  time.Duration
	call   *engine.ToolCall
	tool   string // that its router chooses
	margin float64
	routes time.Duration // of its router
}

func (s *speaker) Generate(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
	select {
	case <-time.After(s.waits):
	case <-ctx.Done():
		return engine.Usage{}, ctx.Err()
	}
	if s.call != nil {
		s.asked = append(s.asked, p)
		return engine.Usage{}, emit(engine.Part{Call: s.call})
	}
	return s.scripted.Generate(ctx, p, emit)
}

func (s *speaker) Choose(context.Context, engine.Prompt, []string) ([]float64, error) {
	return nil, nil
}

// routing is a speaker with a router.
type routing struct{ *speaker }

func (r routing) Route(ctx context.Context, _ engine.Prompt) (string, float64, error) {
	select {
	case <-time.After(r.routes):
		return r.tool, r.margin, nil
	case <-ctx.Done():
		return "", 0, ctx.Err()
	}
}

// approving returns a mind of a chat with the answers of a museum.
func approving(m engine.LanguageModel, f *finder, mode contract.AnswersMode) mind {
	a := museumAnswers
	a.Mode = mode
	judge, _ := m.(answers.Judge)
	return mind{
		model:      m,
		throughput: NewThroughput(),
		outage:     &outage{},
		toolChecks: &toolChecks{},
		approved:   ApprovedAnswers{Answers: &a, Finder: f, Judge: judge},
		log:        slog.New(slog.DiscardHandler),
		spawn:      func(f func()) { go f() },
	}
}

// replies returns what is said in reply to words after a history, as "answer: sentence" or "call tool".
func replies(t *testing.T, m mind, think turn.Think, s *schedule) (said []string, unanswered string) {
	t.Helper()
	begun := time.Now()
	m.clock = func() time.Duration { return time.Since(begun) }
	var mu sync.Mutex
	m.post = func(e turn.Event) {
		mu.Lock()
		defer mu.Unlock()
		switch e := e.(type) {
		case turn.SentenceThought:
			line := e.Sentence.Text
			if e.Sentence.AnswerID != "" {
				line = e.Sentence.AnswerID + ": " + line
			}
			if e.Sentence.Fixed {
				line += " (fixed)"
			}
			said, unanswered = append(said, line), unanswered+e.Unanswered
		case turn.ToolRequested:
			said = append(said, "call "+e.Call.Name)
		case turn.MindFailed:
			said = append(said, "failed")
		}
	}
	fill := func(text string) string { return strings.ReplaceAll(text, "{{guide}}", "Ann") }
	m.reply(t.Context(), think, ModelOptions{Fill: fill}, s)
	return said, unanswered
}

// now returns the schedule of a reply that is waited for.
func now() *schedule { return newSchedule(true, time.Now()) }

func asks(words string, before ...turn.Entry) turn.Think {
	return turn.Think{Turn: 1, Conversation: turn.Conversation{
		History: append(before, turn.Entry{Role: turn.User, Text: words})}}
}

func withTools(t turn.Think, names ...string) turn.Think {
	for _, name := range names {
		t.Tools = append(t.Tools, turn.Tool{Name: name, Parameters: `{"type":"object"}`})
	}
	return t
}

func TestAnApprovedAnswerIsSaidWordForWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &speaker{scripted: scripted{pieces: []string{"Who knows."}}}
		f := &finder{score: 0.8, takes: 50 * time.Millisecond}
		m := approving(model, f, contract.AnswersFirst)
		said, unanswered := replies(t, m, asks("When do you open?"), now())
		wantSaid(t, said, "hours: We open at ten. (fixed)", "hours: We close at six. (fixed)")
		said, _ = replies(t, m, asks("Who is my guide?"), now())
		wantSaid(t, said, "guide: Your guide is Ann.")
		if len(model.asked) != 0 || unanswered != "" {
			t.Errorf("the model was asked %d times; unanswered %q", len(model.asked), unanswered)
		}
		said, unanswered = replies(t, m, asks("Who was Bach?"), now())
		wantSaid(t, said, "Who knows.")
		if unanswered != "Who was Bach?" {
			t.Errorf("unanswered %q", unanswered)
		}
	})
}

// With the mode only, no model writes a word, whatever happens.
func TestOnlyApprovedAnswersAreSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &speaker{scripted: scripted{pieces: []string{"Who knows."}}}
		f := &finder{score: 0.8}
		m := approving(model, f, contract.AnswersOnly)
		unknown := []string{"I don't know that. (fixed)", "Please ask at the desk. (fixed)"}
		cafe := []string{"cafe: The café is upstairs. (fixed)"}
		identity := asks("Who are you?")
		identity.Identity = "I'm the voice assistant on this box."
		tool := turn.Entry{Role: turn.ToolCall, ID: "1", Name: "book", Text: "{}"}
		answered := func(text string) turn.Think {
			return turn.Think{Turn: 1, AfterTool: true, Conversation: turn.Conversation{History: []turn.Entry{
				{Role: turn.User, Text: "Book a guide."}, tool, {Role: turn.ToolResult, ID: "1", Text: text},
			}}}
		}
		for name, row := range map[string]struct {
			think turn.Think
			want  []string
		}{
			"an answer":       {asks("Is there a café?"), cafe},
			"unknown":         {asks("Who was Bach?"), unknown},
			"thanks":          {asks("Thank you!"), unknown},
			"who it is":       {identity, unknown},
			"by itself":       {turn.Think{Turn: 1, Unprompted: true}, nil},
			"after a tool":    {answered("It is booked for ten"), []string{"It is booked for ten."}},
			"without text":    {answered(turn.EmptyResult), []string{"Done."}},
			"a failed tool":   {answered(turn.FailedResult), []string{"I'm sorry, that did not work."}},
			"data of a tool":  {answered(`{"at":10}`), []string{"I don't know that.", "Please ask at the desk."}},
			"server's tools":  {withTools(asks("Who was Bach?"), "book"), unknown},
			"fits, and tools": {withTools(asks("Is there a café?"), "book"), cafe},
		} {
			said, _ := replies(t, m, row.think, now())
			if strings.Join(said, " | ") != strings.Join(row.want, " | ") {
				t.Errorf("%s: said %q, want %q", name, said, row.want)
			}
		}
		for _, p := range model.asked {
			if len(p.Tools) == 0 {
				t.Errorf("the model was asked for words: %+v", p.Messages)
			}
		}
		f.err = errors.New("broken")
		said, unanswered := replies(t, m, asks("Is there a café?"), now())
		wantSaid(t, said, unknown...)
		if unanswered != "" {
			t.Errorf("a question that could not be compared is unanswered: %q", unanswered)
		}
		m.approved.Finder = nil
		said, _ = replies(t, m, asks("Is there a café?"), now())
		wantSaid(t, said, unknown...)
	})
}

func TestAToolThatFitsBetterIsCalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := &engine.ToolCall{ID: "1", Name: "book", Arguments: "{}"}
		for name, row := range map[string]struct {
			model engine.LanguageModel
			mode  contract.AnswersMode
			score float64
			say   string
			want  []string
		}{
			"by the router": {routing{&speaker{call: book, tool: "book", margin: 4}}, "", 0.8, "Book a guide",
				[]string{"call book"}},
			"less than the answer": {routing{&speaker{call: book, tool: "book", margin: 1}}, "", 0.8, "Book a guide",
				[]string{"guide: Your guide is Ann."}},
			"by a server": {&speaker{call: book}, "", 0.8, "Book a guide", []string{"call book"}},
			"not by a server": {&speaker{scripted: scripted{pieces: []string{"Sure, who would you like to have as " +
				"your ", "guide, and when is it?"}}}, "", 0.8, "Book a guide", []string{"guide: Your guide is Ann."}},
			"only, and none fits": {routing{&speaker{call: book, tool: "book", margin: 1}}, contract.AnswersOnly, 0.8,
				"Book a table", []string{"call book"}},
			"only, and it asks back": {routing{&speaker{scripted: scripted{pieces: []string{"For how many people?"}},
				tool: "book", margin: 1}}, contract.AnswersOnly, 0.8, "Book a table",
				[]string{"I don't know that. (fixed)", "Please ask at the desk. (fixed)"}},
			"first, and it asks back": {routing{&speaker{scripted: scripted{pieces: []string{"For how many people?"}},
				tool: "book", margin: 5}}, "", 0.8, "Book a guide", []string{"For how many people?"}},
			"a farewell": {routing{&speaker{tool: turn.HangUp, margin: 9}}, "", 0.8, "Goodbye",
				[]string{"bye: See you soon. (fixed)", "call hang_up"}},
		} {
			m := approving(row.model, &finder{score: row.score}, row.mode)
			said, unanswered := replies(t, m, withTools(asks(row.say), "book", turn.HangUp), now())
			if strings.Join(said, " | ") != strings.Join(row.want, " | ") {
				t.Errorf("%s: said %q, want %q", name, said, row.want)
			}
			if asksBack := row.mode == contract.AnswersOnly && len(row.want) == 2; asksBack != (unanswered != "") {
				t.Errorf("%s: unanswered %q", name, unanswered)
			}
		}
	})
}

// The model begins as soon as the choice needs a judgement, and is dropped if an answer fits.
func TestTheModelDoesNotWaitForTheChoice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &speaker{scripted: scripted{pieces: []string{"Who knows."}}, waits: 300 * time.Millisecond}
		f := &finder{score: 0.8, takes: 80 * time.Millisecond, judge: true}
		m := approving(model, f, contract.AnswersFirst)
		for words, want := range map[string]time.Duration{
			"Who was Bach?":     300 * time.Millisecond,
			"When do you open?": 80 * time.Millisecond,
		} {
			begun := time.Now()
			said, _ := replies(t, m, asks(words), now())
			if took := time.Since(begun); took != want {
				t.Errorf("%q took %v, want %v: %q", words, took, want, said)
			}
		}
		model.waits, f.takes = 10*time.Millisecond, 200*time.Millisecond
		said, _ := replies(t, m, asks("When do you open?"), now())
		wantSaid(t, said, "hours: We open at ten. (fixed)", "hours: We close at six. (fixed)")
	})
}

func TestAChoiceThatTakesTooLongIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &speaker{scripted: scripted{pieces: []string{"Who knows."}}}
		m := approving(model, &finder{score: 0.8, takes: time.Minute}, contract.AnswersFirst)
		begun := time.Now()
		said, _ := replies(t, m, asks("When do you open?"), newSchedule(true, begun.Add(500*time.Millisecond)))
		wantSaid(t, said, "Who knows.")
		if took := time.Since(begun); took != 500*time.Millisecond+decisionPatience {
			t.Errorf("took %v", took)
		}
	})
}

func TestAnAnswerThatFitsDoesNotWaitForASlowRouter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := routing{&speaker{tool: "lights", margin: 9, routes: time.Minute}}
		m := approving(model, &finder{score: 0.8}, contract.AnswersOnly)
		begun := time.Now()
		said, _ := replies(t, m, withTools(asks("When do you open?"), "lights"), now())
		wantSaid(t, said, "hours: We open at ten. (fixed)", "hours: We close at six. (fixed)")
		if took := time.Since(begun); took != routePatience {
			t.Errorf("took %v", took)
		}
	})
}

// A reply that takes longer than replyTimeout fails, and the user is told, whoever makes it.
func TestAReplyThatTakesTooLongFailsBesideApprovedAnswers(t *testing.T) {
	for name, model := range map[string]engine.LanguageModel{
		"the router": routing{&speaker{routes: time.Hour}},
		"the model":  &speaker{waits: time.Hour},
	} {
		mode := contract.AnswersFirst
		if name == "the router" {
			mode = contract.AnswersOnly
		}
		for range 8 { // a select between two ways that are both open takes one at random
			synctest.Test(t, func(t *testing.T) {
				m := approving(model, &finder{}, mode)
				said, _ := replies(t, m, withTools(asks("Who was Bach?"), "lights"), now())
				wantSaid(t, said, "failed")
			})
		}
	}
}

// forgetful is a judge that notes what it forgets.
type forgetful struct {
	answers.Judge
	forgot []string
}

func (f *forgetful) Forget(conversation string) { f.forgot = append(f.forgot, conversation) }

// forgetfulModel is a model that does so.
type forgetfulModel struct {
	engine.LanguageModel
	forgetful
}

func (f *forgetfulModel) Forget(conversation string) { f.forgetful.Forget(conversation) }

func TestTheJudgeForgetsAChatThatIsOver(t *testing.T) {
	judge, model := &forgetful{}, &forgetfulModel{}
	New(Parts{ChatID: "chat", Model: model, Approved: ApprovedAnswers{Judge: judge}}).Forget()
	if len(judge.forgot) != 1 || len(model.forgot) != 1 {
		t.Errorf("the judge forgot %q, the model %q", judge.forgot, model.forgot)
	}
}

// What was found before the time was over is said.
func TestAChoiceThatTakesTooLongKeepsWhatIsCertain(t *testing.T) {
	hours := []turn.Entry{
		{Role: turn.User, Text: "When do you open?"},
		{Role: turn.Assistant, Text: "We open at ten. We close at six.", AnswerID: "hours"},
	}
	whole := []string{"hours: We open at ten. (fixed)", "hours: We close at six. (fixed)"}
	synctest.Test(t, func(t *testing.T) {
		m := approving(&speaker{}, &finder{score: 0.8, takes: time.Minute}, contract.AnswersOnly)
		said, _ := replies(t, m, asks("Sorry, what?", hours...), now())
		wantSaid(t, said, whole...)
		m = approving(&speaker{}, &finder{score: 0.8, takes: decisionPatience * 2 / 3}, contract.AnswersOnly)
		said, _ = replies(t, m, asks("When do you open, and where is the café?"), now())
		wantSaid(t, said, whole...)
	})
}

// A custom model is not asked before the user has finished, but the answer is chosen ahead.
func TestAnAnswerIsChosenBeforeACustomModelIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &speaker{scripted: scripted{pieces: []string{"Who knows."}}}
		m := approving(model, &finder{score: 0.8, judge: true}, contract.AnswersFirst)
		m.noSpeculation = true
		said, _ := replies(t, m, asks("When do you open?"), newSchedule(false, time.Now().Add(time.Second)))
		wantSaid(t, said, "hours: We open at ten. (fixed)", "hours: We close at six. (fixed)")
		s := newSchedule(false, time.Now().Add(time.Second))
		go func() {
			time.Sleep(2 * time.Second)
			s.promote()
		}()
		begun := time.Now()
		said, _ = replies(t, m, asks("Who was Bach?"), s)
		wantSaid(t, said, "Who knows.")
		if took := time.Since(begun); took != 2*time.Second || len(model.asked) != 1 {
			t.Errorf("took %v, asked %d times", took, len(model.asked))
		}
	})
}

func TestFollowUpsOfAnApprovedAnswer(t *testing.T) {
	hours := []turn.Entry{
		{Role: turn.User, Text: "When do you open?"},
		{Role: turn.Assistant, Text: "We open at ten.", AnswerID: "hours"},
		{Role: turn.Assistant, Text: "We close at six.", AnswerID: "hours"},
	}
	cut := []turn.Entry{hours[0], {Role: turn.Assistant, Text: "We open at…", AnswerID: "hours", GoesOn: true}}
	whole := []string{"hours: We open at ten. (fixed)", "hours: We close at six. (fixed)"}
	model := &speaker{scripted: scripted{pieces: []string{"Who knows."}}}
	for name, row := range map[string]struct {
		before []turn.Entry
		say    string
		want   []string
	}{
		"again":                   {hours, "Sorry, what?", whole},
		"again, interrupted":      {cut, "Could you repeat that?", whole},
		"again, nothing heard":    {hours[:1], "What?", whole},
		"go on":                   {cut, "Please continue.", []string{"hours: ten.", "hours: We close at six."}},
		"go on with a whole one":  {hours, "Go on.", []string{"Who knows."}},
		"a correction":            {hours, "No, I meant the café.", []string{"cafe: The café is upstairs. (fixed)"}},
		"a correction of nothing": {hours, "No, I meant when you open.", []string{"Who knows."}},
		"a follow-up": {hours, "And on Sundays?",
			[]string{"sundays: On Sundays we open at eleven. (fixed)"}},
		"two questions": {nil, "When do you open, and where is the café?",
			append(whole[:2:2], "cafe: The café is upstairs. (fixed)")},
		"one of two":      {nil, "When do you open, and who was Bach?", whole},
		"told something":  {nil, "I am Tom. When do you open?", whole},
		"an answer twice": {nil, "When do you open? And when do you open on Sundays?", whole},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &finder{score: 0.8}
			said, _ := replies(t, approving(model, f, contract.AnswersFirst), asks(row.say, row.before...), now())
			if strings.Join(said, " | ") != strings.Join(row.want, " | ") {
				t.Errorf("%s: said %q, want %q; asked %+v", name, said, row.want, f.asked)
			}
		})
	}
}
