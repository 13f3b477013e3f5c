package recording

import (
	"time"

	"parley/appliance/audio"
	"parley/appliance/engine"
)

const (
	// blockWait is how long sound that comes after a pause is kept back until
	// its place in time is known. With what waits for its page, a crash then
	// still loses less than a second.
	blockWait = 250 * time.Millisecond
	// maxBlockWait is how long it is kept back at most: as long as a slow
	// network needs for the backlog of a long stall.
	maxBlockWait = 2 * time.Second
	// blockJitter is by how much sound must show to be older than it seemed,
	// for its block to wait on: less is the usual jitter.
	blockJitter = 20 * time.Millisecond
	// minPause is the hole in the user's stream from which what follows
	// comes after a pause: the ear's clock moves for no shorter one.
	minPause = 200 * time.Millisecond
)

// block is what a user said after a pause. Each piece of it says anew when it
// was said, and the last one knows best: after a network's stall, what comes
// first seems to come after a pause, and what follows at once shows that there
// was none (see ear.Clock).
type block struct {
	pcm          []float32
	begin        time.Duration
	since, moved time.Duration // by the clock: its first sound, and when begin was moved last
}

// add puts a piece that was said at a time behind the others.
func (b *block) add(now, at time.Duration, pcm []float32) {
	begin := at - duration(int64(len(b.pcm)))
	if b.pcm == nil {
		b.since, b.moved = now, now
	} else if b.begin-begin > blockJitter {
		b.moved = now
	}
	b.begin, b.pcm = begin, append(b.pcm, pcm...)
}

// end is when the next piece is due.
func (b *block) end() time.Duration { return b.begin + duration(int64(len(b.pcm))) }

// due reports whether there is nothing to wait for any more.
func (b *block) due(now time.Duration) bool {
	return now-b.moved >= blockWait || now-b.since >= maxBlockWait || len(b.pcm) >= maxQueuedSamples
}

// addUser writes what the user said, or keeps it back after a pause.
func (r *Recorder) addUser(at time.Duration, pcm []float32) {
	const pause = minPause * engine.SpeechRateHz / time.Second
	b, now := &r.block, r.clock()
	if b.pcm != nil && at > b.end()+minPause {
		r.writeBlock()
	}
	if b.pcm == nil && audio.Samples(at, engine.SpeechRateHz)-r.user.head < int(pause) {
		r.write(&r.user, at, pcm)
		return
	}
	b.add(now, at, pcm)
	if b.due(now) {
		r.writeBlock()
	}
}

// writeBlock writes what is kept back.
func (r *Recorder) writeBlock() {
	if b := r.block; b.pcm != nil {
		r.block = block{}
		r.write(&r.user, b.begin, b.pcm)
	}
}

// duration is the time of so many samples of the user's.
func duration(samples int64) time.Duration {
	return time.Duration(samples) * time.Second / engine.SpeechRateHz
}
