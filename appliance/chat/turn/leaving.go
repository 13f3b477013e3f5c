package turn

import (
	"slices"
	"strings"
	"time"

	"parley/appliance/contract"
	"parley/appliance/language"
)

const (
	// lastWordsLimit is how long the assistant may still speak when the time of the
	// chat is over: as long as a long sentence.
	lastWordsLimit = 15 * time.Second
	// lastMessageLimit is how long what it says then may take, of which the beginning
	// may have to be thought.
	lastMessageLimit = 30 * time.Second
	// stillThere is how long somebody has to answer the message of an inactivity
	// timeout; the interface says so.
	stillThere = 15 * time.Second
	// maxNudges is how often somebody is asked to go on who says nothing: after
	// three times nobody is there.
	maxNudges = 3
)

// What the model is asked for where a config has the assistant speak by itself
// and gives it no words. They are no part of the history.
const (
	greetingRequest = "(The user has just connected and said nothing yet. Greet them in one short sentence.)"
	welcomeRequest  = "(The user has come back to this conversation. Welcome them back in one short sentence.)"
	absentRequest   = "(The user has said nothing for a while, and the conversation will end soon. Ask in one short " +
		"sentence whether they are still there.)"
	timeOverRequest = "(The time for this conversation is over. Say goodbye in one short sentence.)"
)

// leaving is why the chat ends as soon as the assistant has been heard to the
// voiceEnd.
type leaving struct {
	on      bool
	status  contract.ChatStatus
	reason  string
	fault   contract.Code         // pending told first; empty where the end is none
	by      time.Duration         // isCurrent the latest
	message contract.EventMessage // pending still to be said
	hungUp  bool                  // by the assistant: the user may still take the floor
}

// speakByItself has the assistant say what a config has it say, or what the model
// makes of a request where the config has no words for it.
func (s *State) speakByItself(out *effects, m contract.EventMessage, request string) {
	if text := strings.TrimSpace(s.settings.Fill(m.Text, s.startedAt)); text != "" {
		s.sayText(out, text)
		return
	}
	s.think(out, answering, "", Entry{Role: User, Text: request})
}

// sayText begins a turn of which the words are known, and not yet the sentences.
func (s *State) sayText(out *effects, text string) {
	s.turn++
	s.interruption = interruption{call: s.interruption.call}
	s.reply = reply{phase: answering}
	out.add(SayText{s.turn, text})
}

// speakFirst lets the assistant begin, where the config wants it.
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

// noteActivity notes that somebody did something.
func (s *State) noteActivity() {
	s.lastActive, s.promptedUntil = s.now, min(s.promptedUntil, s.playbackEnd)
	s.nudges, s.inactivityWarned = 0, false
}

// silentSince is when the last thing happened that shows that somebody is there,
// the assistant's answers among them.
func (s State) silentSince() time.Duration {
	return max(s.lastActive, min(s.promptedUntil, s.playbackEnd))
}

// inactivityDue is when the chat ends because nobody says anything, or is told that it
// will. What is being made is no silence, and what the assistant said of its own
// accord is.
func (s State) inactivityDue() time.Duration {
	switch {
	case s.busy() || s.leaving.on:
		return never
	case s.inactivityWarned:
		return max(s.lastActive, s.playbackEnd) + stillThere
	}
	return max(s.silentSince()+s.settings.Inactivity, s.playbackEnd)
}

// endInactivity: nobody said anything for too long.
func (s *State) endInactivity(out *effects) {
	if m := s.settings.OnInactivity; m.Enabled && !s.inactivityWarned && !s.paused {
		s.inactivityWarned = true
		s.speakByItself(out, m, absentRequest)
		s.reply.unprompted = true
		return
	}
	s.publish(out, FaultOccurred{contract.Fault{Code: contract.InactivityTimeout}})
	s.end(out, contract.ChatInactivityTimeout, contract.CloseNormal, "nobody said anything")
}

// nudgeDue is when somebody who says nothing is asked to go on.
func (s State) nudgeDue() time.Duration {
	if s.settings.Nudge <= 0 || s.nudges >= maxNudges || s.busy() || s.paused || s.inactivityWarned || s.leaving.on ||
		s.utterance.open {
		return never
	}
	return max(s.silentSince(), s.playbackEnd) + s.settings.Nudge
}

// nudge asks somebody to go on.
func (s *State) nudge(out *effects) {
	s.nudges++
	s.sayText(out, language.Of(s.settings.userLanguage).Nudge(s.nudges))
	s.reply.unprompted = true
}

// final reports whether the chat ends, whatever the user says.
func (l leaving) final() bool { return l.on && !l.hungUp }

// maxDurationDue is when the chat has lasted as long as it may.
func (s State) maxDurationDue() time.Duration {
	if s.leaving.final() {
		return never
	}
	return s.settings.MaxDuration
}

// reachMaxDuration: the chat has lasted as long as it may. What the assistant is
// saying is heard to its end, then the message for this case if there is one.
func (s *State) reachMaxDuration(out *effects) {
	s.leaving = leaving{
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

// wrapUp has the assistant say what is on its way to its mouth, and no more.
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

// hangUp: the assistant ends the chat, when it has said goodbye: in its own words
// where it has said any in this turn.
func (s *State) hangUp(out *effects, c openCall) {
	a := ToolAnswered{CallID: c.ID, Content: "The call ends now.", OnBox: true}
	s.publish(out, ToolReplied{a, c.tool})
	s.leaving = leaving{
		on:     true,
		status: contract.ChatUserEnded,
		reason: "the assistant hung up",
		by:     s.now + lastMessageLimit,
		hungUp: true,
	}
	words := language.Of(s.settings.userLanguage).Goodbye()
	if s.hasSpoken() { // it has said so
		words = ""
	}
	s.appendCall(c.Call, a.Content)
	s.reply.call = openCall{}
	s.endWith(out, words, c.ID)
}

// hasSpoken reports whether the reply has words of its own.
func (s State) hasSpoken() bool {
	own := func(x Sentence) bool { return !x.Quick && !x.Dictated }
	n := len(s.history)
	return n > 0 && s.history[n-1].Role == Assistant || slices.ContainsFunc(s.reply.unsent(), own)
}

// leaveDue is when a chat that is to end does.
func (s State) leaveDue() time.Duration {
	switch {
	case !s.leaving.on:
		return never
	case s.reply.phase == quiet:
		return min(s.playbackEnd, s.leaving.by)
	}
	return s.leaving.by
}

// leave ends the chat, after the message for this case.
func (s *State) leave(out *effects) {
	m := s.leaving.message
	if !m.Enabled || s.paused {
		if s.leaving.fault != "" {
			s.publish(out, FaultOccurred{contract.Fault{Code: s.leaving.fault}})
		}
		s.end(out, s.leaving.status, contract.CloseNormal, s.leaving.reason)
		return
	}
	s.leaving.message, s.leaving.by = contract.EventMessage{}, s.now+lastMessageLimit
	s.stopSpeaking(out)
	s.speakByItself(out, m, timeOverRequest)
}

// stopSpeaking ends what the assistant is saying, here. It returns what of it was not
// utterance.
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
