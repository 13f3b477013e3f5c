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
	if s.busy() && !s.reply.unasked {
		s.active = s.now // as long as that lasts, nobody is away
	}
	var out effects
	switch e := e.(type) {
	case Opened:
		s.tell(&out, Began{e.Metadata})
		s.tellSettings(&out, e.Asked)
		s.tell(&out, PromptApplied{s.prompt})
		s.speakFirst(&out)
	case MicrophoneOpened:
		s.tell(&out, RecordingBegan{})
	case Voiced:
		s.voiced(&out, e)
	case Overheard:
		s.overheard(&out, e)
	case Guessed:
		s.guessed(&out, e)
	case Paused:
		s.pausedAt(e)
	case Silent:
		s.silent(e)
	case Finished:
		s.finished(e)
	case WentOn:
		s.wentOn(&out, e)
	case Typed:
		s.typed(&out, e)
	case Dictated:
		s.dictated(&out, e)
	case Thought:
		s.thought(&out, e)
	case ThoughtEnded:
		s.thoughtEnded(&out, e)
	case Advised:
		s.advised(&out, e)
	case Equipped:
		s.equipped(&out, e)
	case Called:
		s.called(&out, e)
	case Answered:
		s.answered(&out, e)
	case Spoken:
		s.spoken(&out, e)
	case Broke:
		s.broke(&out, e)
	case Named:
		s.named(&out, e)
	case Failed:
		s.failed(&out, e)
	case PauseAsked:
		s.pause(&out)
	case ResumeAsked:
		s.resume(&out)
	case SettingsAsked:
		s.apply(&out, e.Message)
	case Played:
		s.played(e)
	case Unsent:
		s.notSent(e)
	case Faulty:
		s.faulty(&out, e.Fault)
	case Tick:
		s.tick(&out)
	case HungUp:
		s.end(&out, contract.ChatUserEnded, contract.CloseNormal, "")
	case Lost:
		if e.Unwritten {
			s.faulty(&out, contract.Fault{Code: contract.Internal,
				Detail: "The chat cannot be written down; the box's log says why."})
			break
		}
		s.end(&out, contract.ChatError, cmp.Or(e.Code, contract.CloseInternal), cmp.Or(e.Why, "the chat cannot go on"))
	case Crashed:
		s.faulty(&out, contract.Fault{Code: contract.Internal})
	case ShutDown:
		s.end(&out, contract.ChatError, contract.CloseGoingAway, "the box is shutting down")
	}
	return s, out
}

// effects gathers what follows from one event.
type effects []Effect

func (o *effects) add(e ...Effect) { *o = append(*o, e...) }

// tell adds a fact of this moment.
func (s State) tell(out *effects, f Fact) { out.add(Tell{s.now, f}) }

// faulty tells the client what was wrong; a fatal fault ends the chat.
func (s *State) faulty(out *effects, f contract.Fault) {
	s.tell(out, WentWrong{f})
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
