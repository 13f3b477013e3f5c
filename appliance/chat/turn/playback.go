package turn

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// playingSentence is a sentence that the client is playing, or will play.
type playingSentence struct {
	sentence Sentence
	sent     time.Duration // how much of its sound was sent
	length   time.Duration // of all its sound, as far as it is known
	complete bool          // all of its sound was sent
}

// notePlaying notes that the client plays a piece after everything that was sent before.
func (s *State) notePlaying(p Piece) {
	n := len(s.playing)
	switch {
	case n > 0 && s.playing[n-1].sentence.ID == p.Sentence.ID:
		s.playing = slices.Clone(s.playing)
	case len(p.PCM) == 0: // a sentence without any sound
		return
	case s.now >= s.playbackEnd: // everything before has been played
		s.playing = nil
		fallthrough
	default:
		s.playing = append(s.playing, playingSentence{sentence: p.Sentence})
	}
	newest := &s.playing[len(s.playing)-1]
	newest.sent += p.Length()
	newest.length, newest.complete = max(p.SentenceLength, newest.sent), p.Last
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

// correctPlayback takes the line's report of how far a sentence has been heard, and recomputes when the
// playback ends.
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

// playedLengths returns how much of each sentence at the client has been played by now. The client plays
// without gaps, so the time left until playbackEnd is the unplayed end of the sound that was sent.
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

// stopPlayback stops the playback. What the client has not played by now counts as not said: the history and
// the records are corrected. It returns the sentences that were not heard.
func (s *State) stopPlayback(out *effects) (unheard []Sentence) {
	heard, cut := s.playedLengths(), ""
	for i, p := range s.playing {
		if p.complete && heard[i] == p.length {
			continue
		}
		words := p.textHeard(heard[i])
		left := p.sentence
		left.Text = strings.TrimSpace(left.Text[len(words):])
		left.Fixed = left.Fixed && words == ""
		unheard = append(unheard, left)
		if row := p.sentence.RowID(); row != cut { // otherwise the beginning of the sentence was cut already
			s.cutShort(out, p, words)
			cut = row
		}
	}
	s.stopSound(out)
	s.playing = nil
	return unheard
}

// unheard adds to the unheard sentences those of the reply that were not sent. sent holds the sentences that
// were.
func (r reply) unheard(sent []playingSentence, unheard []Sentence) []Sentence {
	var last Sentence
	if len(sent) > 0 {
		last = sent[len(sent)-1].sentence
	}
	for _, a := range r.unsent() {
		if a.ID != last.ID && (last.GoesOn || a.RowID() != last.RowID()) { // otherwise it was cut off
			unheard = append(unheard, a)
		}
	}
	return unheard
}

// stopSound drops the sound that was sent and not played. If all of it has been played but its sentence is
// not complete, the line may still hold back the newest sound.
func (s *State) stopSound(out *effects) {
	n := len(s.playing)
	if s.playbackEnd > s.now || n > 0 && !s.playing[n-1].complete {
		s.playbackEnd = min(s.playbackEnd, s.now)
		out.add(Cut{s.now})
	}
}

// cutUnfinishedSentence ends a sentence of which only a part was sent, because the rest will not come.
func (s *State) cutUnfinishedSentence(out *effects) {
	n := len(s.playing)
	if n == 0 || s.playing[n-1].complete {
		return
	}
	s.playing = slices.Clone(s.playing)
	p := &s.playing[n-1]
	words := p.textHeard(p.sent)
	s.cutShort(out, *p, words)
	p.sentence.Text, p.sentence.Fixed = strings.TrimSpace(words)+CutMark, false
	p.length, p.complete = p.sent, true
}

// textHeard returns the beginning of the sentence that was heard when this much of it has been played: the
// same share of its text, up to the last whole word. Text without spaces between words is cut between two
// characters.
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

// unspaced holds the scripts that are written without spaces between words.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
	unicode.Khmer, unicode.Myanmar}
