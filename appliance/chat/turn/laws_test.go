package turn

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// laws checks what a conversation must never do, and what it must have done in the end, from its facts and
// effects.
type laws struct {
	t *rapid.T

	said    map[string]bool // IDs of sentences, and whether they were dictated
	records map[string]string
	answers map[string]string // IDs of approved answers, by the ID of the sentence
	asked   map[string]bool   // questions that were reported, with their turn
	rows    []string          // IDs in order
	heard   []string          // what the user said, as published
	known   []pendingTranscript

	dead     map[int]bool   // turns that were cancelled
	done     map[int]bool   // turns whose mind and mouth may stop
	worked   map[int]bool   // turns for which work was asked
	ends     map[int]string // turns that ended, and how
	open     map[int]bool   // turns of which something was published
	turn     int            // the turn of the facts published now
	paused   bool
	calls    map[string]string // tool calls, and how they ended: "", told or answered
	open1    string            // the newest call
	callTurn int               // turn of the newest call
	prepared map[int]Settings  // settings under which a turn was thought
	sounded  bool              // the current event has sent sound
}

// wholeSentence matches a sentence as the mind of a world thinks it.
var wholeSentence = regexp.MustCompile(`^Sentence number \d+ of them\.$`)

func newLaws(t *rapid.T) laws {
	return laws{
		t:        t,
		said:     map[string]bool{},
		records:  map[string]string{},
		answers:  map[string]string{},
		asked:    map[string]bool{},
		dead:     map[int]bool{},
		done:     map[int]bool{},
		worked:   map[int]bool{},
		ends:     map[int]string{},
		open:     map[int]bool{},
		calls:    map[string]string{},
		prepared: map[int]Settings{},
	}
}

func (l *laws) transcribed(g pendingTranscript) { l.known = append(l.known, g) }

// follow checks the effects of an event.
func (l *laws) follow(e Event, effects []Effect, old, now State) {
	switch e.(type) {
	case PauseRequested:
		l.paused = true
	case ResumeRequested:
		l.paused = false
	}
	l.turn = old.turn
	for _, f := range effects {
		l.effect(f, now)
	}
	if _, failed := e.(TurnFailed); failed && now.reply.fault != nil {
		delete(l.dead, now.turn) // what was made of it is still sent when its time comes
		l.done[now.turn] = true
	}
	if l.dead[now.turn] && now.reply.phase == answering { // what was made of it is still sent, and nothing more is made
		delete(l.dead, now.turn)
		l.done[now.turn] = true
		if len(now.reply.unsentSound) == 0 || !now.reply.complete() {
			l.t.Fatalf("turn %d goes on after it was cancelled: %+v", now.turn, now.reply)
		}
	}
	if l.sounded && now.playbackEnd-now.now > now.settings.Lead+longestPiece {
		l.t.Fatalf("sound is sent %v ahead of its playback", now.playbackEnd-now.now)
	}
	l.sounded = false
	if n := len(now.reply.atMouth); n > MaxAtMouth {
		l.t.Fatalf("%d sentences are asked of the mouth", n)
	}
	l.agree(now)
}

func (l *laws) effect(f Effect, now State) {
	switch f := f.(type) {
	case Think:
		switch {
		case l.paused:
			l.t.Fatal("thinks while paused")
		case f.Unprompted && now.settings.OnlyAnswers():
			l.t.Fatal("thinks by itself where only approved answers are said")
		}
		l.turn = f.Turn
		l.worked[f.Turn] = true
		l.prepared[f.Turn] = now.settings
		if f.Prompt != now.instructions() || !reflect.DeepEqual(f.Tools, now.settings.Tools) {
			l.t.Fatalf("turn %d is thought of under settings that do not hold", f.Turn)
		}
		if !f.Speculative {
			l.open[f.Turn] = true
		}
	case RunTool:
		if !slices.ContainsFunc(now.settings.Tools, func(t Tool) bool {
			return t.Name == f.Call.Name
		}) && !l.underWay(f.Call.ID) {
			l.t.Fatalf("the box is to run %q, which is no tool of the chat", f.Call.Name)
		}
	case ConsultPlugins:
		if l.paused {
			l.t.Fatal("asks plugins while paused")
		}
		l.turn = f.Turn
		l.worked[f.Turn] = true
		if !f.Speculative {
			l.open[f.Turn] = true
		}
	case SayText:
		if l.paused {
			l.t.Fatal("reads while paused")
		}
	case Promote:
		l.open[f.Turn] = true
		under, thought := l.prepared[f.Turn]
		under.Context = now.settings.Context // a one-time context for these words is spent by them
		if thought && !under.sameAnswers(now.settings) {
			l.t.Fatalf("turn %d was prepared under settings that do not hold any more", f.Turn)
		}
	case Speak:
		if l.dead[f.Turn] || l.done[f.Turn] {
			l.t.Fatalf("speaks for turn %d, which is over", f.Turn)
		}
		if s := f.Sentence; s.Fixed && !wholeSentence.MatchString(s.Text) {
			l.t.Fatalf("%q is not a whole sentence, and its sound is kept", s.Text)
		}
		l.turn = f.Turn
		l.worked[f.Turn] = true
		if now.reply.phase == answering {
			l.open[f.Turn] = true
		}
	case FinishTurn:
		if l.done[f.Turn] {
			l.t.Fatalf("turn %d is done twice", f.Turn)
		}
		l.done[f.Turn] = true
	case Cancel:
		l.dead[f.Turn] = true
	case Publish:
		l.fact(f.Fact)
	}
}

func (l *laws) fact(f Fact) {
	switch f := f.(type) {
	case UserSaid:
		if !f.Interim && !f.Typed {
			l.heard = append(l.heard, f.Text)
		}
	case AssistantSaid:
		if _, again := l.said[f.ID]; again {
			l.t.Fatalf("sentence %s is published twice", f.ID)
		}
		l.said[f.ID] = f.Dictated
		if f.First != "" && l.records[f.First] != f.Before {
			l.t.Fatalf("%q is published as the rest of %q, but continues %q", f.Text, l.records[f.First], f.Before)
		}
		l.records[f.RowID()] = f.SoFar()
		if f.First == "" && !f.Quick { // that is not part of the history
			l.rows = append(l.rows, f.ID)
		}
		l.answers[f.RowID()] = f.AnswerID
		l.mayTalk("words", f.Dictated)
	case QuestionAsked:
		key := fmt.Sprint(l.turn, f)
		if (f.AnswerID == "") == (f.Words == "") || l.asked[key] {
			l.t.Fatalf("turn %d reports %+v, after %v", l.turn, f, l.asked)
		}
		l.asked[key] = true
	case SoundSent:
		dictated, said := l.said[f.ID]
		if !said {
			l.t.Fatal("audio comes before its words")
		}
		l.mayTalk("sound", dictated)
		l.sounded = true
	case CutShort:
		if len(f.Text) > len(l.records[f.ID])+len(CutMark) {
			l.t.Fatalf("%q was cut short to %q", l.records[f.ID], f.Text)
		}
		if f.AnswerID != l.answers[f.ID] {
			l.t.Fatalf("sentence %s of the answer %q is cut as one of %q", f.ID, l.answers[f.ID], f.AnswerID)
		}
		l.records[f.ID] = f.Text
	case ToolCalled:
		if f.Tool.Parameters == "" && !f.Tool.Builtin && f.Tool.Description == "" && f.Call.Name == "train" {
			l.t.Fatalf("a call of %q, which is no tool of the chat", f.Call.Name)
		}
		if l.calls[f.ID] != "" {
			l.t.Fatalf("call %s is published twice", f.ID)
		}
		l.calls[f.ID] = "told"
		l.mayTalk("a tool call", false)
		if l.open1 != "" && l.calls[l.open1] == "told" && !l.dead[l.callTurn] {
			l.t.Fatalf("call %s while %s is open", f.ID, l.open1)
		}
		l.open1, l.callTurn = f.ID, l.turn
	case ToolReplied:
		if l.calls[f.CallID] != "told" {
			l.t.Fatalf("an answer to call %s, which is %q", f.CallID, l.calls[f.CallID])
		}
		l.calls[f.CallID] = "answered"
	case AnswerEnded:
		l.end("an end")
	case Interrupted:
		if l.turn == 0 || l.ends[l.turn] == "an interruption" {
			l.t.Fatalf("turn %d is interrupted, after %q", l.turn, l.ends[l.turn])
		}
		l.ends[l.turn] = "an interruption"
	}
}

// underWay reports whether a call is under way.
func (l *laws) underWay(id string) bool { return l.calls[id] != "" }

func (l *laws) end(how string) {
	if before := l.ends[l.turn]; before != "" {
		l.t.Fatalf("turn %d has %s after %s", l.turn, how, before)
	}
	l.ends[l.turn] = how
}

func (l *laws) mayTalk(what string, dictated bool) {
	switch {
	case l.dead[l.turn]:
		l.t.Fatalf("%s of turn %d, which was cancelled", what, l.turn)
	case l.ends[l.turn] != "":
		l.t.Fatalf("%s of turn %d after %s", what, l.turn, l.ends[l.turn])
	case l.paused && !dictated:
		l.t.Fatalf("%s while paused", what)
	}
}

// agree compares the history with the records: they must have the same sentences in the same order, as far as
// they were heard.
func (l *laws) agree(now State) {
	var history, records []string
	for _, e := range now.history {
		if e.Role == Assistant {
			history = append(history, e.ID+" "+e.AnswerID+": "+e.Text)
		}
	}
	for _, id := range l.rows {
		if text := l.records[id]; text != CutMark {
			records = append(records, id+" "+l.answers[id]+": "+text)
		}
	}
	if !slices.Equal(history, records) {
		l.t.Fatalf("the model knows\n%q\nand the records have\n%q", history, records)
	}
}

// atEnd checks what must have happened in the end.
func (l *laws) atEnd(w *world) {
	if w.state.reply.phase != quiet || w.state.talking() {
		l.t.Fatalf("the assistant is still at %+v, now %v, silent at %v", w.state.reply, w.now, w.state.playbackEnd)
	}
	for turn := range l.open {
		if l.ends[turn] == "" {
			l.t.Errorf("turn %d has no end", turn)
		}
	}
	for turn := range l.worked {
		if !l.dead[turn] && !l.done[turn] {
			l.t.Errorf("turn %d keeps its mind and mouth", turn)
		}
	}
	for n := 1; n <= w.utterance; n++ {
		if _, closed := w.over[n]; !closed {
			l.t.Errorf("utterance %d was never closed", n)
		}
	}
	if len(w.state.pendingSpeech.heldBack) > 0 || len(w.state.pendingSpeech.expected) > 0 {
		l.t.Errorf("the chat still waits for %+v", w.state.pendingSpeech)
	}
	if w.state.pendingSpeech.unanswered && !w.state.paused {
		l.t.Error("something has no answer")
	}
	var words []string
	for _, g := range l.known {
		if w.over[g.utterance] == g.revision && g.text != "" {
			words = append(words, g.text)
		}
	}
	if !slices.Equal(words, l.heard) {
		l.t.Errorf("the user said\n%q\nthe published transcripts are\n%q", words, l.heard)
	}
	for i, e := range w.state.history {
		if called := i > 0 && w.state.history[i-1].Role == ToolCall &&
			w.state.history[i-1].ID == e.ID; called != (e.Role == ToolResult) {
			l.t.Errorf("the model sees %+v behind %+v", e, w.state.history[max(0, i-1)])
		}
	}
	if len(w.state.reply.unsentSound) > 0 {
		l.t.Error("sound was made and never sent")
	}
	if next := w.state.nextDeadline(); next.what != "inactivity" {
		l.t.Errorf("the chat waits for %s", next.what)
	}
}

// The laws hold for random events of all parts at any time.
func TestRandomConversationsKeepTheLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			w.step()
		}
		w.settle()
		w.laws.atEnd(w)
	})
}

// The same, with an end in the middle: nothing follows the end.
func TestNothingFollowsTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			w.step()
		}
		w.happen(HungUp{})
		for turn := range w.laws.worked {
			if !w.laws.dead[turn] && !w.laws.done[turn] {
				t.Errorf("turn %d keeps its mind and mouth", turn)
			}
		}
		if _, ok := w.state.Wake(); ok {
			t.Error("an ended chat has a wake time")
		}
		for range 20 {
			_, effects := Next(w.state, Tick{At(w.now)})
			_, more := Next(w.state, Typed{At: At(w.now), Text: "Anyone?"})
			if len(effects)+len(more) > 0 {
				t.Errorf("after the end came %v", short(append(effects, more...)))
			}
		}
	})
}
