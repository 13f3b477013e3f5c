// Package recording records the sound of chats: each side of a chat as an Opus stream whose
// time is that of the chat.
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
	// queueLength is how many pieces of sound may wait for the recorder: some ten seconds
	// of a disk that does not respond. The recording misses what comes after that; the chat
	// goes on.
	queueLength = 512
	// maxQueuedSamples bounds the user's sound in the queue, in pieces of any size: a
	// minute, 4 MB.
	maxQueuedSamples = 60 * engine.SpeechRateHz
	// flushEvery is how often the recorder writes what the assistant has said. With half a
	// second in a page of the file, a killed process loses less than a second of the sound;
	// a power cut also loses what the Syncer has not synced.
	flushEvery = 250 * time.Millisecond
	// flushLag is how far the recorder stays behind the clock with the assistant's sound.
	// An interruption, whose event comes at most this late, can then still cut what is not
	// written.
	flushLag = 200 * time.Millisecond
	// maxHeldSamples bounds the sound that the recorder holds until it is played: two
	// minutes, twice as much as is ever sent ahead of playback
	// (contract.MaxSoundAheadSecs). It takes 12 MB, at two bytes a sample.
	maxHeldSamples = 2 * contract.MaxSoundAheadSecs * contract.OutputRateHz
)

// Files stores the recordings of chats.
type Files interface {
	// CreateRecording creates the file for one side of a chat.
	CreateRecording(chatID string, side store.Side) (*os.File, error)
}

// Recorder records one chat, each side as a stream in the time of the chat: the user as the
// ear decodes the sound, and the assistant as it is played, up to an interruption. The
// goroutine of Run owns the recorder. Its other methods do not block, except End.
type Recorder struct {
	chatID string
	files  Files
	syncer *Syncer
	clock  func() time.Duration // time since the chat started
	log    *slog.Logger

	queue      *unbounded.Queue[sound]
	waiting    atomic.Int64  // the user's samples in the queue
	done       chan struct{} // closed when all is written
	incomplete atomic.Bool   // some sound was dropped

	user, assistant track
	block           block  // sound of the user that is not written yet
	clips           []clip // of the assistant, not written to their ends, in order
	held            int    // samples of clips
	playsUntil      time.Duration
}

// sound is an entry of the recorder's queue.
type sound struct {
	at        time.Duration
	user      []float32 // sound that starts at at
	assistant []float32 // sound that plays from at on, or after the sound before it
	cut       bool      // playback stops at at
	last      bool      // the chat ends at at
}

// clip is a piece of sound that the client plays, as 16-bit samples.
type clip struct {
	begin    time.Duration
	linear16 []byte
}

// samples returns the number of samples.
func (c clip) samples() int { return len(c.linear16) / 2 }

// New returns the recorder of a chat. clock returns the time since the chat started. All
// chats of a box share the syncer.
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

// Heard records sound of the user that starts at a time. The recorder owns pcm from then
// on.
func (r *Recorder) Heard(at time.Duration, pcm []float32) {
	if len(pcm) > 0 {
		r.put(sound{at: at, user: pcm})
	}
}

// Said records a piece of the assistant's sound that is sent at a time, mono at
// contract.OutputRateHz.
func (r *Recorder) Said(at time.Duration, pcm []float32) {
	if len(pcm) > 0 {
		r.put(sound{at: at, assistant: pcm})
	}
}

// Cut stops the assistant's playback at a time: the user did not hear the rest.
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

// End ends the recording at a time, and waits until it is written or ctx ends. It reports
// whether the recording is complete. No other method may be called after it.
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

// Run records until End is called.
func (r *Recorder) Run() {
	crashed := true
	defer close(r.done)
	defer func() {
		if crashed {
			r.abandon()
		}
	}()
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for ticking := true; !r.handleAll(); {
		if due := r.pending(); due != ticking { // no ticks during silence
			if ticking = due; due {
				tick.Reset(flushEvery)
			} else {
				tick.Stop()
			}
		}
		select {
		case <-r.queue.More():
		case <-tick.C:
			r.flush(r.clock())
		}
	}
	r.close()
	crashed = false
}

// handleAll handles what is in the queue. It reports whether the chat has ended.
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

// pending reports whether the recorder holds sound that it will write later.
func (r *Recorder) pending() bool { return len(r.clips) > 0 || len(r.block.pcm) > 0 }

// abandon closes the files as they are, after a panic.
func (r *Recorder) abandon() {
	r.incomplete.Store(true)
	for _, l := range []*track{&r.user, &r.assistant} {
		if l.file != nil {
			_ = l.file.Close() // best effort
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

// queuePlayback holds sound of the assistant until it is played.
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

// playTime returns how long a number of the assistant's samples plays.
func playTime(samples int) time.Duration {
	return time.Duration(samples) * time.Second / contract.OutputRateHz
}

// cutPlayback writes the assistant's sound up to a time, and drops the rest.
func (r *Recorder) cutPlayback(at time.Duration) {
	r.writePlayed(at)
	r.clips, r.held = nil, 0
	r.playsUntil = min(r.playsUntil, at)
}

// writePlayed writes the assistant's sound up to a time.
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

// failed ends the recording of one side, and leaves what is written of it.
func (r *Recorder) failed(l *track, err error) {
	l.err = err
	r.log.Error("a chat is no longer recorded", "side", string(l.side), "err", err)
}

// flush writes the sound that is due.
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

// complete reports whether nothing is missing, after Run has ended.
func (r *Recorder) complete() bool {
	return r.user.err == nil && r.assistant.err == nil && !r.incomplete.Load()
}
