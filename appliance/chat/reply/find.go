package reply

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"parley/appliance/answers"
	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/text"
)

// decisionPatience is how long a user waits for the choice of an approved answer, beyond the silence in which
// it is made. Most choices take milliseconds. A fifth is judged by the language model, for half a second of two
// free cores, and on a busy box it waits for others. After two seconds people take silence for a dead line; a
// wrong "I don't know" costs them more than one.
const decisionPatience = 2 * time.Second

// found is what was found for a user's words.
type found struct {
	items []contract.AnswerItem // that fit, in the order of the questions; empty: none does
	score float64               // the likelihood that the least likely of them is right
	rest  string                // of an interrupted answer that was not heard; empty: the answer is said whole
	words string                // that were compared with the answers; empty: none could be
}

func (f found) ids() (all []string) {
	for _, item := range f.items {
		all = append(all, item.ID)
	}
	return all
}

// announced is a Judge that calls first before it is asked.
type announced struct {
	answers.Judge
	first func()
}

func (a announced) Choose(ctx context.Context, p engine.Prompt, choices []string) ([]float64, error) {
	a.first()
	return a.Judge.Choose(ctx, p, choices)
}

// find returns the approved answers that fit what the user said last. It calls ahead before it asks the judge.
// After an error, none fits.
func (t thinking) find(ctx context.Context, c turn.Think, ahead func()) found {
	q := questionOf(c.History)
	if t.approved.Finder == nil || q.Text == "" {
		return found{}
	}
	ctx, cancel := context.WithDeadline(ctx, later(t.schedule.due()).Add(decisionPatience))
	defer cancel()
	begun := time.Now()
	f, err := t.findAll(ctx, q, ahead)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		t.log.Warn("an approved answer could not be chosen in time; none is given", "turn", t.turn, "limit",
			decisionPatience)
	case err != nil && ctx.Err() == nil:
		t.log.Warn("an approved answer could not be chosen; none is given", "turn", t.turn, "err", err)
	}
	if err != nil {
		return found{}
	}
	t.log.Debug("approved answers searched", "turn", t.turn, "items", f.ids(), "score", f.score, "took_ms",
		time.Since(begun).Milliseconds())
	f.words = lastAsked(c.Conversation)
	return f
}

func (t thinking) findAll(ctx context.Context, q userQuestion, ahead func()) (found, error) {
	before := t.item(q.given)
	switch {
	case q.rest && q.heard != "" && before != nil:
		if rest := restOf(t.fill(before.Say), q.heard); rest != "" {
			return found{items: []contract.AnswerItem{*before}, score: 1, rest: rest}, nil
		}
	case q.again && before != nil: // unless the config has an answer to the words themselves, found in time
		f, err := t.decide(ctx, answers.Question{Text: q.Text}, ahead)
		if err == nil && f.score >= certain && len(f.items) > 0 {
			return f, nil
		}
		return found{items: []contract.AnswerItem{*before}, score: 1}, nil
	case (q.again || q.rest) && q.BeforeAssistant == "" && q.BeforeUser != "":
		q.Text, q.BeforeUser = q.BeforeUser, "" // nothing of the answer was heard
	}
	if len(q.parts) > 1 {
		if f, err := t.decideParts(ctx, q, ahead); err != nil || len(f.items) > 0 {
			return f, err
		}
	}
	f, err := t.decide(ctx, q.Question, ahead)
	if err != nil || len(f.items) > 0 || len(q.parts) != 1 {
		return f, err
	}
	q.Text = q.parts[0] // the question, without what was told before it
	return t.decide(ctx, q.Question, ahead)
}

// decideParts returns the answers to several questions. Unless the model must not speak, an answer has to fit
// each of them, because the model can answer all; if it must not, those found in time are enough.
func (t thinking) decideParts(ctx context.Context, q userQuestion, ahead func()) (all found, err error) {
	all.score = 1
	for i, part := range q.parts {
		one := answers.Question{Text: part, BeforeUser: q.BeforeUser, BeforeAssistant: q.BeforeAssistant}
		if i > 0 {
			one.BeforeUser, one.BeforeAssistant = q.parts[i-1], ""
		}
		f, err := t.decide(ctx, one, ahead)
		switch {
		case err != nil && t.approved.Mode == contract.AnswersOnly && len(all.items) > 0:
			return all, nil
		case err != nil:
			return found{}, err
		}
		if len(f.items) == 0 {
			if t.approved.Mode == contract.AnswersOnly {
				continue
			}
			return found{}, nil
		}
		all.score = min(all.score, f.score)
		if !slices.Contains(all.ids(), f.items[0].ID) {
			all.items = append(all.items, f.items...)
		}
	}
	return all, nil
}

// decide returns the approved answer to one question.
func (t thinking) decide(ctx context.Context, q answers.Question, ahead func()) (found, error) {
	var judge answers.Judge
	if t.approved.Judge != nil {
		judge = announced{t.approved.Judge, ahead}
	}
	d, err := t.approved.Finder.Decide(ctx, q, judge, t.schedule.mind, t.chatID)
	if err != nil || d.Item < 0 || d.Item >= len(t.approved.Items) {
		return found{}, err
	}
	item := t.approved.Items[d.Item]
	if len(Sentences(t.fill(item.Say))) == 0 { // its variables are not set
		return found{}, nil
	}
	return found{items: []contract.AnswerItem{item}, score: d.Score}, nil
}

// item returns the approved answer of an ID, or nil if the config has none.
func (t thinking) item(id string) *contract.AnswerItem {
	i := slices.IndexFunc(t.approved.Items, func(a contract.AnswerItem) bool { return a.ID == id })
	if i < 0 {
		return nil
	}
	return &t.approved.Items[i]
}

// restOf returns what follows the words that were heard of an answer, or "". They may begin within the answer, if
// its beginning was heard a turn before.
func restOf(say, heard string) string {
	all := strings.Join(text.Sentences(say), " ")
	if rest, ok := strings.CutPrefix(all, heard); ok {
		return strings.TrimSpace(rest)
	}
	at := strings.LastIndex(all, heard)
	if at < 0 {
		return ""
	}
	return strings.TrimSpace(all[at+len(heard):])
}
