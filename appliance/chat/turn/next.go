// Package turn is the state machine of a conversation: whose turn it is, and what happens next. It is pure:
// it uses no clock, no I/O and no goroutine. Time comes in with the events.
package turn

import (
	"cmp"

	"parley/appliance/contract"
)

// Next returns the state after event e, and the effects that its owner has to carry out. It holds the whole
// behaviour of a conversation and touches nothing outside its arguments.
func Next(s State, e Event) (State, []Effect) {
	if s.ended {
		return s, nil
	}
	s.now = max(s.now, e.Time())
	if s.busy() && !s.reply.unprompted {
		s.lastActive = s.now // the user is not inactive while the box is working for them
	}
	var out effects
	switch e := e.(type) {
	// The client opens the chat, types, dictates, pauses, or changes settings.
	case Opened:
		s.begin(&out, e)
	case Typed:
		s.answerTyped(&out, e)
	case KeyPressed:
		s.takeFloor(&out)
	case Dictated:
		s.sayDictated(&out, e)
	case PauseRequested:
		s.pauseAssistant(&out)
	case ResumeRequested:
		s.resumeAssistant(&out)
	case SettingsRequested:
		s.applySettings(&out, e.Message)
	case FaultReported:
		s.reportFault(&out, e.Fault)

	// The ear follows the user's voice and transcribes it.
	case MicrophoneOpened:
		s.publish(&out, RecordingBegan{})
	case VoiceHeard:
		s.countVoice(&out, e)
	case PartlyTranscribed:
		s.readAlong(&out, e)
	case VoicePaused:
		s.beginPause(e)
	case SilenceContinued:
		s.extendPause(e)
	case Transcribed:
		s.takeTranscript(&out, e)
	case EndJudged:
		s.judgePause(e)
	case VoiceResumed:
		s.endPause(&out, e)

	// The mind thinks of the reply, with plugins and tools.
	case PluginsChanged:
		s.replacePlugins(&out, e)
	case PluginAdvised:
		s.collectAdvice(&out, e)
	case SentenceThought:
		s.queueSentence(&out, e)
	case ThinkingEnded:
		s.endThinking(&out, e)
	case ToolRequested:
		s.requestTool(&out, e)
	case ToolAnswered:
		s.takeToolAnswer(&out, e)
	case SessionNamed:
		s.nameSession(&out, e)
	case MindFailed:
		s.noteMindFailure(&out, e)
	case TurnFailed:
		s.stopFailedTurn(&out, e)

	// The mouth makes its sound, and the line plays it.
	case SoundMade:
		s.queueSound(&out, e)
	case Played:
		s.correctPlayback(e)
	case SendDelayed:
		s.delayPlayback(e)

	// Time passes.
	case Tick:
		s.meetDeadlines(&out)

	// The chat ends.
	case HungUp:
		s.end(&out, contract.ChatUserEnded, contract.CloseNormal, "")
	case Aborted:
		s.abort(&out, e)
	case Crashed:
		s.reportFault(&out, contract.Fault{Code: contract.Internal})
	case ShutDown:
		s.end(&out, contract.ChatError, contract.CloseGoingAway, "the box is shutting down")
	}
	return s, out
}

// effects collects the effects of one event.
type effects []Effect

func (o *effects) add(e ...Effect) { *o = append(*o, e...) }

// publish adds a fact with the current time.
func (s State) publish(out *effects, f Fact) { out.add(Publish{s.now, f}) }

// reportFault reports a fault to the client. A fatal fault ends the chat.
func (s *State) reportFault(out *effects, f contract.Fault) {
	s.publish(out, FaultOccurred{f})
	if f.Code.Fatal() {
		s.end(out, contract.ChatError, f.Code.CloseCode(), f.Code.Slug())
	}
}

// begin records how the chat begins, and lets the assistant speak first if the config wants it.
func (s *State) begin(out *effects, e Opened) {
	s.publish(out, ChatBegan{e.Metadata})
	s.publishSettings(out, e.Requested)
	s.publish(out, PromptApplied{s.prompt})
	if !e.Silent {
		s.speakFirst(out)
	}
}

// abort ends a chat whose client cannot be reached or whose history cannot be written.
func (s *State) abort(out *effects, e Aborted) {
	if e.Unwritten {
		s.reportFault(out, contract.Fault{Code: contract.Internal,
			Detail: "The chat cannot be written down; the box's log says why."})
		return
	}
	s.end(out, contract.ChatError, cmp.Or(e.Code, contract.CloseInternal), cmp.Or(e.Why, "the chat cannot go on"))
}

// end cancels the reply, stops its sound and ends the chat.
func (s *State) end(out *effects, status contract.ChatStatus, code int, reason string) {
	if s.reply.phase != quiet {
		out.add(Cancel{s.turn})
	}
	s.stopSound(out)
	s.reply = reply{}
	s.ended = true
	out.add(End{Status: status, Code: code, Reason: reason})
}
