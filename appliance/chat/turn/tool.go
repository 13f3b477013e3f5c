package turn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/appliance/contract"
	"parley/appliance/language"
)

const (
	// MaxCalls is how many tools one turn may call, one after the other: enough
	// for "find it, look it up, book it", and an end for a model that only calls.
	MaxCalls = 5
	// DefaultToolLimit is how long a tool may take. People on the phone wait half a
	// minute for "let me look that up", and not much longer.
	DefaultToolLimit = 30 * time.Second
	// DefaultFiller is how long a tool may take before the assistant says that it
	// is at it. Two seconds of silence are taken for a line that is dead.
	DefaultFiller = 1500 * time.Millisecond
)

// Tool is what the assistant may call in place of saying something.
type Tool struct {
	Name, Description string
	// Parameters is the JSON schema of the arguments, an object, as text.
	Parameters string
	// Fallback is what the model is told when the call fails; where it is empty
	// the assistant apologises instead.
	Fallback string
	Builtin  bool // the box brings it
	OnBox    bool // the box runs it; else the client does
	// Plugin is the plugin of the box that runs it; empty: none does. Limit is how
	// long that says it may take; 0: as long as any.
	Plugin string
	Limit  time.Duration
	// CustomPrompt says that it is there because of the Plugin. Stored says that a
	// developer has made it: it is run by the plugin that has a tool of its name,
	// if there is one.
	FromPlugin, Stored bool
}

// HangUp is the tool by which the assistant ends the chat; what it does is done
// here.
const HangUp = string(contract.HangUp)

// Call is the assistant's wish to have a tool run.
type Call struct {
	ID        string // names the call on the wire
	Name      string // of the Tool
	Arguments string // a JSON object
	// Misfit says why they are no arguments of the tool, which was tried twice;
	// empty: they are.
	Misfit string
}

type (
	// ToolRequested says that the mind of a turn wants a tool to be run, in place of
	// more sentences.
	ToolRequested struct {
		At
		Turn int
		Call Call
	}
	// ToolAnswered is how a tool call ended. The model sees Content alone. It comes
	// from the client, or OnBox from who ran it there.
	ToolAnswered struct {
		At
		CallID  string
		Content string
		Failed  bool
		Error   string // for people
		OnBox   bool
	}
)

type (
	// RunTool has the box run one of its tools. What it answers comes as Answered.
	RunTool struct {
		Turn int
		Call Call
		Tool Tool
		Conversation
	}
	// StopTool has the box give up the tool that it runs for a turn.
	StopTool struct{ Turn int }
	// StopThinking says that no more sentences of a turn are wanted: its mind may go,
	// its mouth goes on.
	StopThinking struct{ Turn int }
)

func (RunTool) effect()      {}
func (StopTool) effect()     {}
func (StopThinking) effect() {}

type (
	// ToolCalled says that the assistant calls a tool.
	ToolCalled struct {
		Call
		Tool Tool
	}
	// ToolReplied says how a call ended.
	ToolReplied struct {
		ToolAnswered
		Tool Tool
	}
)

func (ToolCalled) fact()  {}
func (ToolReplied) fact() {}

// openCall is a call that has no answer yet.
type openCall struct {
	Call
	tool       Tool
	running    bool          // it is under way; else the user may still go on
	since      time.Duration // when it was told
	fillerSaid bool          // the user was told that it takes long
	nth        int           // of its turn, from 1
}

// interruptedCall is a call whose turn was broken off, and may yet go on: by a pause,
// or by a sound that may be nothing.
type interruptedCall struct {
	openCall
	answer *ToolAnswered
}

func (c openCall) exists() bool { return c.ID != "" }

// awaits reports whether an answer is that of the call, by whom it runs.
func (c openCall) awaits(e ToolAnswered) bool {
	return c.running && c.ID == e.CallID && c.tool.OnBox == e.OnBox
}

// requestTool: the mind wants a tool. A guess calls none before the user has finished.
// A model on a server may call on though it was asked for words: that it failed.
func (s *State) requestTool(out *effects, e ToolRequested) {
	if !s.isCurrent(e.Turn) || s.reply.thinkingEnded || s.reply.call.exists() {
		return
	}
	if s.reply.calls >= MaxCalls {
		s.noteMindFailure(out, MindFailed{
			At:   e.At,
			Turn: e.Turn,
			ID:   e.Call.ID,
			Fault: contract.Fault{Code: contract.ProviderFailed, Detail: fmt.Sprintf(
				"It called another tool where it was asked for words: after %d calls, which are the most of a turn.",
				MaxCalls)},
		})
		return
	}
	if e.Call.Misfit == "" && !slices.ContainsFunc(s.settings.Tools, func(t Tool) bool {
		return t.Name == e.Call.Name
	}) {
		e.Call.Misfit = "There is no such tool any more." // it went while the mind thought of it: nobody would answer
	}
	s.reply.call = openCall{Call: e.Call, tool: s.settings.tool(e.Call.Name), nth: s.reply.calls + 1}
	s.reply.answeredCall = openCall{}
	s.makeCall(out)
}

// makeCall makes the call that waits for the user to have finished, if one does.
func (s *State) makeCall(out *effects) {
	c := &s.reply.call
	if s.reply.phase != answering || !c.exists() || c.running || len(s.reply.unsentSound) > 0 {
		return
	}
	c.running, c.since = true, s.now
	s.reply.calls = c.nth
	if c.Misfit != "" { // nobody could run it
		a := ToolAnswered{Failed: true}
		if c.tool.Parameters == "" { // there is no such tool: the model has to do without
			a.Content = FailedResult
		}
		s.continueAfterTool(out, c.withFallback(a))
		return
	}
	s.publish(out, ToolCalled{c.Call, c.tool})
	s.runCall(out)
}

// runCall has a call of the box carried out.
func (s *State) runCall(out *effects) {
	switch c := s.reply.call; {
	case c.Name == HangUp && c.tool.Builtin:
		s.hangUp(out, c)
	case c.tool.OnBox:
		out.add(RunTool{s.turn, c.Call, c.tool, s.conversation()})
	}
}

// takeToolAnswer: a tool has answered. What nobody waits for is an error, unless the
// box itself brings it.
func (s *State) takeToolAnswer(out *effects, e ToolAnswered) {
	switch open, broken := s.reply.call, s.interruption.call; {
	case open.awaits(e):
		e = s.publishToolReply(out, open, e)
		s.continueAfterTool(out, e)
	case broken.awaits(e) && broken.answer == nil:
		e = s.publishToolReply(out, broken.openCall, e)
		s.interruption.call.answer = &e
	case !e.OnBox:
		s.reportFault(out, contract.Fault{Code: contract.UnexpectedTool, Detail: fmt.Sprintf(
			"tool_call_id: no call %q waits for an answer; it was answered already, took too long, was given up when "+
				"the user spoke, or never was.", contract.Clip(e.CallID))})
	}
}

// publishToolReply tells how a call ended, and returns what it ended with.
func (s *State) publishToolReply(out *effects, c openCall, a ToolAnswered) ToolAnswered {
	a = c.withFallback(a)
	s.publish(out, ToolReplied{a, c.tool})
	return a
}

// withFallback is what a call ends with: where it failed without a word, with what its
// tool falls back on.
func (c openCall) withFallback(a ToolAnswered) ToolAnswered {
	if a.Failed {
		a.Content = cmp.Or(a.Content, c.tool.Fallback)
	}
	return a
}

// continueAfterTool has the model go on with what a call ended with; without anything to go
// on with the assistant apologises.
func (s *State) continueAfterTool(out *effects, e ToolAnswered) {
	c := s.reply.call
	s.appendCall(c.Call, Result(e.Content, e.Failed))
	s.reply.call, s.reply.answeredCall = openCall{}, c
	if e.Failed && e.Content == "" {
		s.endWith(out, language.Of(s.settings.userLanguage).Sorry(), c.ID)
		return
	}
	out.add(Think{
		Turn:         s.turn,
		AfterTool:    true,
		NoCall:       c.nth >= MaxCalls || c.Misfit != "",
		Conversation: s.conversation(),
	})
}

// What the model finds in place of a tool's answer that has no words: of one that
// failed, and of one that did what it was asked and had nothing to tell.
const (
	FailedResult = "The tool failed and did nothing."
	EmptyResult  = "Done. The tool returned no text."
)

// Result is what the model reads of a tool's answer.
func Result(content string, failed bool) string {
	switch {
	case strings.TrimSpace(content) != "":
		return content
	case failed:
		return FailedResult
	}
	return EmptyResult
}

// appendCall adds a call and its answer to the history, one after the other: no
// model is ever shown the one without the other.
func (s *State) appendCall(c Call, content string) {
	arguments := c.Arguments
	if c.Misfit != "" {
		arguments = "{}"
	}
	s.history = append(s.history, Entry{
		Role: ToolCall,
		ID:   c.ID,
		Name: c.Name,
		Text: arguments,
	}, Entry{Role: ToolResult, ID: c.ID, Text: content})
}

// endWith has a turn end with a sentence that nobody had to think of.
func (s *State) endWith(out *effects, text, after string) {
	r := &s.reply
	r.thinkingEnded, r.answeredCall = true, openCall{}
	if text != "" {
		r.unspoken = append(slices.Clip(r.unspoken), Sentence{ID: contract.DerivedID(after), Text: text})
	}
	s.askMouth(out)
	s.finishReply(out)
}

// toolDue is when a call has taken too long.
func (s State) toolDue() time.Duration {
	if c := s.reply.call; c.running {
		return c.since + s.toolLimit()
	}
	return never
}

// toolGrace is how much longer than its own limit a tool is waited for: who runs it
// gives it up by itself, and can say more about it.
const toolGrace = 500 * time.Millisecond

// toolLimit is how long the call may take.
func (s State) toolLimit() time.Duration {
	if own := s.reply.call.tool.Limit; own > 0 {
		return min(s.settings.ToolLimit, own+toolGrace)
	}
	return s.settings.ToolLimit
}

// giveUpTool: the tool is not waited for any longer.
func (s *State) giveUpTool(out *effects) {
	c := s.reply.call
	a := s.publishToolReply(out, c, ToolAnswered{
		CallID: c.ID,
		Failed: true,
		Error:  "It did not answer within " + s.toolLimit().String() + ".",
		OnBox:  true,
	})
	if c.tool.OnBox {
		out.add(StopTool{s.turn})
	}
	s.continueAfterTool(out, a)
}

// fillerDue is when the user is told that it takes long: the tool, or the model, which
// reads what the tool answered.
func (s State) fillerDue() time.Duration {
	c := s.reply.slowCall()
	if !c.running || c.fillerSaid || s.settings.Filler <= 0 || s.reply.speaks() || s.leaving.on {
		return never
	}
	return max(c.since, s.playbackEnd) + s.settings.Filler
}

// slowCall is the call that is waited for, or whose answer the model reads.
func (r *reply) slowCall() *openCall {
	if r.call.exists() {
		return &r.call
	}
	return &r.answeredCall
}

// sayFiller says that it takes long.
func (s *State) sayFiller(out *effects) {
	c := s.reply.slowCall()
	c.fillerSaid = true
	nth := c.nth
	if s.reply.quick { // "One moment" was said
		nth++
	}
	if text := language.Of(s.settings.userLanguage).Working(nth); text != "" {
		s.reply.unspoken = append(slices.Clip(s.reply.unspoken),
			Sentence{ID: contract.DerivedID("filler " + c.ID), Text: text, Quick: true})
		s.askMouth(out)
	}
}

// interruptedCall is what is kept of the call of a reply that is broken off.
func (r reply) interruptedCall() interruptedCall {
	if !r.call.running {
		return interruptedCall{}
	}
	return interruptedCall{openCall: r.call}
}

// resumeCall goes on with a turn that was broken off while a tool was at work.
func (s *State) resumeCall(out *effects) bool {
	c := s.interruption.call
	if !c.exists() {
		return false
	}
	s.turn++
	s.reply = reply{phase: answering, call: c.openCall, calls: c.nth}
	s.interruption, s.sayOnResume, s.answerOnResume = interruption{}, nil, false
	if s.reply.call.tool.OnBox {
		s.reply.call.since = s.now
	}
	switch {
	case c.answer != nil:
		s.continueAfterTool(out, *c.answer)
	case c.tool.OnBox: // it was given up with the turn
		s.runCall(out)
	}
	return true
}

// tool is the one of a name; of a name that there is none of, an empty one.
func (s Settings) tool(name string) Tool {
	for _, t := range s.Tools {
		if t.Name == name {
			return t
		}
	}
	return Tool{Name: name}
}
