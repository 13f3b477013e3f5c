package turn

import "time"

// joinedSentence is a sentence that was cut for its voice, and of which all was known when its
// first sound was sent: it is one message all the same, and the sound of its parts is
// that of the message.
type joinedSentence struct {
	sentence   Sentence
	clips      int           // sent of it
	sentBefore time.Duration // of the parts before the newest
}

// join makes of a piece of a part of a sentence one of the whole, where that is sent as
// one.
func (s *State) join(p Piece) Piece {
	j, part := &s.reply.joined, p.Sentence
	if p.Index == 0 && len(p.PCM) > 0 && part.GoesOn && part.Row() != j.sentence.Row() {
		if whole := s.reply.whole(part); !whole.GoesOn {
			*j = joinedSentence{sentence: whole}
		}
	}
	if part.Row() != j.sentence.Row() {
		return p
	}
	if n := len(s.playing); p.Index == 0 && n > 0 && s.playing[n-1].sentence.ID == j.sentence.ID {
		j.sentBefore = s.playing[n-1].sent
	}
	known := len(part.SoFar()) - len(j.sentence.Before)
	p.Whole = (j.sentBefore + p.Whole) * time.Duration(len(j.sentence.Text)) / time.Duration(max(known, 1))
	p.Sentence, p.Index, p.Last = j.sentence, j.clips, p.Last && !part.GoesOn
	if len(p.PCM) > 0 {
		j.clips++
	}
	return p
}

// length is a part of a sentence with those of its rest that are known. It goes on where
// there are more to come.
func (r reply) whole(part Sentence) Sentence {
	for _, rest := range r.unsent() {
		if rest.First == part.Row() && rest.ID != part.ID {
			part.Text, part.GoesOn = part.Text+" "+rest.Text, rest.GoesOn
		}
	}
	return part
}
