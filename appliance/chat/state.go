package chat

import (
	"slices"
	"strings"
	"time"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/store"
)

// State is all that is so in a conversation. It is a value: Next returns
// another one and leaves the old as it was.
type State struct {
	settings  Settings
	requestID string
	begun     time.Time     // wall clock at the beginning, for times on the wire
	now       time.Duration // when the last event happened
	ended     bool
	paused    bool

	history []engine.Message // what the model sees, without the system prompt

	turn  int   // number of the newest turn
	reply reply // the assistant's part of it

	// What was sent and may still be playing at the client.
	playing  []playing
	silentAt time.Duration // when the client will have played everything

	heard    heard         // the newest utterance
	late     []late        // utterances before it that are over, their words still to come
	owed     bool          // words that came late have no answer yet
	heldBack []Words       // short speech over the assistant's, not sent yet
	unheard  bool          // the last user message has no answer yet, because paused
	active   time.Duration // when the user last did something
}

// phase is how far a reply is.
type phase int

const (
	quiet     phase = iota // no reply under way
	preparing              // speculative: nothing is sent until the user has finished
	answering              // under way, in the open
)

// reply is the assistant's part of a turn.
type reply struct {
	phase     phase
	utterance int // that a speculative reply answers, with the revision of its guess
	revision  int
	stale     bool   // the user went on; kept only in case the words stay the same
	asked     string // the words that it answers

	waiting  []Sentence // thought, not asked of the mouth yet
	asking   int        // asked of the mouth, not spoken yet
	spoke    int        // spoken
	thought  bool       // no more sentences will come
	kept     []Spoken   // spoken, held back until the user has finished
	failed   *contract.Fault
	dictated bool // the client wrote it
}

// playing is a sentence at the client: what it says and when it is heard.
type playing struct {
	sentence   Sentence
	dictated   bool
	begin, end time.Duration
}

// late is an utterance whose words come when the user already says the next.
type late struct{ utterance, revision int }

// heard is what is known of the newest utterance.
type heard struct {
	utterance   int
	open        bool // it goes on, or its words are still to come
	revision    int  // of the newest guess asked for
	words       Words
	guessed     bool          // words are those of revision
	over        bool          // the turn ended, the guess is still awaited
	interrupted bool          // it has interrupted the assistant
	resumed     time.Duration // voice at the moment the user went on after a pause
}

// NewState is a conversation about to begin, with what was said before.
func NewState(s Settings, begun time.Time, history []engine.Message) State {
	return State{settings: s, begun: begun, history: slices.Clone(history)}
}

// Settings are what holds now.
func (s State) Settings() Settings { return s.settings }

// Wake is when the state wants a Tick; false when it needs none.
func (s State) Wake() (time.Duration, bool) {
	if s.ended {
		return 0, false
	}
	at := min(s.settings.MaxDuration, s.idleSince()+s.settings.Inactivity)
	if s.silentAt > s.now && (len(s.heldBack) > 0 || s.owed || s.heard.guessed && s.reply.phase == quiet) {
		at = min(at, s.silentAt)
	}
	return max(at, s.now), true
}

// idleSince is when somebody last did something.
func (s State) idleSince() time.Duration { return max(s.active, s.silentAt) }

// talking reports whether the assistant holds the floor: it prepares an answer
// in the open, or what it said is still being played.
func (s State) talking() bool {
	return s.reply.phase == answering || s.now < s.silentAt
}

// user adds a user's message to the history.
func (s *State) user(text string) {
	s.history = append(slices.Clip(s.history), engine.Message{Role: engine.User, Content: text})
}

// assistant adds a spoken sentence to the history; the sentences of a turn are
// one message.
func (s *State) assistant(text string) {
	s.history = slices.Clone(s.history)
	if n := len(s.history); n > 0 && s.history[n-1].Role == engine.Assistant {
		s.history[n-1].Content += " " + text
		return
	}
	s.history = append(s.history, engine.Message{Role: engine.Assistant, Content: text})
}

// unsay takes out of the history what the client had not played by now.
func (s *State) unsay() {
	var unplayed []string
	for _, p := range s.playing {
		if p.end <= s.now {
			continue
		}
		unplayed = append(unplayed, p.sentence.Text[playedBytes(p, s.now):])
	}
	s.playing = nil
	s.silentAt = min(s.silentAt, s.now)
	n := len(s.history)
	if len(unplayed) == 0 || n == 0 || s.history[n-1].Role != engine.Assistant {
		return
	}
	s.history = slices.Clone(s.history)
	last := &s.history[n-1]
	last.Content = strings.TrimSpace(strings.TrimSuffix(last.Content, strings.Join(unplayed, " ")))
	if last.Content == "" {
		s.history = s.history[:n-1]
		return
	}
	last.Content += cutMark
}

// cutMark ends what was interrupted. It is all there is of a sentence of which
// not a word was heard.
const cutMark = "…"

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

// messages is the conversation as the model sees it. {{now}} is when the chat
// began: a prompt that changed with every turn would have to be read anew.
func (s State) messages(extra ...engine.Message) []engine.Message {
	prompt := engine.Message{Role: engine.System, Content: s.settings.prompt(s.begun)}
	out := append([]engine.Message{prompt}, s.history...)
	return append(out, extra...)
}

// record is a row of the history.
func (s State) record(t store.EventType, role store.Role, text string) *store.Event {
	return &store.Event{Type: t, Role: role, AtMS: s.begun.Add(s.now).UnixMilli(), MessageText: text}
}
