package turn

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// playingSentence is a sentence at the client.
type playingSentence struct {
	sentence Sentence
	sent     time.Duration // of its sound was sent
	length   time.Duration // all of its sound, as far as that is known
	complete bool          // all of it was sent
}

// notePlaying notes that the client plays a piece after what it plays already.
func (s *State) notePlaying(p Piece) {
	n := len(s.playing)
	switch {
	case n > 0 && s.playing[n-1].sentence.ID == p.Sentence.ID:
		s.playing = slices.Clone(s.playing)
	case len(p.PCM) == 0: // a sentence without any sound
		return
	case s.now >= s.playbackEnd: // what was before is played
		s.playing = nil
		fallthrough
	default:
		s.playing = append(s.playing, playingSentence{sentence: p.Sentence})
	}
	newest := &s.playing[len(s.playing)-1]
	newest.sent += p.Length()
	newest.length, newest.complete = max(p.Whole, newest.sent), p.Last
	if p.Last {
		newest.length = newest.sent
	}
	if p.Length() > 0 {
		s.playbackEnd = max(s.now, s.playbackEnd) + p.Length()
		if !s.reply.unprompted {
			s.promptedUntil = s.playbackEnd
		}
	}
}

// correctPlayback: the line knows how far a sentence has been heard. What of it, and
// after it, is still to be heard comes from now on.
func (s *State) correctPlayback(e Played) {
	i := slices.IndexFunc(s.playing, func(p playingSentence) bool { return p.sentence.ID == e.ID })
	if i < 0 {
		return
	}
	left := max(0, s.playing[i].sent-max(0, e.UpTo))
	for _, p := range s.playing[i+1:] {
		left += p.sent
	}
	if left == 0 {
		s.playbackEnd = min(s.playbackEnd, s.now)
		return
	}
	s.playbackEnd = s.now + left
}

// playedLengths is how much of each sentence at the client has been played by now.
// The client plays without a gap what it has: so what is left of its time is
// the end of what was sent.
func (s State) playedLengths() []time.Duration {
	left := max(0, s.playbackEnd-s.now)
	heard := make([]time.Duration, len(s.playing))
	for i, p := range slices.Backward(s.playing) {
		unplayed := min(left, p.sent)
		left -= unplayed
		heard[i] = p.sent - unplayed
	}
	return heard
}

// stopPlayback stops the playback. What the client had not played by now was not
// said: the history and the records say so. It returns that.
func (s *State) stopPlayback(out *effects) (unheard []Sentence) {
	heard, cut := s.playedLengths(), ""
	for i, p := range s.playing {
		if p.complete && heard[i] == p.length {
			continue
		}
		words := p.textHeard(heard[i])
		left := p.sentence
		left.Text = strings.TrimSpace(left.Text[len(words):])
		unheard = append(unheard, left)
		if row := p.sentence.Row(); row != cut { // else the beginning of the sentence was cut already
			s.cutShort(out, p, words)
			cut = row
		}
	}
	s.stopSound(out)
	s.playing = nil
	return unheard
}

// unheard is what of a reply was not heard, of which so much was sent, and of that
// so much not heard.
func (r reply) unheard(sent []playingSentence, unheard []Sentence) []Sentence {
	var last Sentence
	if len(sent) > 0 {
		last = sent[len(sent)-1].sentence
	}
	for _, a := range r.unsent() {
		if a.ID != last.ID && (last.GoesOn || a.Row() != last.Row()) { // else it was broken off
			unheard = append(unheard, a)
		}
	}
	return unheard
}

// stopSound has nothing more heard of what was sent. Where all of it has been
// played, and more of the sentence was to come, a line may still hold its newest
// sound back.
func (s *State) stopSound(out *effects) {
	n := len(s.playing)
	if s.playbackEnd > s.now || n > 0 && !s.playing[n-1].complete {
		s.playbackEnd = min(s.playbackEnd, s.now)
		out.add(Cut{s.now})
	}
}

// cutUnfinishedSentence ends a sentence of which only a part was sent: the rest will not come.
func (s *State) cutUnfinishedSentence(out *effects) {
	n := len(s.playing)
	if n == 0 || s.playing[n-1].complete {
		return
	}
	s.playing = slices.Clone(s.playing)
	p := &s.playing[n-1]
	words := p.textHeard(p.sent)
	s.cutShort(out, *p, words)
	p.sentence.Text = strings.TrimSpace(words) + CutMark
	p.length, p.complete = p.sent, true
}

// textHeard is the beginning of a sentence that was heard when so much of it was
// played: as many of its words as the time is of its length. What is written
// without spaces is cut between two characters.
func (p playingSentence) textHeard(heard time.Duration) string {
	text := p.sentence.Text
	if heard <= 0 || p.length <= 0 {
		return ""
	}
	if heard >= p.length {
		return text
	}
	n := int(float64(len(text)) * float64(heard) / float64(p.length))
	for n > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:n])
		if r == ' ' || unicode.In(r, unspaced...) {
			break
		}
		n -= size
	}
	return text[:n]
}

// unspaced are the scripts that are written without spaces between words.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
	unicode.Khmer, unicode.Myanmar}
