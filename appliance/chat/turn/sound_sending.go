package turn

import (
	"slices"
	"time"
)

const (
	// DefaultLead is how far ahead of its playback sound is sent. A client rides out a stall of its network
	// for that long. For a client whose link is only half as fast again as speech, no more than this gathers
	// in the buffers on the way, so that an interruption reaches it in time.
	DefaultLead = 5 * time.Second
	// maxMadeAhead is how much more sound may be made without being sent. A busy box lives on it while others
	// have the cores. It is 4 MB.
	maxMadeAhead = 20 * time.Second
	// maxDictated is how many dictated texts may wait behind the one that is being said.
	maxDictated = 16
)

// soundDue returns when the next piece of sound is sent.
func (s State) soundDue() time.Duration {
	if s.reply.phase != answering || len(s.reply.unsentSound) == 0 {
		return never
	}
	return s.playbackEnd - s.settings.Lead
}

// sendMade sends the sound that is due.
func (s *State) sendMade(out *effects) {
	for s.soundDue() <= s.now {
		e := s.reply.unsentSound[0]
		s.reply.unsentSound = s.reply.unsentSound[1:]
		s.play(out, e.Piece)
	}
}

// sendSound sends the sound that is due and continues what waited for that.
func (s *State) sendSound(out *effects) {
	s.sendMade(out)
	s.askMouth(out)
	s.makeCall(out)
	s.finishReply(out)
}

// unsentLength returns how much sound of the reply is made and not sent.
func (r reply) unsentLength() (d time.Duration) {
	for _, e := range r.unsentSound {
		d += e.Piece.Length()
	}
	return d
}

// speaks reports whether some sentence of the reply is not completely sent.
func (r reply) speaks() bool { return len(r.unsentSound)+len(r.atMouth)+len(r.unspoken) > 0 }

// unsent returns the sentences of the reply that are not completely sent, in order. A part of the first one
// may have been sent.
func (r reply) unsent() []Sentence {
	all := make([]Sentence, 0, len(r.atMouth)+len(r.unspoken))
	for _, e := range r.unsentSound {
		all = append(all, e.Piece.Sentence)
	}
	all = append(append(all, r.atMouth...), r.unspoken...)
	return slices.CompactFunc(all, func(a, b Sentence) bool { return a.ID == b.ID })
}

// delayPlayback corrects the end of the playback for sound that still waits for the network: none of it has
// been played.
func (s *State) delayPlayback(e SendDelayed) {
	if len(s.playing) > 0 {
		s.playbackEnd = max(s.playbackEnd, s.now+e.Length)
	}
}
