package chat

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"parley/appliance/chat/record"
)

// Recordings records the sound of chats.
type Recordings interface {
	// Recorder returns the recorder of a chat. Its clock counts from the beginning of the chat.
	Recorder(chatID string, clock func() time.Duration, log *slog.Logger) Recorder
	// FailRecording notes that the recording of a chat is incomplete.
	FailRecording(ctx context.Context, chatID string) error
}

// A Recorder records the sound of a chat. Only End may block.
type Recorder interface {
	record.Recorder
	// Run records until End.
	Run()
	// Heard takes sound of the user that begins at a time. The recorder owns pcm from then on.
	Heard(at time.Duration, pcm []float32)
	// End closes the recording at a time and waits until it is written or ctx ends. It reports whether the
	// recording is complete.
	End(ctx context.Context, at time.Duration) (whole bool)
}

// noRecorder records nothing.
type noRecorder struct{}

func (noRecorder) Run()                                    {}
func (noRecorder) Heard(time.Duration, []float32)          {}
func (noRecorder) Said(time.Duration, []float32)           {}
func (noRecorder) Cut(time.Duration)                       {}
func (noRecorder) End(context.Context, time.Duration) bool { return true }

// lazyRecorder is a Recorder that starts with the first sound, because many conversations have none.
type lazyRecorder struct {
	Recorder
	once sync.Once
	run  func()
	runs atomic.Bool
}

func (r *lazyRecorder) begin() {
	r.once.Do(func() {
		r.runs.Store(true)
		r.run()
	})
}

// Heard records the user.
func (r *lazyRecorder) Heard(at time.Duration, pcm []float32) {
	r.begin()
	r.Recorder.Heard(at, pcm)
}

// Said records the assistant.
func (r *lazyRecorder) Said(at time.Duration, pcm []float32) {
	r.begin()
	r.Recorder.Said(at, pcm)
}

// Cut silences the assistant, if there is a recording.
func (r *lazyRecorder) Cut(at time.Duration) {
	if r.runs.Load() {
		r.Recorder.Cut(at)
	}
}

// End closes the recording, if there is one.
func (r *lazyRecorder) End(ctx context.Context, at time.Duration) (whole bool) {
	r.once.Do(func() {}) // it must not start after this
	return !r.runs.Load() || r.Recorder.End(ctx, at)
}
