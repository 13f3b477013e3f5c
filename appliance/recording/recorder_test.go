package recording

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/store"
)

// testArchive stores recordings in a folder.
type testArchive struct {
	dir    string
	full   error
	failed bool
}

func (a *testArchive) CreateRecording(chatID string, side store.Side) (*os.File, error) {
	if a.full != nil {
		return nil, a.full
	}
	return os.Create(a.path(chatID, side))
}

func (a *testArchive) path(chatID string, side store.Side) string {
	return filepath.Join(a.dir, chatID+"-"+string(side)+".opus")
}

func (a *testArchive) FailRecording(context.Context, string) error {
	a.failed = true
	return nil
}

// decode returns one side of a chat as it was recorded, at 16 kHz, and nil if there is no
// file.
func (a *testArchive) decode(t *testing.T, side store.Side) []float32 {
	t.Helper()
	data, err := os.ReadFile(a.path("chat", side))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	pcm, err := audio.DecodeAll(data, engine.SpeechRateHz)
	if err != nil {
		t.Fatal(err)
	}
	return pcm
}

// testClock is the time of a chat in a test.
type testClock struct{ now time.Duration }

func (c *testClock) at() time.Duration { return c.now }

// newTestRecorder returns a recorder that does nothing by itself.
func newTestRecorder(t *testing.T) (*Recorder, *testArchive, *testClock) {
	t.Helper()
	s, c := &testArchive{dir: t.TempDir()}, &testClock{}
	return New("chat", s, NewSyncer(), c.at, slog.New(slog.DiscardHandler)), s, c
}

// handleQueued makes the recorder handle its queue.
func handleQueued(r *Recorder) {
	r.handleAll()
}

const ms = time.Millisecond

func tone(rateHz int, length time.Duration) []float32 {
	pcm := make([]float32, audio.Samples(length, rateHz))
	for i := range pcm {
		pcm[i] = float32(0.5 * math.Sin(2*math.Pi*800*float64(i)/float64(rateHz)))
	}
	return pcm
}

// assistantTone is the sound of the assistant.
func assistantTone(length time.Duration) []float32 { return tone(contract.OutputRateHz, length) }

// soundTimes returns the times at which sound starts and ends, in pairs. Gaps under 15 ms
// do not count: a tone crosses zero.
func soundTimes(pcm []float32) (times []time.Duration) {
	last := -1
	at := func(i int) time.Duration { return time.Duration(i) * time.Second / engine.SpeechRateHz }
	for i, v := range pcm {
		if v > -0.1 && v < 0.1 {
			continue
		}
		if gap := engine.SpeechRateHz * 15 / 1000; last < 0 || i-last > gap {
			if last >= 0 {
				times = append(times, at(last))
			}
			times = append(times, at(i))
		}
		last = i
	}
	if last >= 0 {
		times = append(times, at(last))
	}
	return times
}

func wantSoundTimes(t *testing.T, side string, pcm []float32, want ...time.Duration) {
	t.Helper()
	got := soundTimes(pcm)
	ok := len(got) == len(want)
	for i := range got {
		ok = ok && (got[i]-want[i]).Abs() <= 5*ms
	}
	if !ok {
		t.Errorf("the %s sounds %v, want %v", side, got, want)
	}
}

// Both sides are at their times, to the millisecond, without what an interruption cut.
func TestRecordingIsInTimeAndEndsAtInterruptions(t *testing.T) {
	r, s, clock := newTestRecorder(t)
	// The user, in pieces, with a gap in the stream.
	for at := 500 * ms; at < 800*ms; at += 20 * ms {
		r.Heard(at, tone(engine.SpeechRateHz, 20*ms))
	}
	r.Heard(3000*ms, tone(engine.SpeechRateHz, 300*ms))
	handleQueued(r)
	// Two sentences one after the other, of which the second is cut; then one that is
	// played to its end, and one that the end of the chat cuts.
	r.Said(1000*ms, assistantTone(400*ms))
	r.Said(1050*ms, assistantTone(2000*ms))
	handleQueued(r)
	for clock.now = 0; clock.now < 2000*ms; clock.now += flushEvery {
		r.writePlayed(clock.now - flushLag)
	}
	r.Cut(2100 * ms)
	r.Said(2500*ms, assistantTone(200*ms))
	r.Said(4000*ms, assistantTone(5000*ms))
	handleQueued(r)
	r.cutPlayback(4300 * ms)
	r.close()
	wantSoundTimes(t, "user", s.decode(t, store.UserSide), 500*ms, 800*ms, 3000*ms, 3300*ms)
	// The first, 1000 to 1400, is followed at once by the second, to 2100.
	wantSoundTimes(t, "assistant", s.decode(t, store.AssistantSide),
		1000*ms, 2100*ms, 2500*ms, 2700*ms, 4000*ms, 4300*ms)
	if !r.complete() {
		t.Error("the recording is reported as failed")
	}
}

// A stream that is ahead of the clock, or slightly behind itself, is recorded completely.
func TestUserSoundIsNeverOverwritten(t *testing.T) {
	r, s, _ := newTestRecorder(t)
	r.Heard(0, tone(engine.SpeechRateHz, time.Second))
	r.Heard(990*ms, tone(engine.SpeechRateHz, time.Second)) // 10 ms too early
	r.Heard(60*time.Second, tone(engine.SpeechRateHz, time.Second))
	handleQueued(r)
	r.close()
	wantSoundTimes(t, "user", s.decode(t, store.UserSide), 0, 2000*ms, 60*time.Second, 61*time.Second)
}

func TestSilentSideHasNoFile(t *testing.T) {
	r, s, _ := newTestRecorder(t)
	r.Heard(0, nil)
	r.Said(0, nil)
	r.Cut(0)
	handleQueued(r)
	r.close()
	if s.decode(t, store.UserSide) != nil || s.decode(t, store.AssistantSide) != nil || !r.complete() {
		t.Error("silence left a file, or failed")
	}
}

func TestDiskErrorEndsOnlyOneSide(t *testing.T) {
	r, s, _ := newTestRecorder(t)
	r.Said(0, assistantTone(100*ms))
	handleQueued(r)
	r.writePlayed(time.Second)
	s.full = store.ErrFull
	r.Heard(0, tone(engine.SpeechRateHz, time.Second))
	r.Heard(time.Second, tone(engine.SpeechRateHz, time.Second))
	handleQueued(r)
	r.close()
	wantSoundTimes(t, "assistant", s.decode(t, store.AssistantSide), 0, 100*ms)
	if r.complete() {
		t.Error("the recording is not reported as incomplete")
	}
}

// A recorder that is not running does not block its callers.
func TestRecorderDoesNotBlock(t *testing.T) {
	r, s, _ := newTestRecorder(t)
	for i := range 2 * queueLength {
		r.Heard(time.Duration(i)*20*ms, tone(engine.SpeechRateHz, 20*ms))
	}
	handleQueued(r)
	r.close()
	if len(s.decode(t, store.UserSide)) != queueLength*engine.SpeechRateHz/50 || r.complete() {
		t.Errorf("%d samples are stored, failed: %v", len(s.decode(t, store.UserSide)), !r.complete())
	}
	for range 20 { // in pieces of the largest size
		r.Heard(0, make([]float32, 5*engine.SpeechRateHz))
	}
	if waits := r.queue.Len() * 5 * engine.SpeechRateHz; waits > maxQueuedSamples || waits == 0 {
		t.Errorf("%d samples wait", waits)
	}
	handleQueued(r)
	if r.waiting.Load() != 0 {
		t.Errorf("%d samples are reported as waiting", r.waiting.Load())
	}
	r, _, _ = newTestRecorder(t)
	long := assistantTone(time.Minute)
	for range 20 {
		r.Said(0, long)
	}
	handleQueued(r)
	if len(r.clips)*len(long) > maxHeldSamples {
		t.Errorf("%d samples wait to be played", len(r.clips)*len(long))
	}
	r.cutPlayback(0)
	r.close()
	if r.complete() || r.held != 0 {
		t.Errorf("failed: %v, held %d", !r.complete(), r.held)
	}
}

// panicFiles makes the recorder panic when it opens its second file.
type panicFiles struct {
	testArchive
	opened []*os.File
}

func (b *panicFiles) CreateRecording(chatID string, side store.Side) (*os.File, error) {
	if len(b.opened) > 0 {
		panic("the folder breaks")
	}
	f, err := b.testArchive.CreateRecording(chatID, side)
	b.opened = append(b.opened, f)
	return f, err
}

// A recorder that panics is not waited for, reports that the recording is incomplete, and
// closes its files.
func TestPanickingRecorderClosesItsFiles(t *testing.T) {
	b := &panicFiles{testArchive: testArchive{dir: t.TempDir()}}
	r := New("chat", b, NewSyncer(), (&testClock{}).at, slog.New(slog.DiscardHandler))
	r.Heard(0, tone(engine.SpeechRateHz, time.Second))
	r.Said(0, assistantTone(time.Second))
	r.Cut(time.Second) // has both written
	panicked := make(chan any)
	go func() {
		defer func() { panicked <- recover() }()
		r.Run()
	}()
	if <-panicked == nil {
		t.Fatal("it did not panic")
	}
	if r.End(t.Context(), time.Second) {
		t.Error("the recording is reported as complete")
	}
	if len(b.opened) != 1 || b.opened[0].Close() == nil {
		t.Error("a file was left open")
	}
}

func TestMain(m *testing.M) {
	if dir := os.Getenv(recordEnv); dir != "" {
		recordUntilKilled(dir)
	}
	goleak.VerifyTestMain(m)
}

// recordEnv names the folder in which this program, started again by a test, records until
// it is killed.
const recordEnv = "PARLEY_TEST_RECORD"

// recordUntilKilled records a tone on both sides in real time, and prints its progress.
func recordUntilKilled(dir string) {
	sentence, piece := assistantTone(2*time.Second), tone(engine.SpeechRateHz, 20*ms)
	begun := time.Now()
	clock := func() time.Duration { return time.Since(begun) }
	r := New("chat", &testArchive{dir: dir}, NewSyncer(), clock, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	go r.Run()
	for range 5 {
		r.Said(0, sentence)
	}
	for n := 1; ; n++ {
		<-time.After(time.Until(begun.Add(time.Duration(n) * 20 * ms)))
		r.Heard(time.Duration(n-1)*20*ms, piece)
		fmt.Println(clock().Milliseconds())
	}
}

// A killed process loses less than the last second of the sound.
func TestKilledRecorderLosesLessThanASecond(t *testing.T) {
	for _, alive := range []time.Duration{1200 * ms, 2350 * ms, 3100 * ms} {
		s := &testArchive{dir: t.TempDir()}
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), recordEnv+"="+s.dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var reached time.Duration
		for reached < alive {
			var n int64
			if _, err := fmt.Fscanln(out, &n); err != nil {
				t.Fatal(err)
			}
			reached = time.Duration(n) * ms
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // killed
		for _, side := range []store.Side{store.UserSide, store.AssistantSide} {
			pcm := s.decode(t, side)
			recorded := time.Duration(len(pcm)) * time.Second / engine.SpeechRateHz
			if got := soundTimes(pcm); reached-recorded > time.Second || len(got) != 2 || got[0] > 5*ms ||
				recorded-got[1] > 5*ms {
				t.Errorf("killed at %v, the %s's %v are stored, with sound %v", reached, side, recorded, got)
			}
		}
	}
}

// BenchmarkRecorder records ten seconds of a live chat, with a noisy microphone and an
// assistant that talks half of the time, and reports the share of a core that this takes.
func BenchmarkRecorder(b *testing.B) {
	hiss := make([]float32, engine.SpeechRateHz/50)
	for i := range hiss {
		hiss[i] = float32(math.Sin(float64(i*i))) * 0.001
	}
	answer := assistantTone(5 * time.Second)
	before := processCPU(b)
	for b.Loop() {
		s, c := &testArchive{dir: b.TempDir()}, &testClock{}
		r := New("chat", s, NewSyncer(), c.at, slog.New(slog.DiscardHandler))
		r.Said(0, answer)
		for c.now < 10*time.Second {
			for range 12 {
				r.Heard(c.now, hiss)
				handleQueued(r)
				c.now += 20 * ms
			}
			r.writePlayed(c.now - flushLag)
		}
		r.close()
	}
	b.ReportMetric(100*(processCPU(b)-before).Seconds()/(10*float64(b.N)), "%-of-a-core")
}

func processCPU(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
