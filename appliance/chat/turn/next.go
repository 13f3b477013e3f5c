// Package turn says whose turn it is in a conversation, and what follows from
// the next thing that happens. It is pure: no clock, no input or output, no
// goroutine. Time comes in with the events.
package turn

import (
	"cmp"

	"parley/appliance/contract"
)

// Next says what follows when e happens in s. It is the whole behaviour of a
// conversation and touches nothing outside its arguments.
func Next(s State, e Event) (State, []Effect) {
	if s.ended {
		return s, nil
	}
	s.now = max(s.now, e.Time())
	if s.busy() && !s.reply.unprompted {
		s.lastActive = s.now // as long as that lasts, nobody is away
	}
	var out effects
	switch e := e.(type) {
	case Opened:
		s.publish(&out, ChatBegan{e.Metadata})
		s.publishSettings(&out, e.Requested)
		s.publish(&out, PromptApplied{s.prompt})
		s.speakFirst(&out)
	case MicrophoneOpened:
		s.publish(&out, RecordingBegan{})
	case VoiceHeard:
		s.countVoice(&out, e)
	case PartlyTranscribed:
		s.readAlong(&out, e)
	case Transcribed:
		s.takeTranscript(&out, e)
	case VoicePaused:
		s.beginPause(e)
	case SilenceContinued:
		s.extendPause(e)
	case EndJudged:
		s.judgePause(e)
	case VoiceResumed:
		s.endPause(&out, e)
	case Typed:
		s.answerTyped(&out, e)
	case Dictated:
		s.sayDictated(&out, e)
	case SentenceThought:
		s.queueSentence(&out, e)
	case ThinkingEnded:
		s.endThinking(&out, e)
	case PluginAdvised:
		s.collectAdvice(&out, e)
	case PluginsChanged:
		s.replacePlugins(&out, e)
	case ToolRequested:
		s.requestTool(&out, e)
	case ToolAnswered:
		s.takeToolAnswer(&out, e)
	case SoundMade:
		s.queueSound(&out, e)
	case MindFailed:
		s.noteMindFailure(&out, e)
	case SessionNamed:
		s.nameSession(&out, e)
	case TurnFailed:
		s.stopFailedTurn(&out, e)
	case PauseRequested:
		s.pauseAssistant(&out)
	case ResumeRequested:
		s.resumeAssistant(&out)
	case SettingsRequested:
		s.applySettings(&out, e.Message)
	case Played:
		s.correctPlayback(e)
	case SendDelayed:
		s.delayPlayback(e)
	case FaultReported:
		s.reportFault(&out, e.Fault)
	case Tick:
		s.meetDeadlines(&out)
	case HungUp:
		s.end(&out, contract.ChatUserEnded, contract.CloseNormal, "")
	case Aborted:
		if e.Unwritten {
			s.reportFault(&out, contract.Fault{Code: contract.Internal,
				Detail: "The chat cannot be written down; the box's log says why."})
			break
		}
		s.end(&out, contract.ChatError, cmp.Or(e.Code, contract.CloseInternal), cmp.Or(e.Why, "the chat cannot go on"))
	case Crashed:
		s.reportFault(&out, contract.Fault{Code: contract.Internal})
	case ShutDown:
		s.end(&out, contract.ChatError, contract.CloseGoingAway, "the box is shutting down")
	}
	return s, out
}

// effects gathers what follows from one event.
type effects []Effect

func (o *effects) add(e ...Effect) { *o = append(*o, e...) }

// publish adds a fact of this moment.
func (s State) publish(out *effects, f Fact) { out.add(Publish{s.now, f}) }

// reportFault tells the client what was wrong; a fatal fault ends the chat.
func (s *State) reportFault(out *effects, f contract.Fault) {
	s.publish(out, FaultOccurred{f})
	if f.Code.Fatal() {
		s.end(out, contract.ChatError, f.Code.CloseCode(), f.Code.Slug())
	}
}

func (s *State) end(out *effects, status contract.ChatStatus, code int, reason string) {
	if s.reply.phase != quiet {
		out.add(Cancel{s.turn})
	}
	s.stopSound(out)
	s.reply = reply{}
	s.ended = true
	out.add(End{Status: status, Code: code, Reason: reason})
}
