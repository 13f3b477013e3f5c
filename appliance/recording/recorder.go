// Package recording keeps what chats sound like: each side of a chat as a
// stream of Opus in the time of the chat.
package recording

import (
	"context"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/internal/unbounded"
	"parley/store"
)

const (
	// queueLength is how many pieces of sound may wait for the recorder: some
	// ten seconds of a disk that does not answer. What comes then is lost to the
	// recording, and to nothing else.
	queueLength = 512
	// maxQueuedSamples is how much of the user's sound may wait, whatever pieces it
	// comes in: a minute, 4 MB.
	maxQueuedSamples = 60 * engine.SpeechRateHz
	// flushEvery is how often the recorder writes down what the assistant has
	// assistant meanwhile. With half a second in a page of the file, a process that
	// is killed loses less than a second of what was heard; a power cut also
	// what the Syncer has not come to.
	flushEvery = 250 * time.Millisecond
	// flushLag is how far behind the clock it stays with the assistant: an
	// interruption, whose event is handled that late at most, is then still to
	// be written.
	flushLag = 200 * time.Millisecond
	// maxHeldSamples is how many samples that are still to be played it holds: two
	// minutes, twice as much as is ever sent ahead of its playback
	// (contract.MaxSoundAheadSecs). They are 12 MB, for it keeps them in two bytes
	// each.
	maxHeldSamples = 2 * contract.MaxSoundAheadSecs * contract.OutputRateHz
)

// Files is where the sound of chats is kept.
type Files interface {
	// CreateRecording makes the file for one side of a chat.
	CreateRecording(chatID string, side store.Side) (*os.File, error)
}

// Recorder keeps what a conversation sounds like, each side as a stream of its
// own in the time of the chat: the user as the ear decodes it, the assistant as
// it is played, to where it was interrupted. One goroutine owns it, that of Run.
// Nobody waits for it.
type Recorder struct {
	chatID string
	files  Files
	syncer *Syncer
	clock  func() time.Duration // since the chat began
	log    *slog.Logger

	queue      *unbounded.Queue[sound]
	waiting    atomic.Int64  // samples of the user in the queue
	done       chan struct{} // closed: all is written
	incomplete atomic.Bool   // something was not taken

	user, assistant track
	block           block  // of the user, not written yet
	clips           []clip // not written to its end, in order
	held            int    // samples of playing
	playsUntil      time.Duration
}

// sound is what the recorder is told, in order.
type sound struct {
	at        time.Duration
	user      []float32 // of the user, from at on
	assistant []float32 // of the assistant, plays from at on or after what was before
	cut       bool      // the assistant falls silent at at
	last      bool      // nothing more comes
}

// clip is a piece of sound that the client plays, as 16-bit samples.
type clip struct {
	begin    time.Duration
	linear16 []byte
}

// samples is how many there are of it.
func (p clip) samples() int { return len(p.linear16) / 2 }

// New returns the recorder of a chat. The clock counts from when the chat began;
// all chats of a box share the syncer.
func New(chatID string, files Files, syncer *Syncer, clock func() time.Duration, log *slog.Logger) *Recorder {
	return &Recorder{
		chatID:    chatID,
		files:     files,
		syncer:    syncer,
		clock:     clock,
		log:       log,
		queue:     unbounded.NewQueue[sound](),
		done:      make(chan struct{}),
		user:      track{side: store.UserSide, rateHz: engine.SpeechRateHz},
		assistant: track{side: store.AssistantSide, rateHz: contract.OutputRateHz},
	}
}

// Heard takes what the user said, from a time on. It owns pcm from now on.
func (r *Recorder) Heard(at time.Duration, pcm []float32) {
	if len(pcm) > 0 {
		r.put(sound{at: at, user: pcm})
	}
}

// Said takes a piece of a sentence that is sent at a time, mono at
// contract.OutputRateHz.
func (r *Recorder) Said(at time.Duration, pcm []float32) {
	if len(pcm) > 0 {
		r.put(sound{at: at, assistant: pcm})
	}
}

// Cut silences the assistant from a time on: what was to play then was not
// heard.
func (r *Recorder) Cut(at time.Duration) { r.put(sound{at: at, cut: true}) }

func (r *Recorder) put(s sound) {
	n := int64(len(s.user))
	if r.waiting.Add(n) <= maxQueuedSamples && r.queue.Len() < queueLength {
		r.queue.Put(s)
		return
	}
	r.waiting.Add(-n)
	r.incomplete.Store(true)
}

// End closes the recording at a time and waits until it is written, at most
// until ctx ends. It reports whether the recording is whole. Nothing may come
// after it.
func (r *Recorder) End(ctx context.Context, at time.Duration) (whole bool) {
	r.queue.Put(sound{at: at, last: true})
	select {
	case <-r.done:
		return r.complete()
	case <-ctx.Done():
		r.log.Error("the recording of a chat is still not written; the disk is too slow")
		return false
	}
}

// Run records until the end.
func (r *Recorder) Run() {
	crashed := true
	defer close(r.done)
	defer func() {
		if crashed {
			r.abandon()
		}
	}()
	beat := time.NewTicker(flushEvery)
	defer beat.Stop()
	for beats := true; !r.handleAll(); {
		if due := r.pending(); due != beats { // nothing beats where nobody speaks
			if beats = due; due {
				beat.Reset(flushEvery)
			} else {
				beat.Stop()
			}
		}
		select {
		case <-r.queue.More():
		case <-beat.C:
			r.flush(r.clock())
		}
	}
	r.close()
	crashed = false
}

// handleAll takes what waits. It reports whether that was the last.
func (r *Recorder) handleAll() (last bool) {
	for {
		s, ok := r.queue.Take()
		switch {
		case !ok:
			return false
		case s.last:
			r.cutPlayback(s.at)
			return true
		}
		r.handle(s)
	}
}

// pending reports whether there is something that is still to be written.
func (r *Recorder) pending() bool { return len(r.clips) > 0 || len(r.block.pcm) > 0 }

// abandon gives the files back as they are, in the middle of a panic.
func (r *Recorder) abandon() {
	r.incomplete.Store(true)
	for _, l := range []*track{&r.user, &r.assistant} {
		if l.file != nil {
			_ = l.file.Close() // it was written as far as it was
		}
	}
}

func (r *Recorder) handle(s sound) {
	switch {
	case s.cut:
		r.cutPlayback(s.at)
	case s.user != nil:
		r.waiting.Add(-int64(len(s.user)))
		r.addUser(s.at, s.user)
	default:
		r.queuePlayback(s.at, s.assistant)
	}
}

// queuePlayback keeps what the assistant says until it is played.
func (r *Recorder) queuePlayback(at time.Duration, pcm []float32) {
	if r.held+len(pcm) > maxHeldSamples {
		r.incomplete.Store(true)
		return
	}
	r.held += len(pcm)
	begin := max(at, r.playsUntil)
	r.playsUntil = begin + playTime(len(pcm))
	r.clips = append(r.clips, clip{begin, audio.AppendLinear16(make([]byte, 0, 2*len(pcm)), pcm)})
}

// playTime is how long so many samples of the assistant's play.
func playTime(samples int) time.Duration {
	return time.Duration(samples) * time.Second / contract.OutputRateHz
}

// cutPlayback writes what the assistant had said by a time, and forgets the rest.
func (r *Recorder) cutPlayback(at time.Duration) {
	r.writePlayed(at)
	r.clips, r.held = nil, 0
	r.playsUntil = min(r.playsUntil, at)
}

// writePlayed writes what the assistant had said by a time.
func (r *Recorder) writePlayed(until time.Duration) {
	for len(r.clips) > 0 && r.clips[0].begin < until {
		c := &r.clips[0]
		n := min(c.samples(), audio.Samples(until-c.begin, contract.OutputRateHz))
		r.write(&r.assistant, c.begin, audio.Linear16(c.linear16[:2*n]))
		r.held -= n
		if n < c.samples() {
			c.linear16 = c.linear16[2*n:]
			c.begin += playTime(n)
			return
		}
		r.clips = r.clips[1:]
	}
}

func (r *Recorder) write(l *track, at time.Duration, pcm []float32) {
	if len(pcm) == 0 || l.err != nil {
		return
	}
	if err := l.write(r, at, pcm); err != nil {
		r.failed(l, err)
	}
}

// failed gives up one side, and keeps what is there of it.
func (r *Recorder) failed(l *track, err error) {
	l.err = err
	r.log.Error("a chat is no longer recorded", "side", string(l.side), "err", err)
}

// flush writes what is due.
func (r *Recorder) flush(now time.Duration) {
	r.writePlayed(now - flushLag)
	if r.block.due(now) {
		r.writeBlock()
	}
}

func (r *Recorder) close() {
	r.writeBlock()
	for _, l := range []*track{&r.user, &r.assistant} {
		if err := l.close(); err != nil {
			r.failed(l, err)
		}
	}
	if r.incomplete.Load() {
		r.log.Error("something of a chat is not recorded: the disk was too slow, or too much waited to be played")
	}
}

// complete reports, when all is over, whether nothing is missing.
func (r *Recorder) complete() bool {
	return r.user.err == nil && r.assistant.err == nil && !r.incomplete.Load()
}
