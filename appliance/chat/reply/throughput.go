package reply

import (
	"sync"
	"time"
)

const (
	// averageOver is how many measurements a Throughput averages, roughly. Only the last few count, because
	// the load of a machine changes within minutes.
	averageOver = 4
	// nextBytes is how much the model has to write before the next piece can be cut off: a phrase of four
	// words.
	nextBytes = 24
	// clauseBreath is how long a speaker may pause after a clause, such as "Sure,", without sounding
	// interrupted.
	clauseBreath = 300 * time.Millisecond
	// wordTime is how long a word plays, at 180 words a minute.
	wordTime = time.Second / 3
	// maxMinWords bounds the length of a first piece. On a machine that needs more, speech is slower than
	// playback and nothing helps.
	maxMinWords = 8
	// firstByteTime and firstSoundTime are assumed before anything was measured. They are those of a slow
	// machine (two cores without AVX-512).
	firstByteTime  = 12 * time.Millisecond
	firstSoundTime = 150 * time.Millisecond
)

// Throughput measures how fast a model and the voices have been lately, including their waiting for the
// cores. It decides how much of an answer there is time for, and whether it can be spoken as it comes. All
// chats of a model share one.
type Throughput struct {
	mu          sync.Mutex
	byteTime    time.Duration // of a reply, once it is being written
	delay       time.Duration // from when a reply was due to its first word
	firstSound  time.Duration // from a sentence to the first piece of its sound
	openThought bool          // the model's template opens its thoughts; see noteOpenThought
}

// NewThroughput returns the Throughput of a machine that was not measured yet.
func NewThroughput() *Throughput {
	return &Throughput{byteTime: firstByteTime, firstSound: firstSoundTime}
}

// noteWriting notes how long this many bytes of a reply took after the first ones.
func (t *Throughput) noteWriting(bytes int, took time.Duration) {
	if bytes < nextBytes { // too few for a measurement
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byteTime += (took/time.Duration(bytes) - t.byteTime) / averageOver
}

// noteDelay notes how late a reply began that the user waited for.
func (t *Throughput) noteDelay(late time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.delay += (late - t.delay) / averageOver
}

// averageDelay returns how late replies have begun lately.
func (t *Throughput) averageDelay() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.delay
}

// noteFirstSound notes how long the first sound of a sentence took.
func (t *Throughput) noteFirstSound(took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.firstSound += (took - t.firstSound) / averageOver
}

// writeTimer times the first piece of a reply. Later pieces are not timed, because the model may wait for
// other chats that are due first.
type writeTimer struct {
	first time.Time // when the first part came
	bytes int       // that came after the first part
	done  bool
}

// came notes a part of the reply and reports whether it is the first.
func (w *writeTimer) came(part string) (first bool) {
	if w.first.IsZero() {
		w.first = time.Now()
		return true
	}
	w.bytes += len(part)
	return false
}

// cut notes that a piece was cut off. The first piece is reported to p.
func (w *writeTimer) cut(p *Throughput) {
	if !w.done {
		w.done = true
		p.noteWriting(w.bytes, time.Since(w.first))
	}
}

// lead returns how long before its first sound is due a piece has to be cut off if it cannot wait for one
// more word.
func (t *Throughput) lead() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.firstSound + t.byteTime*nextBytes/4
}

// minWords returns how many words a piece needs so that the next one is ready when it and the breath after it
// have been played.
func (t *Throughput) minWords(breath time.Duration) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := t.firstSound + t.byteTime*nextBytes - breath
	return min(max(int((next+wordTime-1)/wordTime), 1), maxMinWords)
}

// noteOpenThought notes whether a reply had a thought of which only the end was marked. Then the model's
// template opens the thought, and the beginning of the next reply has to be held back.
func (t *Throughput) noteOpenThought(thoughts bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.openThought = thoughts
}

func (t *Throughput) opensThought() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.openThought
}
