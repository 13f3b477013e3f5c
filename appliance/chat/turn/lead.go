package turn

import (
	"slices"
	"time"
)

const (
	// DefaultLead is how far ahead of its playback sound is sent. A client
	// rides out a stall of its network that long. What is on its way to one whose
	// link is half as fast again as speech gathers for as long at most, so that an
	// interruption reaches it in time, whatever buffers lie between.
	DefaultLead = 5 * time.Second
	// maxMadeAhead is how much sound may be made beyond that and not be sent yet: what
	// a busy box lives on while others have the cores. It is 4 MB.
	maxMadeAhead = 20 * time.Second
	// maxDictated is how many dictated texts wait behind one that is being said.
	maxDictated = 16
)

// soundDue is when the next of the sound that is made is sent.
func (s State) soundDue() time.Duration {
	if s.reply.phase != answering || len(s.reply.unsentSound) == 0 {
		return never
	}
	return s.playbackEnd - s.settings.Lead
}

// sendMade sends what is made, as far ahead of its playback as that goes.
func (s *State) sendMade(out *effects) {
	for s.soundDue() <= s.now {
		e := s.reply.unsentSound[0]
		s.reply.unsentSound = s.reply.unsentSound[1:]
		s.play(out, e.Piece)
	}
}

// sendSound is sendMade, and what waits for it.
func (s *State) sendSound(out *effects) {
	s.sendMade(out)
	s.askMouth(out)
	s.makeCall(out)
	s.finishReply(out)
}

// unsentLength is how much sound of the reply is made and not sent.
func (r reply) unsentLength() (d time.Duration) {
	for _, e := range r.unsentSound {
		d += e.Piece.Length()
	}
	return d
}

// speaks reports whether there are sentences of a reply of which not all was sent.
func (r reply) speaks() bool { return len(r.unsentSound)+len(r.atMouth)+len(r.unspoken) > 0 }

// unsent are the sentences of a reply of which not all was sent, in their order.
// Of the first a part may have been.
func (r reply) unsent() []Sentence {
	all := make([]Sentence, 0, len(r.atMouth)+len(r.unspoken))
	for _, e := range r.unsentSound {
		all = append(all, e.Piece.Sentence)
	}
	all = append(append(all, r.atMouth...), r.unspoken...)
	return slices.CompactFunc(all, func(a, b Sentence) bool { return a.ID == b.ID })
}

// delayPlayback: so much of the sound waits for the network. None of it was played.
func (s *State) delayPlayback(e SendDelayed) {
	if len(s.playing) > 0 {
		s.playbackEnd = max(s.playbackEnd, s.now+e.Length)
	}
}
