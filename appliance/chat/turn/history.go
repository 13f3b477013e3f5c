package turn

import (
	"slices"
	"strings"
	"time"
)

// Role says who said an Entry.
type Role int

// Who speaks in a conversation.
const (
	User Role = iota
	Assistant
)

// Entry is one thing that was said, as the model is to see it. Sentences that
// the assistant said one after the other are one entry, as far as they were
// heard.
type Entry struct {
	Role    Role
	Text    string
	Context string // goes with a user's words, for the model alone
}

// Conversation is what the model goes on with.
type Conversation struct {
	Prompt  string // its variables filled in
	History []Entry
}

// CutMark ends what was interrupted. It is all there is of a sentence of which
// not a word was heard.
const CutMark = "…"

// mostHistory is how many bytes of a conversation are kept for the model, more
// than one reads that talks in real time; a client that writes as fast as it
// can, with a long context beside every message, must not fill the memory. When
// there is more, the older half is forgotten, and not a little with each
// message, since a model reads all anew of which the beginning has changed.
const mostHistory = 1 << 20

// playing is a sentence at the client: what it says and when it is heard.
type playing struct {
	sentence   Sentence
	dictated   bool
	begin, end time.Duration
}

// plays notes that the client plays a piece after what it plays already.
func (s *State) plays(p Piece) {
	begin := max(s.now, s.silentAt)
	if p.Index == 0 && s.now >= s.silentAt {
		s.playing = nil
	}
	n := len(s.playing)
	if p.Index == 0 || n == 0 || s.playing[n-1].sentence.ID != p.Sentence.ID {
		s.playing = append(slices.Clip(s.playing), playing{p.Sentence, s.reply.dictated, begin, begin + max(p.Whole, p.length())})
	} else {
		s.playing = slices.Clone(s.playing)
		s.playing[n-1].end += begin - s.silentAt // so long the client had nothing to play
	}
	s.silentAt = begin + p.length()
	if p.Last {
		s.playing[len(s.playing)-1].end = s.silentAt
	}
}

// played: the line knows how far a sentence has been heard. What of it and after
// it is still to be heard comes so much later, or earlier, than the clock said.
func (s *State) played(e Played) {
	i := slices.IndexFunc(s.playing, func(p playing) bool { return p.sentence.ID == e.ID })
	if i < 0 {
		return
	}
	p := s.playing[i]
	late := s.now - p.begin - max(e.UpTo, 0)
	if e.UpTo >= p.end-p.begin { // all of it, at the latest now
		late = min(0, s.now-p.end)
	}
	s.playing = slices.Clone(s.playing)
	for ; i < len(s.playing); i++ {
		s.playing[i].begin += late
		s.playing[i].end += late
	}
	s.silentAt += late
}

// conversation is what the model is to go on with, and more that is not in the
// history.
func (s State) conversation(more ...Entry) Conversation {
	return Conversation{Prompt: s.prompt, History: append(slices.Clip(s.history), more...)}
}

// byUser is an entry of the user's, with the context that goes with it.
func (s State) byUser(text string) Entry {
	e := Entry{Role: User, Text: text}
	if s.settings.Context != nil {
		e.Context = s.settings.Context.Text
	}
	return e
}

// addUser adds what the user said to the history.
func (s *State) addUser(text string) {
	s.history = append(slices.Clip(recent(s.history)), s.byUser(text))
}

// recent is the newer half of a history that has become too long, and any other
// whole.
func recent(history []Entry) []Entry {
	size := func(e Entry) int { return len(e.Text) + len(e.Context) }
	all := 0
	for _, e := range history {
		all += size(e)
	}
	if all <= mostHistory {
		return history
	}
	n := 0
	for ; n < len(history) && all > mostHistory/2; n++ {
		all -= size(history[n])
	}
	return history[n:]
}

// addAssistant adds a spoken sentence to the history; the sentences of a turn
// are one entry.
func (s *State) addAssistant(text string) {
	s.history = slices.Clone(s.history)
	if n := len(s.history); n > 0 && s.history[n-1].Role == Assistant {
		s.history[n-1].Text += " " + text
		return
	}
	s.history = append(s.history, Entry{Role: Assistant, Text: text})
}

// silence stops the playback: it takes out of the history what the client had
// not played by now.
func (s *State) silence(out *effects) {
	var unplayed []string
	for _, p := range s.playing {
		if p.end <= s.now {
			continue
		}
		unplayed = append(unplayed, p.sentence.Text[playedBytes(p, s.now):])
	}
	s.playing = nil
	if s.silentAt > s.now {
		s.silentAt = s.now
		out.add(Cut{s.now})
	}
	n := len(s.history)
	if len(unplayed) == 0 || n == 0 || s.history[n-1].Role != Assistant {
		return
	}
	s.history = slices.Clone(s.history)
	last := &s.history[n-1]
	last.Text = strings.TrimSpace(strings.TrimSuffix(last.Text, strings.Join(unplayed, " ")))
	if last.Text == "" {
		s.history = s.history[:n-1]
		return
	}
	last.Text += CutMark
}

// cutShort takes back in the records what the client had not played by now.
func (s State) cutShort(out *effects) {
	for _, p := range s.playing {
		if p.end <= s.now {
			continue
		}
		heard := strings.TrimSpace(p.sentence.Text[:playedBytes(p, s.now)]) + CutMark
		s.tell(out, CutShort{Sentence{p.sentence.ID, heard}, p.dictated})
	}
}

// playedBytes is how much of a sentence was heard by now: as many of its
// words as the time played is of its length.
func playedBytes(p playing, now time.Duration) int {
	if now <= p.begin {
		return 0
	}
	text := p.sentence.Text
	n := int(float64(len(text)) * float64(now-p.begin) / float64(p.end-p.begin))
	return strings.LastIndexByte(text[:n], ' ') + 1
}
