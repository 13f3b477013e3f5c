package reply

import (
	"context"
	"sync"
	"time"

	"parley/appliance/engine"
)

const (
	// byteTime is about how long a byte of a sentence plays, at 15 letters a second. The mind's lead over the
	// listener need not be known more precisely.
	byteTime = time.Second / 15
	// mindLead is how long before the listener has heard everything that was thought, the next sentence is
	// due: its first sound is made in that time. The time the model takes is not part of it. With a lead of a
	// second and several callers, everyone's second sentence was made before the first sentence of the newest
	// caller.
	mindLead = 300 * time.Millisecond
	// mouthLead is the same for a piece of sound, which is made in a fraction of the time it plays. The
	// longest piece takes 150 ms on a slow machine, and waits for a piece or two of other work before it.
	mouthLead = 300 * time.Millisecond
)

// schedule holds when the parts of one reply are due, so that among several chats the cores go to the one
// whose listener will miss something first.
type schedule struct {
	mind, mouth *engine.Urgency

	mu          sync.Mutex
	real        bool      // the user has finished and waits
	firstDue    time.Time // when the first sound is due
	hasSentence bool      // the mind has a sentence
	heardBy     time.Time // when everything thought will have been heard
	playedBy    time.Time // when everything spoken will have been played
	unspoken    int       // number of sentences thought and not yet completely spoken
	onReal      []func()  // called when the reply becomes real
}

// newSchedule returns the schedule of a reply whose first sound is due at begins. A speculative reply is not
// real until it is promoted.
func newSchedule(real bool, begins time.Time) *schedule {
	s := &schedule{
		real:     real,
		firstDue: begins,
		heardBy:  begins,
		playedBy: begins,
	}
	s.mind, s.mouth = engine.NewUrgency(s.priority(), begins), engine.NewUrgency(s.priority(), begins)
	return s
}

// resume notes that the mind thinks again after a tool has answered. Its next sentence is due when everything
// before has been heard.
func (s *schedule) resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heardBy, s.playedBy = later(s.heardBy), later(s.playedBy)
	if s.heardBy.Before(s.playedBy) {
		s.heardBy = s.playedBy
	}
	s.firstDue, s.hasSentence = s.heardBy, false
	s.updateMind()
	s.updateMouth()
}

func (s *schedule) priority() engine.Priority {
	if s.real {
		return engine.Live
	}
	return engine.Speculative
}

// sentenceThought notes a sentence of the mind. The next one is due when it has been heard; for a speculative
// reply only if that becomes real.
func (s *schedule) sentenceThought(sentence string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heardBy = later(s.heardBy).Add(time.Duration(len(sentence)) * byteTime)
	s.hasSentence = true
	s.unspoken++
	s.updateMind()
}

// sentenceDone notes that all of a sentence has been spoken.
func (s *schedule) sentenceDone() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unspoken = max(s.unspoken-1, 0) // dictated sentences were not thought
	s.updateMind()
}

// soundMade notes that this much sound was made.
func (s *schedule) soundMade(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.playedBy = later(s.playedBy).Add(d)
	s.updateMouth()
	s.updateMind()
}

// lateBy returns how late the sound of a piece will be if it is cut off now and takes making to make.
func (s *schedule) lateBy(making time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.heardBy) + making
}

// promote makes the reply real: the user waits for it from now on.
func (s *schedule) promote() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.real {
		return
	}
	s.real = true
	if early := time.Until(s.firstDue); early > 0 { // the silence was shorter than expected
		s.heardBy, s.playedBy = s.heardBy.Add(-early), s.playedBy.Add(-early)
		s.firstDue = s.firstDue.Add(-early)
	}
	s.updateMind()
	s.updateMouth()
	for _, f := range s.onReal {
		f()
	}
	s.onReal = nil
}

// whenReal calls f as soon as the reply is real, which may be now. f must not block.
func (s *schedule) whenReal(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.real {
		f()
		return
	}
	s.onReal = append(s.onReal, f)
}

// due returns when the first sound is due.
func (s *schedule) due() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.firstDue
}

// late returns how long ago the first sound of the reply was due; 0 if it is not due yet or the reply is not
// real.
func (s *schedule) late() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.real {
		return 0
	}
	return max(0, time.Since(s.firstDue))
}

// waitUntilReal waits until the reply is real. It returns false if ctx ends first.
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
		s.mind.Set(engine.Prefetch, s.heardBy)
	default:
		due := s.heardBy.Add(-mindLead)
		if sound := s.soundDue(); s.unspoken > 0 && !due.After(sound) {
			due = sound.Add(1) // what was thought already is heard first
		}
		s.mind.Set(engine.Live, due)
	}
}

func (s *schedule) updateMouth() { s.mouth.Set(s.priority(), s.soundDue()) }

// soundDue returns when more sound is due.
func (s *schedule) soundDue() time.Time {
	if s.playedBy.Equal(s.firstDue) {
		return s.firstDue
	}
	return s.playedBy.Add(-mouthLead)
}

// later returns t, or now if t has passed: a listener who has run dry continues from now.
func later(t time.Time) time.Time {
	if now := time.Now(); t.Before(now) {
		return now
	}
	return t
}
