package recording

import (
	"time"

	"parley/appliance/audio"
	"parley/appliance/engine"
)

const (
	// blockWait is how long sound after a pause is held until its time is known. Together
	// with what waits for its page, a crash still loses less than a second.
	blockWait = 250 * time.Millisecond
	// maxBlockWait is the longest that sound is held: as long as a slow network needs to
	// deliver the backlog of a long stall.
	maxBlockWait = 2 * time.Second
	// blockJitter is by how much a block's start must move to an earlier time for the block
	// to be held on. Less is the usual jitter.
	blockJitter = 20 * time.Millisecond
	// minPause is the shortest gap in the user's stream that counts as a pause: the ear's
	// clock does not move for a shorter one.
	minPause = 200 * time.Millisecond
)

// block is the user's sound after a pause. Each piece carries its time, and the time of the
// last piece is the most exact: after a network stall the first sound seems to come after a
// pause, and the sound that follows at once shows that there was none (see ear.Clock).
type block struct {
	pcm          []float32
	begin        time.Duration
	since, moved time.Duration // by the clock: when its first sound came, and when begin last moved
}

// add appends a piece of sound that starts at a time.
func (b *block) add(now, at time.Duration, pcm []float32) {
	begin := at - duration(int64(len(b.pcm)))
	if b.pcm == nil {
		b.since, b.moved = now, now
	} else if b.begin-begin > blockJitter {
		b.moved = now
	}
	b.begin, b.pcm = begin, append(b.pcm, pcm...)
}

// end returns when the next piece should start.
func (b *block) end() time.Duration { return b.begin + duration(int64(len(b.pcm))) }

// due reports whether the block should be written.
func (b *block) due(now time.Duration) bool {
	return now-b.moved >= blockWait || now-b.since >= maxBlockWait || len(b.pcm) >= maxQueuedSamples
}

// addUser writes sound of the user, or holds it back after a pause.
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

// writeBlock writes the sound that was held back.
func (r *Recorder) writeBlock() {
	if b := r.block; b.pcm != nil {
		r.block = block{}
		r.write(&r.user, b.begin, b.pcm)
	}
}

// duration returns how long a number of the user's samples lasts.
func duration(samples int64) time.Duration {
	return time.Duration(samples) * time.Second / engine.SpeechRateHz
}
