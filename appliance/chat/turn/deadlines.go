package turn

import (
	"time"

	"parley/appliance/contract"
)

// never is the moment of a deadline that is not set.
const never = time.Duration(1<<63 - 1)

// deadline is something that time alone brings: what it is, when, and what
// follows. Which are set, and for when, is read off the state; so none outlives
// what it was set for.
type deadline struct {
	what string
	at   time.Duration // never where it is not set
	due  func(*State, *effects)
}

// deadlines are all that there are. Of those due at the same moment the earlier
// in the list comes first.
func (s State) deadlines() [4]deadline {
	return [...]deadline{
		{"maximum duration", s.settings.MaxDuration, (*State).lastedTooLong},
		{"end of turn", s.endOfTurn(), (*State).turnOver},
		{"silence of the assistant", s.floorFree(), (*State).floorIsFree},
		{"inactivity", s.forsaken(), (*State).nobodyThere},
	}
}

// Wake is when the state wants a Tick; false when it needs none.
func (s State) Wake() (time.Duration, bool) {
	if s.ended {
		return 0, false
	}
	return max(s.now, s.next().at), true
}

// next is the earliest deadline.
func (s State) next() deadline {
	list := s.deadlines()
	first := list[0]
	for _, d := range list[1:] {
		if d.at < first.at {
			first = d
		}
	}
	return first
}

// tick takes what is due, in its order. Each deadline is met once: what it
// brings lifts it.
func (s *State) tick(out *effects) {
	for !s.ended {
		d := s.next()
		if d.at > s.now {
			return
		}
		d.due(s, out)
	}
}

const (
	// unheard is how much of the silence before the end of a turn may still be
	// on its way. Native clients send every 20 ms and web clients every 100,
	// and a frame of the voice detector is 32 ms; what comes in longer pieces,
	// or is held up by the network, is waited for.
	unheard = 160 * time.Millisecond
	// unheardLongest is how long that is waited for. The ear takes it for
	// silence when nothing comes for 400 ms, or two of the client's chunks; only
	// one that is far behind with its own work needs longer.
	unheardLongest = 3 * time.Second
)

// endOfTurn is when the user's turn is over if nothing more is heard.
func (s State) endOfTurn() time.Duration {
	p := s.heard.pause
	if !p.on || s.heard.over {
		return never
	}
	at := p.end + s.silenceGiven()
	if p.until < at-unheard {
		return at + unheardLongest
	}
	return at
}

// floorFree is when the assistant will have been heard to the end, if something
// waits for that.
func (s State) floorFree() time.Duration {
	waits := len(s.waiting.untold) > 0 || s.waiting.forAnswer() && !s.heard.open || s.unprepared()
	if s.reply.phase == answering || !waits {
		return never
	}
	return s.silentAt
}

// floorIsFree: the assistant is silent, and what waited for that has its turn.
func (s *State) floorIsFree(out *effects) {
	s.tellHeld(out)
	s.answerWaiting(out)
	s.speculate(out)
}

// forsaken is when the chat ends because nobody says anything. What is being
// made, or played, is no silence.
func (s State) forsaken() time.Duration {
	if s.busy() {
		return never
	}
	return max(s.active, s.silentAt) + s.settings.Inactivity
}

// lastedTooLong: the chat has lasted as long as it may.
func (s *State) lastedTooLong(out *effects) {
	s.end(out, contract.ChatMaxDurationTimeout, contract.CloseNormal, "maximum duration reached")
}

// nobodyThere: nobody said anything for too long.
func (s *State) nobodyThere(out *effects) {
	s.end(out, contract.ChatInactivityTimeout, contract.CloseNormal, "nobody said anything")
}
