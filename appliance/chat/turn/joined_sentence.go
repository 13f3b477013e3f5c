package turn

import "time"

// joinedSentence is a sentence that was cut for its voice but was completely known when its first sound was
// sent. It is sent as one message, and the sound of its parts belongs to that message.
type joinedSentence struct {
	sentence   Sentence
	clips      int           // pieces of sound sent so far
	sentBefore time.Duration // sound sent for the parts before the newest
}

// join turns a piece of a part into a piece of the whole sentence, if the sentence is sent as one message.
func (s *State) join(p Piece) Piece {
	j, part := &s.reply.joined, p.Sentence
	if p.Index == 0 && len(p.PCM) > 0 && part.GoesOn && part.RowID() != j.sentence.RowID() {
		if whole := s.reply.whole(part); !whole.GoesOn {
			*j = joinedSentence{sentence: whole}
		}
	}
	if part.RowID() != j.sentence.RowID() {
		return p
	}
	if n := len(s.playing); p.Index == 0 && n > 0 && s.playing[n-1].sentence.ID == j.sentence.ID {
		j.sentBefore = s.playing[n-1].sent
	}
	known := len(part.SoFar()) - len(j.sentence.Before)
	p.SentenceLength = (j.sentBefore +
		p.SentenceLength) * time.Duration(len(j.sentence.Text)) / time.Duration(max(known, 1))
	p.Sentence, p.Index, p.Last = j.sentence, j.clips, p.Last && !part.GoesOn
	if len(p.PCM) > 0 {
		j.clips++
	}
	return p
}

// whole returns the part together with the following parts that are known. GoesOn is set if more parts are to
// come.
func (r reply) whole(part Sentence) Sentence {
	for _, rest := range r.unsent() {
		if rest.First == part.RowID() && rest.ID != part.ID {
			part.Text, part.GoesOn = part.Text+" "+rest.Text, rest.GoesOn
		}
	}
	return part
}
