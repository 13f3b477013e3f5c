package reply

import (
	"sync"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/language"
)

const (
	// quickAfter is how long after the moment at which its sound was due an answer
	// is waited for before a quick one is given. People take a second of silence
	// for a pause to think, and two for a line that is dead; a quick answer itself
	// takes some 200 ms to be heard.
	quickAfter = 900 * time.Millisecond
	// quickSoon is the same for a model whose answers were mostly later than
	// usuallyLate: there is nothing to wait for.
	quickSoon   = 300 * time.Millisecond
	usuallyLate = 1500 * time.Millisecond
)

// quick gives a short first answer where the answer itself is late: it says that
// the user was heard, and nothing that the answer could contradict.
type quick struct {
	mu    sync.Mutex
	over  bool // the answer has come, or nobody waits for it any more
	timer *time.Timer
}

// newQuick has say called when somebody has waited for so long that is not over
// by then.
func newQuick(s *schedule, after time.Duration, say func()) *quick {
	q := &quick{}
	s.whenReal(func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.timer = time.AfterFunc(after, func() {
			q.mu.Lock()
			defer q.mu.Unlock()
			if !q.over {
				q.over = true
				say()
			}
		})
	})
	return q
}

// end says that there is no quick answer to be given any more. After it none is.
func (q *quick) end() {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over = true
	if q.timer != nil {
		q.timer.Stop()
	}
}

// quickAnswer begins to wait for the answer of a turn; end it when that comes.
func (m mind) quickAnswer(t turn.Think, s *schedule) *quick {
	after := quickAfter
	if m.throughput.averageDelay() > usuallyLate {
		after = quickSoon
	}
	line := language.Of(t.Language).Quick(language.Question(asked(t.Conversation)), t.Turn)
	return newQuick(s, after, func() {
		s.sentenceThought(line)
		m.post(turn.SentenceThought{At: turn.At(m.clock()), Turn: t.Turn,
			Sentence: turn.Sentence{ID: contract.NewID(), Text: line, Quick: true}})
	})
}

// asked is what the user said last.
func asked(c turn.Conversation) string {
	for i := len(c.History) - 1; i >= 0; i-- {
		if c.History[i].Role == turn.User {
			return c.History[i].Text
		}
	}
	return ""
}
