package turn

import (
	"slices"
	"strings"
	"time"

	"parley/appliance/contract"
	"parley/appliance/language"
)

const (
	// lastWordsLimit is how long the assistant may still speak when the time of the chat is over: as long as
	// a long sentence.
	lastWordsLimit = 15 * time.Second
	// lastMessageLimit is how long the last message may take, including the time to think of it.
	lastMessageLimit = 30 * time.Second
	// stillThere is how long the user has to answer the message of an inactivity timeout. The interface
	// promises it.
	stillThere = 15 * time.Second
	// maxNudges is how often a silent user is nudged. After three times no one is there.
	maxNudges = 3
)

// Requests to the model for a message that the config enables without giving its text. They are not part of
// the history.
const (
	greetingRequest = "(The user has just connected and said nothing yet. Greet them in one short sentence.)"
	welcomeRequest  = "(The user has come back to this conversation. Welcome them back in one short sentence.)"
	absentRequest   = "(The user has said nothing for a while, and the conversation will end soon. Ask in one short " +
		"sentence whether they are still there.)"
	timeOverRequest = "(The time for this conversation is over. Say goodbye in one short sentence.)"
)

// chatEnd holds why the chat ends as soon as the assistant has been heard to the end.
type chatEnd struct {
	on      bool
	status  contract.ChatStatus
	reason  string
	fault   contract.Code         // reported first; empty if the end is not an error
	by      time.Duration         // the latest time of the end
	message contract.EventMessage // still to be said
	hungUp  bool                  // the assistant hung up: the user may still take the floor
}

// speakByItself has the assistant say a config's message, or what the model makes of a request if the message
// has no text. A chat of approved answers only has nothing to say then.
func (s *State) speakByItself(out *effects, m contract.EventMessage, request string) {
	if text := strings.TrimSpace(s.settings.Fill(m.Text, s.startedAt)); text != "" {
		s.sayText(out, text)
		return
	}
	if !s.settings.OnlyAnswers() {
		s.think(out, answering, "", Entry{Role: User, Text: request})
	}
}

// sayText begins a turn whose text is known but not cut into sentences.
func (s *State) sayText(out *effects, text string) {
	s.turn++
	s.interruption = interruption{call: s.interruption.call}
	s.reply = reply{phase: answering}
	out.add(SayText{s.turn, text})
}

// speakFirst lets the assistant begin, if the config wants it.
func (s *State) speakFirst(out *effects) {
	if !s.settings.OnNewChat.Enabled {
		return
	}
	request := greetingRequest
	if len(s.history) > 0 {
		request = welcomeRequest
	}
	s.speakByItself(out, s.settings.OnNewChat, request)
}

// noteActivity notes that the user did something.
func (s *State) noteActivity() {
	s.lastActive, s.promptedUntil = s.now, min(s.promptedUntil, s.playbackEnd)
	s.nudges, s.inactivityWarned = 0, false
}

// silentSince returns when the user last showed to be there; answers of the assistant to the user count too.
func (s State) silentSince() time.Duration {
	return max(s.lastActive, min(s.promptedUntil, s.playbackEnd))
}

// inactivityDue returns when the user is warned that the chat will end, or when it ends, because the user
// says nothing. Time in which something is made for the user does not count as silence; unprompted speech of
// the assistant does.
func (s State) inactivityDue() time.Duration {
	switch {
	case s.busy() || s.chatEnd.on:
		return never
	case s.inactivityWarned:
		return max(s.lastActive, s.playbackEnd) + stillThere
	}
	return max(s.silentSince()+s.settings.Inactivity, s.playbackEnd)
}

// endInactivity warns a user who has said nothing for too long, or ends the chat.
func (s *State) endInactivity(out *effects) {
	if m := s.settings.OnInactivity; m.Enabled && !s.inactivityWarned && !s.paused {
		s.inactivityWarned = true
		s.speakByItself(out, m, absentRequest)
		s.reply.unprompted = s.reply.phase == answering
		return
	}
	s.publish(out, FaultOccurred{contract.Fault{Code: contract.InactivityTimeout}})
	s.end(out, contract.ChatInactivityTimeout, contract.CloseNormal, "nobody said anything")
}

// nudgeDue returns when a silent user is nudged.
func (s State) nudgeDue() time.Duration {
	if s.settings.Nudge <= 0 || s.nudges >= maxNudges || s.busy() || s.paused || s.inactivityWarned || s.chatEnd.on ||
		s.utterance.open {
		return never
	}
	return max(s.silentSince(), s.playbackEnd) + s.settings.Nudge
}

// nudge asks a silent user to go on.
func (s *State) nudge(out *effects) {
	s.nudges++
	s.sayText(out, language.Of(s.settings.userLanguage).Nudge(s.nudges))
	s.reply.unprompted = true
}

// final reports whether the chat ends whatever the user says.
func (c chatEnd) final() bool { return c.on && !c.hungUp }

// maxDurationDue returns when the chat has lasted as long as it may.
func (s State) maxDurationDue() time.Duration {
	if s.chatEnd.final() {
		return never
	}
	return s.settings.MaxDuration
}

// reachMaxDuration begins the end of a chat that has lasted as long as it may. The current sentence is heard
// to its end, then the message for this case, if there is one.
func (s *State) reachMaxDuration(out *effects) {
	s.chatEnd = chatEnd{
		on:      true,
		status:  contract.ChatMaxDurationTimeout,
		reason:  "maximum duration reached",
		fault:   contract.MaxDurationTimeout,
		by:      s.now + lastWordsLimit,
		message: s.settings.OnMaxDuration,
	}
	s.dropPrepared(out)
	if s.reply.phase == answering {
		s.wrapUp(out)
	}
}

// wrapUp has the assistant say what the mouth was given, and nothing more.
func (s *State) wrapUp(out *effects) {
	r := &s.reply
	if !r.thinkingEnded {
		out.add(StopThinking{s.turn})
	}
	if r.call.running && r.call.tool.OnBox {
		out.add(StopTool{s.turn})
	}
	if r.consultation.pending() {
		out.add(StopPlugins{s.turn})
	}
	r.unspoken, r.dictated, r.call, r.consultation, r.thinkingEnded = nil, nil, openCall{}, consultation{}, true
	s.askMouth(out)
	s.finishReply(out)
}

// hangUp ends the chat for the assistant, after a goodbye: the assistant's own words if it has said any in
// this turn.
func (s *State) hangUp(out *effects, c openCall) {
	a := ToolAnswered{CallID: c.ID, Content: "The call ends now.", OnBox: true}
	s.publish(out, ToolReplied{a, c.tool})
	s.chatEnd = chatEnd{
		on:     true,
		status: contract.ChatUserEnded,
		reason: "the assistant hung up",
		by:     s.now + lastMessageLimit,
		hungUp: true,
	}
	words := language.Of(s.settings.userLanguage).Goodbye()
	if s.hasSpoken() { // it has said goodbye
		words = ""
	}
	s.appendCall(c.Call, a.Content)
	s.reply.call = openCall{}
	s.endWith(out, words, c.ID)
}

// hasSpoken reports whether the reply has words of its own.
func (s State) hasSpoken() bool {
	fromModel := func(x Sentence) bool { return !x.Quick && !x.Dictated }
	n := len(s.history)
	return n > 0 && s.history[n-1].Role == Assistant || slices.ContainsFunc(s.reply.unsent(), fromModel)
}

// leaveDue returns when a chat that is leaving ends.
func (s State) leaveDue() time.Duration {
	switch {
	case !s.chatEnd.on:
		return never
	case s.reply.phase == quiet:
		return min(s.playbackEnd, s.chatEnd.by)
	}
	return s.chatEnd.by
}

// leave ends the chat, after the message for this case.
func (s *State) leave(out *effects) {
	m := s.chatEnd.message
	if !m.Enabled || s.paused {
		if s.chatEnd.fault != "" {
			s.publish(out, FaultOccurred{contract.Fault{Code: s.chatEnd.fault}})
		}
		s.end(out, s.chatEnd.status, contract.CloseNormal, s.chatEnd.reason)
		return
	}
	s.chatEnd.message, s.chatEnd.by = contract.EventMessage{}, s.now+lastMessageLimit
	s.stopSpeaking(out)
	s.speakByItself(out, m, timeOverRequest)
}

// stopSpeaking ends what the assistant is saying now. It returns the sentences that were not heard.
func (s *State) stopSpeaking(out *effects) (unheard []Sentence) {
	answered := s.reply.phase == answering
	if s.reply.phase != quiet {
		out.add(Cancel{s.turn})
	}
	s.reply = reply{}
	unheard = s.stopPlayback(out)
	if answered {
		s.publish(out, AnswerEnded{})
	}
	return unheard
}
