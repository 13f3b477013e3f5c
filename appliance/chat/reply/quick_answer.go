package reply

import (
	"sync"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/language"
)

const (
	// quickAfter is how late the sound of an answer must be before a quick answer is given. People take a
	// second of silence for a pause to think, and two for a dead line; a quick answer takes some 200 ms to be
	// heard.
	quickAfter = 900 * time.Millisecond
	// quickSoon is the same for a model whose answers were mostly later than usuallyLate, so that waiting is
	// pointless.
	quickSoon   = 300 * time.Millisecond
	usuallyLate = 1500 * time.Millisecond
)

// quick gives a short first answer when the real one is late. It says that the user was heard, and nothing
// that the real answer could contradict.
type quick struct {
	mu    sync.Mutex
	over  bool // the answer has come, or is no longer wanted
	timer *time.Timer
}

// newQuick calls say when the user has waited for longer than after, unless end is called first.
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

// end prevents the quick answer.
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

// quickAnswer prepares the quick answer of a turn. Its end must be called when the real one comes.
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

// asked returns what the user said last.
func asked(c turn.Conversation) string {
	for i := len(c.History) - 1; i >= 0; i-- {
		if c.History[i].Role == turn.User {
			return c.History[i].Text
		}
	}
	return ""
}
