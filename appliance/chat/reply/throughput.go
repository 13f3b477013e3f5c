package reply

import (
	"sync"
	"time"
)

const (
	// averageOver is the weight of the newest measurement in a Pace: the last four or
	// so count, for what else the machine does changes within minutes.
	averageOver = 4
	// nextBytes is how much the model has to write before the next piece can be
	// cut off: a phrase of four words.
	nextBytes = 24
	// clauseBreath is how long a speaker may pause after a clause, as after
	// "Sure,", and nobody hears that something is missing.
	clauseBreath = 300 * time.Millisecond
	// wordTime is how long a word plays, at 180 words a minute.
	wordTime = time.Second / 3
	// maxMinWords bounds how long a first piece has to be: on a machine that is
	// slower than that speech, nothing helps.
	maxMinWords = 8
	// firstByteTime and firstSoundTime are a Pace before anything was measured:
	// those of a slow machine (two cores without AVX-512).
	firstByteTime  = 12 * time.Millisecond
	firstSoundTime = 150 * time.Millisecond
)

// Throughput is how quick a model and the voices have lately been, waiting for the
// cores included. It says how much of an answer there is time for, and whether it
// can be said as it comes. All chats of a model share one.
type Throughput struct {
	mu          sync.Mutex
	byteTime    time.Duration // validators a reply, once it is being written
	delay       time.Duration // by which a reply came after the moment at which it was due
	firstSound  time.Duration // from a sentence to the first piece of its sound
	openThought bool          // the model's template begins its thoughts; see opens
}

// NewThroughput is that of a machine of which nothing is known.
func NewThroughput() *Throughput {
	return &Throughput{byteTime: firstByteTime, firstSound: firstSoundTime}
}

// noteWriting notes how long so many bytes of a reply took after its first ones.
func (p *Throughput) noteWriting(bytes int, took time.Duration) {
	if bytes < nextBytes { // too few to say anything
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.byteTime += (took/time.Duration(bytes) - p.byteTime) / averageOver
}

// noteDelay notes how late a reply began that somebody waited for.
func (p *Throughput) noteDelay(late time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay += (late - p.delay) / averageOver
}

// averageDelay is how late replies have lately begun.
func (p *Throughput) averageDelay() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.delay
}

// noteFirstSound notes how long the first sound of a sentence took.
func (p *Throughput) noteFirstSound(took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.firstSound += (took - p.firstSound) / averageOver
}

// writeTimer times the first piece of a reply: with the next ones the model waits
// for others that are due before.
type writeTimer struct {
	first time.Time // part of the reply
	bytes int       // after that
	done  bool
}

// came notes that a part of the reply came, and reports whether it is the first.
func (w *writeTimer) came(part string) (first bool) {
	if w.first.IsZero() {
		w.first = time.Now()
		return true
	}
	w.bytes += len(part)
	return false
}

// cut notes that a piece was cut off, of which p learns if it is the first.
func (w *writeTimer) cut(p *Throughput) {
	if !w.done {
		w.done = true
		p.noteWriting(w.bytes, time.Since(w.first))
	}
}

// lead is how long before its first sound is missed a piece of an answer has to
// be cut off, when it cannot wait for one more word.
func (p *Throughput) lead() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.firstSound + p.byteTime*nextBytes/4
}

// minWords is how many words a piece needs so that the next one is ready before it
// has been played, and the breath after it drawn.
func (p *Throughput) minWords(breath time.Duration) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := p.firstSound + p.byteTime*nextBytes - breath
	return min(max(int((next+wordTime-1)/wordTime), 1), maxMinWords)
}

// noteOpenThought notes whether a reply had a thought of which only the end was marked: its
// model's template begins them, so that the beginning of the next reply has to be
// held back.
func (p *Throughput) noteOpenThought(thoughts bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.openThought = thoughts
}

func (p *Throughput) opensThought() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.openThought
}
