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
	// MaxCalls is how many tools one turn may call, one after the other: enough for "find it, look it up,
	// book it", and an end for a model that only calls.
	MaxCalls = 5
	// DefaultToolLimit is how long a tool may take. Callers on the phone wait half a minute for "let me look
	// that up", and not much longer.
	DefaultToolLimit = 30 * time.Second
	// DefaultFiller is how long a tool may take before the assistant says that it is working. After two
	// seconds of silence people take a line for dead.
	DefaultFiller = 1500 * time.Millisecond
)

// Tool is a tool that the assistant may call.
type Tool struct {
	Name, Description string
	// Parameters is the JSON schema of the arguments, an object, as text.
	Parameters string
	// Fallback is the call's result for the model when the call fails. If it is empty, the assistant
	// apologises instead.
	Fallback string
	Builtin  bool // the box defines it
	OnBox    bool // the box runs it; otherwise the client does
	// Plugin is the plugin of the box that runs the tool; empty if none does. Limit is the time limit of the
	// plugin or of the box's own tool; 0 if it sets none.
	Plugin string
	Limit  time.Duration
	// OfLine means that the line runs the tool. Destinations are those of the tool transfer.
	OfLine       bool
	Destinations []contract.TransferDestination
	// FromPlugin means that the tool is there because of the Plugin. Stored means that a developer defined
	// it; if a plugin has a tool of its name, that plugin runs it.
	FromPlugin, Stored bool
}

// HangUp is the tool with which the assistant ends the chat. The state machine runs it itself.
const HangUp = string(contract.HangUp)

// Call is a tool call of the assistant.
type Call struct {
	ID        string // names the call on the wire
	Name      string // of the Tool
	Arguments string // a JSON object
	// Misfit says why the arguments do not fit the tool, after two attempts; empty if they fit.
	Misfit string
}

type (
	// ToolRequested reports that the mind calls a tool instead of thinking more sentences.
	ToolRequested struct {
		At
		Turn int
		Call Call
	}
	// ToolAnswered reports how a tool call ended. The model sees only Content. It comes from the client, or
	// from the box (OnBox).
	ToolAnswered struct {
		At
		CallID  string
		Content string
		Failed  bool
		Error   string // for people
		OnBox   bool
		Over    bool // the user is connected elsewhere: the chat ends
	}
)

type (
	// RunTool has the box run one of its tools. The result comes as ToolAnswered.
	RunTool struct {
		Turn int
		Call Call
		Tool Tool
		Conversation
	}
	// StopTool stops the tool that the box runs for a turn.
	StopTool struct{ Turn int }
	// StopThinking means that a turn needs no more sentences: its mind may stop, its mouth continues.
	StopThinking struct{ Turn int }
)

func (RunTool) effect()      {}
func (StopTool) effect()     {}
func (StopThinking) effect() {}

type (
	// ToolCalled reports that the assistant calls a tool.
	ToolCalled struct {
		Call
		Tool Tool
	}
	// ToolReplied reports how a call ended.
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
	running    bool          // it is under way; otherwise the user may still go on
	since      time.Duration // when it started
	fillerSaid bool          // the filler was spoken for this call
	nth        int           // number of the call in its turn, from 1
}

// interruptedCall is a call whose turn was interrupted and may resume: by a pause, or by a sound that may be
// nothing.
type interruptedCall struct {
	openCall
	answer *ToolAnswered
}

func (c openCall) exists() bool { return c.ID != "" }

// awaits reports whether an answer belongs to the call and comes from the side that runs it.
func (c openCall) awaits(e ToolAnswered) bool {
	return c.running && c.ID == e.CallID && c.tool.OnBox == e.OnBox
}

// requestTool takes a tool call from the mind. A speculative reply calls no tool before the user has
// finished. A model on a server may call a tool although it was asked for words; that counts as a failure.
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
		// it was removed while the mind was thinking, so no one would answer
		e.Call.Misfit = "There is no such tool any more."
	}
	s.reply.call = openCall{Call: e.Call, tool: s.settings.tool(e.Call.Name), nth: s.reply.calls + 1}
	s.reply.answeredCall = openCall{}
	s.makeCall(out)
}

// makeCall makes the requested call, once the user has finished and all sound before it is sent.
func (s *State) makeCall(out *effects) {
	c := &s.reply.call
	if s.reply.phase != answering || !c.exists() || c.running || len(s.reply.unsentSound) > 0 {
		return
	}
	c.running, c.since = true, s.now
	s.reply.calls = c.nth
	if c.Misfit != "" { // no one could run it
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

// runCall starts a call that the box runs.
func (s *State) runCall(out *effects) {
	switch c := s.reply.call; {
	case c.Name == HangUp && c.tool.Builtin:
		s.hangUp(out, c)
	case c.tool.OnBox:
		out.add(RunTool{s.turn, c.Call, c.tool, s.conversation()})
	}
}

// takeToolAnswer takes the answer of a tool. An unexpected answer from the client is a fault; one from the
// box is ignored.
func (s *State) takeToolAnswer(out *effects, e ToolAnswered) {
	switch open, interrupted := s.reply.call, s.interruption.call; {
	case open.awaits(e):
		e = s.publishToolReply(out, open, e)
		s.continueAfterTool(out, e)
	case interrupted.awaits(e) && interrupted.answer == nil:
		e = s.publishToolReply(out, interrupted.openCall, e)
		s.interruption.call.answer = &e
	case !e.OnBox:
		s.reportFault(out, contract.Fault{Code: contract.UnexpectedTool, Detail: fmt.Sprintf(
			"tool_call_id: no call %q waits for an answer; it was answered already, took too long, was given up when "+
				"the user spoke, or never was.", contract.Clip(e.CallID))})
	}
}

// publishToolReply publishes how a call ended, and returns the answer with the tool's fallback applied.
func (s *State) publishToolReply(out *effects, c openCall, a ToolAnswered) ToolAnswered {
	a = c.withFallback(a)
	s.publish(out, ToolReplied{a, c.tool})
	return a
}

// withFallback returns the answer; if the call failed without content, its content is the tool's fallback.
func (c openCall) withFallback(a ToolAnswered) ToolAnswered {
	if a.Failed {
		a.Content = cmp.Or(a.Content, c.tool.Fallback)
	}
	return a
}

// continueAfterTool has the model continue with the result of a call. If there is no content after a failure,
// the assistant apologises.
func (s *State) continueAfterTool(out *effects, e ToolAnswered) {
	c := s.reply.call
	s.appendCall(c.Call, Result(e.Content, e.Failed))
	s.reply.call, s.reply.answeredCall = openCall{}, c
	if e.Over {
		s.end(out, contract.ChatUserEnded, contract.CloseNormal, "the user was connected elsewhere")
		return
	}
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

// The model's view of a tool's answer without text: of a call that failed, and of one that succeeded.
const (
	FailedResult = "The tool failed and did nothing."
	EmptyResult  = "Done. The tool returned no text."
)

// Result returns what the model reads of a tool's answer.
func Result(content string, failed bool) string {
	switch {
	case strings.TrimSpace(content) != "":
		return content
	case failed:
		return FailedResult
	}
	return EmptyResult
}

// appendCall adds a call and its answer to the history together: no model is ever shown one without the
// other.
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

// endWith ends a turn with a fixed sentence.
func (s *State) endWith(out *effects, text, after string) {
	r := &s.reply
	r.thinkingEnded, r.answeredCall = true, openCall{}
	if text != "" {
		r.unspoken = append(slices.Clip(r.unspoken), Sentence{ID: contract.DerivedID(after), Text: text})
	}
	s.askMouth(out)
	s.finishReply(out)
}

// toolDue returns when a call has taken too long.
func (s State) toolDue() time.Duration {
	if c := s.reply.call; c.running {
		return c.since + s.toolLimit()
	}
	return never
}

// toolGrace is how much longer than its own limit a tool is waited for. The plugin host stops the tool by
// itself and can report more about it.
const toolGrace = 500 * time.Millisecond

// toolLimit returns how long the call may take.
func (s State) toolLimit() time.Duration {
	tool := s.reply.call.tool
	if limit := tool.Limit; limit > 0 {
		if tool.OfLine { // such as a telephone that rings
			return limit
		}
		return min(s.settings.ToolLimit, limit+toolGrace)
	}
	return s.settings.ToolLimit
}

// giveUpTool stops waiting for the tool.
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

// fillerDue returns when the assistant says that the tool, or the model's prefill of the result, takes long.
func (s State) fillerDue() time.Duration {
	c := s.reply.slowCall()
	if !c.running || c.fillerSaid || c.tool.OfLine || s.settings.Filler <= 0 || s.reply.speaks() || s.chatEnd.on {
		return never
	}
	return max(c.since, s.playbackEnd) + s.settings.Filler
}

// slowCall returns the call that is waited for, or the one whose answer the model is reading.
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
	if s.reply.quick { // it has said "One moment"
		nth++
	}
	if text := language.Of(s.settings.userLanguage).Working(nth); text != "" {
		s.reply.unspoken = append(slices.Clip(s.reply.unspoken),
			Sentence{ID: contract.DerivedID("filler " + c.ID), Text: text, Quick: true})
		s.askMouth(out)
	}
}

// interruptedCall returns the call of a reply that is interrupted, if it is running.
func (r reply) interruptedCall() interruptedCall {
	if !r.call.running {
		return interruptedCall{}
	}
	return interruptedCall{openCall: r.call}
}

// resumeCall resumes a turn that was interrupted while a tool was running.
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
	case c.tool.OnBox: // it was stopped with the turn
		s.runCall(out)
	}
	return true
}

// tool returns the tool of a name, or an empty one of that name.
func (s Settings) tool(name string) Tool {
	for _, t := range s.Tools {
		if t.Name == name {
			return t
		}
	}
	return Tool{Name: name}
}
