package reply

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"parley/appliance/answers"
	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/language"
)

// Approved finds the approved answer of a config that a user wants to hear.
type Approved interface {
	Decide(ctx context.Context, q answers.Question, judge answers.Judge, u *engine.Urgency,
		conversation string) (answers.Decision, error)
}

// ApprovedAnswers are the approved answers of a chat's config.
type ApprovedAnswers struct {
	*contract.Answers               // nil: the config has none
	Finder            Approved      // nil: the box cannot find them
	Judge             answers.Judge // weighs the likeliest of them; nil: none does
}

// mode returns who may answer; "" if there are no approved answers.
func (a ApprovedAnswers) mode() contract.AnswersMode {
	if a.Answers == nil {
		return ""
	}
	return a.Mode
}

// Router is a language model that tells which tool the user asks for before it replies, "" for none, and how
// much likelier it is than none, in natural logarithms.
type Router interface {
	Route(ctx context.Context, p engine.Prompt) (tool string, margin float64, err error)
}

// heldReply is a reply of the model that is begun before it is certain that it is wanted.
type heldReply struct {
	wanted chan struct{} // closed if it is wanted
	ended  chan struct{} // closed when the model has ended
}

// wait waits until the reply is wanted. It returns the cause if ctx ends first. A nil heldReply is wanted.
func (h *heldReply) wait(ctx context.Context) error {
	if h == nil {
		return nil
	}
	select {
	case <-h.wanted: // also if ctx has ended: the failure of the reply is posted
		return nil
	default:
	}
	select {
	case <-h.wanted:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// replyApproved replies in a chat with approved answers. The model's reply begins as soon as the choice needs
// a judgement, so that a reply of the model is not late; it is held back until the choice is made.
func (t thinking) replyApproved(ctx context.Context, prompt engine.Prompt, c turn.Think) {
	ofModel, cancelModel := context.WithCancel(ctx)
	defer cancelModel()
	held, model := &heldReply{make(chan struct{}), make(chan struct{})}, t
	model.held = held
	begin := sync.OnceFunc(func() {
		t.spawn(func() {
			defer close(held.ended)
			model.replyFromModel(ofModel, prompt, c)
		})
	})
	e := evidence{
		only:       t.approved.Mode == contract.AnswersOnly,
		unprompted: c.Unprompted,
		afterTool:  c.AfterTool,
		tools:      len(c.Tools) > 0 && !c.NoCall,
	}
	var f found
	if !e.unprompted && !e.afterTool {
		ahead := begin
		if e.only || t.noSpeculation { // a custom model may act on what it is asked
			ahead = func() {}
		}
		f = t.find(ctx, c, ahead)
	}
	e.fits, e.score = len(f.items) > 0, f.score
	if e.tools && !e.unprompted && (e.fits || e.only) {
		e.tool, e.margin, e.routed = t.route(ctx, prompt, e.fits)
	}
	from := e.choose()
	t.log.Debug("reply chosen", "turn", t.turn, "source", from, "answers", f.ids(), "score", f.score, "tool", e.tool)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded): // the user still waits
		t.postEnd(nil, "", ctx.Err())
	case ctx.Err() != nil:
	case from == fromModel, from == fromTool && e.routed && !e.only:
		if from == fromModel {
			*t.unanswered = f.words
		}
		close(held.wanted)
		begin()
		<-held.ended
	default:
		cancelModel()
		t.replyWithoutModel(ctx, prompt, c, from, f)
	}
}

// replyWithoutModel says what is not the model's.
func (t thinking) replyWithoutModel(ctx context.Context, prompt engine.Prompt, c turn.Think, from source, f found) {
	if from == fromTool {
		call, misfit, err := t.requestCall(ctx, prompt, c.Tools)
		switch {
		case err != nil:
			t.log.Warn("language model failed to call a tool", "turn", t.turn, "err", err)
		case call != nil:
			t.postEnd(call, misfit, nil)
			return
		}
		if from = fromUnknown; len(f.items) > 0 {
			from = fromAnswer
		} else if c.AfterTool {
			from = fromToolResult
		}
	}
	switch from {
	case fromAnswer, fromFarewell:
		t.sayAnswers(f)
	case fromToolResult:
		t.sayLines(t.toolResult(c), turn.Sentence{})
	case fromUnknown:
		*t.unanswered = f.words
		t.sayUnknown()
	}
	if from == fromFarewell {
		t.postEnd(&engine.ToolCall{Name: turn.HangUp, Arguments: "{}"}, "", nil)
		return
	}
	t.postEnd(nil, "", nil)
}

// requestCall has the model call a tool, and returns nil if it writes words instead, which are not said.
func (t thinking) requestCall(ctx context.Context, prompt engine.Prompt, tools []turn.Tool) (call *engine.ToolCall,
	misfit string, err error) {
	if t.noSpeculation && !t.schedule.waitUntilReal(ctx) {
		return nil, "", context.Cause(ctx)
	}
	t.callOnly, t.wordsExpected = true, false
	return t.generateCall(ctx, prompt, tools)
}

// routePatience is how long an approved answer that fits waits for the router, beyond the silence. With what
// the conversation has in the cache a router takes less than 100 ms of two free cores. Without, or on a busy box, it
// may take many seconds.
const routePatience = time.Second

// route returns the tool that the user asks for, if the model has a router. While an approved answer waits for
// that, it takes routePatience at most.
func (t thinking) route(ctx context.Context, prompt engine.Prompt, waits bool) (tool string, margin float64,
	routed bool) {
	r, ok := t.model.(Router)
	if !ok {
		return "", 0, false
	}
	limited := ctx
	if waits {
		var cancel context.CancelFunc
		limited, cancel = context.WithDeadline(ctx, later(t.schedule.due()).Add(routePatience))
		defer cancel()
	}
	tool, margin, err := r.Route(limited, prompt)
	if err != nil && ctx.Err() == nil {
		t.log.Warn("choosing a tool failed; none is called", "turn", t.turn, "err", err)
	}
	return tool, margin, true
}

// sayAnswers posts the sentences of approved answers.
func (t thinking) sayAnswers(f found) {
	for _, item := range f.items {
		s := turn.Sentence{AnswerID: item.ID, Fixed: f.rest == "" && !HasVariables(item.Say)}
		say := f.rest
		if say == "" {
			say = t.fill(item.Say)
		}
		t.sayLines(say, s)
	}
}

// sayUnknown posts what the config has the assistant say if no approved answer fits.
func (t thinking) sayUnknown() {
	unknown := t.approved.Unknown
	t.sayLines(t.fill(unknown), turn.Sentence{Fixed: !HasVariables(unknown)})
}

// sayLines posts the sentences of a text, each with the marks of like.
func (t thinking) sayLines(text string, like turn.Sentence) {
	for _, s := range Sentences(text) {
		s.AnswerID, s.Fixed = like.AnswerID, like.Fixed
		t.postThought(s)
	}
}

// toolResult returns the words for the tools' answers where the model must not speak.
func (t thinking) toolResult(c turn.Think) string {
	if words := toolWords(c.History); words != "" {
		return words
	}
	switch lines := language.Of(c.Language); c.History[len(c.History)-1].Text {
	case turn.EmptyResult:
		return lines.Done()
	case turn.FailedResult:
		return lines.Sorry()
	}
	return t.fill(t.approved.Unknown)
}

// HasVariables reports whether a text has variables to fill in, so that its sound is not the same in every chat.
func HasVariables(text string) bool { return strings.Contains(text, "{{") }
