package reply

import (
	"context"
	"sync"
	"time"

	"parley/appliance/engine"
)

const (
	// byteTime is about how long a byte of a sentence plays, 15 letters a
	// second: how much the mind is ahead of the listener does not have to be
	// known better than that.
	byteTime = time.Second / 15
	// mindLead is how long before the listener has heard all that was thought, the
	// next of it is to be there: its first sound is made in that time. When the
	// model begins with it is not said here. It was a second; then, with several
	// callers, everybody's second sentence went before the first of who came last.
	mindLead = 300 * time.Millisecond
	// mouthLead is the same for a piece of sound, which is made in a fraction of
	// the time it plays: the longest takes 150 ms on a slow machine, and waits for
	// a piece of somebody else's work or two before.
	mouthLead = 300 * time.Millisecond
)

// schedule says when the parts of one reply are due, so that the cores go to
// that of several chats whose listener will miss something first.
type schedule struct {
	mind, mouth *engine.Urgency

	mu          sync.Mutex
	real        bool      // the user has finished: somebody waits
	firstDue    time.Time // when the first sound is due
	hasSentence bool      // the mind has a sentence
	heard       time.Time // when what was thought will have been heard
	played      time.Time // when what became sound will have been played
	unspoken    int       // so many sentences have been thought and are not all sound
	onReal      []func()  // to be called when it becomes real
}

// newSchedule is that of a reply whose first sound is due at a moment. A
// speculative one is not real until it is promoted.
func newSchedule(real bool, begins time.Time) *schedule {
	s := &schedule{
		real:     real,
		firstDue: begins,
		heard:    begins,
		played:   begins,
	}
	s.mind, s.mouth = engine.NewUrgency(s.priority(), begins), engine.NewUrgency(s.priority(), begins)
	return s
}

// resume says that the mind thinks again, after a tool has answered: its next
// sentence is due when what was said before has been heard.
func (s *schedule) resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard, s.played = later(s.heard), later(s.played)
	if s.heard.Before(s.played) {
		s.heard = s.played
	}
	s.firstDue, s.hasSentence = s.heard, false
	s.updateMind()
	s.updateMouth()
}

func (s *schedule) priority() engine.Priority {
	if s.real {
		return engine.Live
	}
	return engine.Speculative
}

// sentenceThought says that the mind has a sentence. The next is due when that has been
// heard; of a speculative reply it is due only if that becomes real.
func (s *schedule) sentenceThought(sentence string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = later(s.heard).Add(time.Duration(len(sentence)) * byteTime)
	s.hasSentence = true
	s.unspoken++
	s.updateMind()
}

// sentenceDone says that all of a sentence has become sound.
func (s *schedule) sentenceDone() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unspoken = max(s.unspoken-1, 0) // what a client dictates was not thought
	s.updateMind()
}

// soundMade says that so much sound was made.
func (s *schedule) soundMade(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.played = later(s.played).Add(d)
	s.updateMouth()
	s.updateMind()
}

// lateBy is how much too late the sound of what is cut off now will be, when
// that takes so long to make.
func (s *schedule) lateBy(making time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.heard) + making
}

// promote says that somebody waits for the reply from now on.
func (s *schedule) promote() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.real {
		return
	}
	s.real = true
	if early := time.Until(s.firstDue); early > 0 { // the silence was shorter than it seemed
		s.heard, s.played = s.heard.Add(-early), s.played.Add(-early)
		s.firstDue = s.firstDue.Add(-early)
	}
	s.updateMind()
	s.updateMouth()
	for _, f := range s.onReal {
		f()
	}
	s.onReal = nil
}

// whenReal has f called as soon as somebody waits for the reply, now if somebody
// does. f must not wait.
func (s *schedule) whenReal(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.real {
		f()
		return
	}
	s.onReal = append(s.onReal, f)
}

// delay is how long ago the first sound of the reply was due; 0 where it is not
// due yet, or nobody waits for it.
func (s *schedule) late() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.real {
		return 0
	}
	return max(0, time.Since(s.firstDue))
}

// waitUntilReal waits until somebody waits for the reply; false: ctx has ended before.
func (s *schedule) waitUntilReal(ctx context.Context) bool {
	real := make(chan struct{})
	s.whenReal(func() { close(real) })
	select {
	case <-real:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *schedule) updateMind() {
	switch {
	case !s.hasSentence:
		s.mind.Set(s.priority(), s.firstDue)
	case !s.real:
		s.mind.Set(engine.Prefetch, s.heard)
	default:
		due := s.heard.Add(-mindLead)
		if sound := s.soundDue(); s.unspoken > 0 && !due.After(sound) {
			due = sound.Add(1) // what was thought is heard before what is to be
		}
		s.mind.Set(engine.Live, due)
	}
}

func (s *schedule) updateMouth() { s.mouth.Set(s.priority(), s.soundDue()) }

// soundDue is when more sound is to be there.
func (s *schedule) soundDue() time.Time {
	if s.played.Equal(s.firstDue) {
		return s.firstDue
	}
	return s.played.Add(-mouthLead)
}

// later is t, or now where t has passed: a listener who has run dry goes on
// from now.
func later(t time.Time) time.Time {
	if now := time.Now(); t.Before(now) {
		return now
	}
	return t
}
