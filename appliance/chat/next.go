// Package chat holds one live conversation: what was said, whose turn it is,
// and what follows from the next thing that happens.
package chat

import (
	"parley/appliance/contract"
	"parley/store"
)

// Next says what follows when e happens in s. It is the whole behaviour of a
// conversation and touches nothing outside its arguments.
func Next(s State, e Event) (State, []Effect) {
	if s.ended {
		return s, nil
	}
	s.now = max(s.now, e.at())
	var out effects
	switch e := e.(type) {
	case Opened:
		s.requestID = e.Metadata.RequestID
		out.send(e.Metadata, s.record(store.ChatStart, store.System, ""))
		s.recordSettings(&out, e.Asked)
		out.add(Record{*s.record(store.SystemPrompt, store.System, s.settings.prompt(s.begun))})
		s.greet(&out, e.Greeting)
	case MicrophoneOpened:
		out.add(Record{*s.record(store.UserRecordingStart, store.User, "")})
	case Voiced:
		s.voiced(&out, e)
	case Overheard:
		s.overheard(&out, e)
	case Guessed:
		s.guessed(&out, e)
	case WentOn:
		s.wentOn(e)
	case TurnEnded:
		s.turnEnded(&out, e)
	case Typed:
		s.typed(&out, e)
	case Dictated:
		s.dictated(&out, e)
	case Thought:
		s.thought(&out, e)
	case ThoughtEnded:
		s.thoughtEnded(&out, e)
	case Spoken:
		s.spoken(&out, e)
	case Failed:
		s.failed(&out, e)
	case PauseAsked:
		s.pause(&out)
	case ResumeAsked:
		s.resume(&out)
	case SettingsAsked:
		s.settle(&out, e.Message)
	case Faulty:
		s.faulty(&out, e.Fault)
	case Tick:
		s.tick(&out)
	case HungUp:
		s.end(&out, store.UserEnded, contract.CloseNormal, "")
	case Lost:
		if e.Unwritten {
			s.faulty(&out, contract.Fault{Code: contract.Internal, Detail: "The chat cannot be written down; the box's log says why."})
			break
		}
		s.end(&out, store.Failed, contract.CloseInternal, "the chat cannot go on")
	case ShutDown:
		s.end(&out, store.Failed, contract.CloseGoingAway, "the box is shutting down")
	}
	return s, out
}

// effects gathers what follows from one event.
type effects []Effect

func (o *effects) add(e ...Effect) { *o = append(*o, e...) }

func (o *effects) send(m contract.ServerMessage, record *store.Event) {
	o.add(Send{Message: m, Record: record})
}

// tick looks at what time alone brings.
func (s *State) tick(out *effects) {
	switch {
	case s.now >= s.settings.MaxDuration:
		s.end(out, store.MaxDurationTimeout, contract.CloseNormal, "maximum duration reached")
		return
	case s.now-s.idleSince() >= s.settings.Inactivity:
		s.end(out, store.InactivityTimeout, contract.CloseNormal, "nobody said anything")
		return
	}
	if s.talking() {
		return
	}
	if len(s.heldBack) > 0 {
		s.answerHeldBack(out)
		return
	}
	s.answerOwed(out)
	s.speculate(out)
}

// faulty tells the client what was wrong; a fatal fault ends the chat.
func (s *State) faulty(out *effects, f contract.Fault) {
	m := f.Code.Error(f.Detail)
	m.RequestID = s.requestID
	out.send(m, nil)
	if f.Code.Fatal() {
		s.end(out, store.Failed, f.Code.CloseCode(), f.Code.Slug())
	}
}

func (s *State) end(out *effects, status store.Status, code int, reason string) {
	if s.reply.phase != quiet {
		out.add(Cancel{s.turn})
	}
	s.unsay()
	s.reply = reply{}
	s.ended = true
	out.add(End{Status: status, Code: code, Reason: reason})
}
