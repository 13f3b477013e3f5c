package turn

import "time"

// never is the time of a deadline that is not set.
const never = time.Duration(1<<63 - 1)

// deadline is something that happens when time has passed: its name, its time and its handler. Deadlines are
// computed from the state, so none can outlive its reason.
type deadline struct {
	what string
	at   time.Duration // never if it is not set
	due  func(*State, *effects)
}

// deadlines returns all deadlines. If two are due at the same time, the earlier one in the list comes first.
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

// Wake returns the time at which the state needs a Tick. It returns false if it needs none.
func (s State) Wake() (time.Duration, bool) {
	if s.ended {
		return 0, false
	}
	return max(s.now, s.nextDeadline().at), true
}

// nextDeadline returns the earliest deadline.
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

// meetDeadlines calls the handlers of all deadlines that are due, in order. Each handler clears the reason of
// its own deadline, so each is met once.
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
	// inTransit is how much of the silence at the end of a turn may still be on its way. Native clients send
	// every 20 ms, web clients every 100 ms, and a frame of the voice detector is 32 ms. Sound that comes in
	// longer pieces, or that the network holds up, is waited for.
	inTransit = 160 * time.Millisecond
	// onsetTime is how long a sound at the end of a silence may take to become voice. A word that begins with
	// a soft consonant ("seven", "four") is audible up to 100 ms before a detector finds it, and two frames
	// of voice are required.
	onsetTime = 200 * time.Millisecond
	// maxInTransit is how long sound that is late is waited for. The ear assumes silence when nothing comes
	// for 400 ms, or for two of the client's chunks. Only an ear that is far behind with its own work needs
	// longer.
	maxInTransit = 3 * time.Second
)

// turnEndDue returns when the user's turn ends if nothing more is heard.
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

// playbackEndDue returns when the playback ends, if something waits for that.
func (s State) playbackEndDue() time.Duration {
	waits := len(s.pendingSpeech.heldBack) > 0 || s.pendingSpeech.onlyForAnswer() && !s.utterance.open ||
		s.awaitsPreparation()
	if s.reply.phase == answering || !waits {
		return never
	}
	return s.playbackEnd
}

// afterPlayback handles what waited for the end of the playback.
func (s *State) afterPlayback(out *effects) {
	s.releaseHeldBack(out)
	s.answerWaiting(out)
	s.speculate(out)
}
