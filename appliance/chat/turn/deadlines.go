package turn

import "time"

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
func (s State) deadlines() [10]deadline {
	return [...]deadline{
		{"maximum duration", s.maxDurationDue(), (*State).reachMaxDuration},
		{"end of turn", s.turnEndDue(), (*State).endUserTurn},
		{"sound", s.soundDue(), (*State).sendSound},
		{"silence of the assistant", s.playbackEndDue(), (*State).afterPlayback},
		{"advice of plugins", s.adviceDue(), (*State).stopConsultation},
		{"tool", s.toolDue(), (*State).giveUpTool},
		{"filler", s.fillerDue(), (*State).sayFiller},
		{"departure", s.leaveDue(), (*State).leave},
		{"inactivity", s.inactivityDue(), (*State).endInactivity},
		{"nudge", s.nudgeDue(), (*State).nudge},
	}
}

// Wake is when the state wants a Tick; false when it needs none.
func (s State) Wake() (time.Duration, bool) {
	if s.ended {
		return 0, false
	}
	return max(s.now, s.nextDeadline().at), true
}

// nextDeadline is the earliest deadline.
func (s State) nextDeadline() deadline {
	list := s.deadlines()
	first := list[0]
	for _, d := range list[1:] {
		if d.at < first.at {
			first = d
		}
	}
	return first
}

// meetDeadlines takes what is due, in its order. Each deadline is met once: what it
// brings lifts it.
func (s *State) meetDeadlines(out *effects) {
	for !s.ended {
		d := s.nextDeadline()
		if d.at > s.now {
			return
		}
		d.due(s, out)
	}
}

const (
	// inTransit is how much of the silence before the end of a turn may still be
	// on its way. Native clients send every 20 ms and web clients every 100,
	// and a frame of the voice detector is 32 ms; what comes in longer pieces,
	// or is held up by the network, is waited for.
	inTransit = 160 * time.Millisecond
	// onsetTime is how long a sound at the end of a silence is given to become voice:
	// a word that begins with a soft consonant ("seven", "four") is heard up to 100 ms
	// before a detector knows it, and two frames of voice are wanted.
	onsetTime = 200 * time.Millisecond
	// maxInTransit is how long that is waited for. The ear takes it for
	// silence when nothing comes for 400 ms, or two of the client's chunks; only
	// one that is far behind with its own work needs longer.
	maxInTransit = 3 * time.Second
)

// turnEndDue is when the user's turn is over if nothing more is heard.
func (s State) turnEndDue() time.Duration {
	p := s.utterance.pause
	if !p.on || s.utterance.ended {
		return never
	}
	at := p.voiceEnd + s.silenceUntilEnd()
	if p.silentUntil < at-inTransit {
		return at + maxInTransit
	}
	if p.mayBeVoice {
		return at + onsetTime
	}
	return at
}

// playbackEndDue is when the assistant will have been heard to the end, if something
// waits for that.
func (s State) playbackEndDue() time.Duration {
	waits := len(s.waiting.heldBack) > 0 || s.waiting.onlyForAnswer() && !s.utterance.open || s.awaitsPreparation()
	if s.reply.phase == answering || !waits {
		return never
	}
	return s.playbackEnd
}

// afterPlayback: the assistant is silent, and what waited for that has its turn.
func (s *State) afterPlayback(out *effects) {
	s.releaseHeldBack(out)
	s.answerWaiting(out)
	s.speculate(out)
}
