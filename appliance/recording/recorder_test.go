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

// shelf is a folder that recordings are put on.
type shelf struct {
	dir    string
	full   error
	failed bool
}

func (s *shelf) CreateRecording(chatID string, side store.Side) (*os.File, error) {
	if s.full != nil {
		return nil, s.full
	}
	return os.Create(s.path(chatID, side))
}

func (s *shelf) path(chatID string, side store.Side) string {
	return filepath.Join(s.dir, chatID+"-"+string(side)+".opus")
}

func (s *shelf) FailRecording(context.Context, string) error {
	s.failed = true
	return nil
}

// hear is one side of a chat as it was kept, at 16 kHz; nil when it made no
// sound.
func (s *shelf) hear(t *testing.T, side store.Side) []float32 {
	t.Helper()
	data, err := os.ReadFile(s.path("chat", side))
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

// recording returns a recorder that is told what happened by hand: nothing runs
// by itself.
func recording(t *testing.T) (*Recorder, *shelf, *testClock) {
	t.Helper()
	s, c := &shelf{dir: t.TempDir()}, &testClock{}
	return New("chat", s, NewSyncer(), c.at, slog.New(slog.DiscardHandler)), s, c
}

// tell lets the recorder take all that it was told.
func tell(r *Recorder) {
	r.handleAll()
}

const ms = time.Millisecond

func beep(rateHz int, length time.Duration) []float32 {
	pcm := make([]float32, audio.Samples(length, rateHz))
	for i := range pcm {
		pcm[i] = float32(0.5 * math.Sin(2*math.Pi*800*float64(i)/float64(rateHz)))
	}
	return pcm
}

// hum is what the assistant says.
func hum(length time.Duration) []float32 { return beep(contract.OutputRateHz, length) }

// sounding are the times at which pcm begins and ends to sound, in pairs. Gaps
// under 15 ms are none: a tone crosses zero.
func sounding(pcm []float32) (times []time.Duration) {
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

func wantSounding(t *testing.T, side string, pcm []float32, want ...time.Duration) {
	t.Helper()
	got := sounding(pcm)
	ok := len(got) == len(want)
	for i := range got {
		ok = ok && (got[i]-want[i]).Abs() <= 5*ms
	}
	if !ok {
		t.Errorf("the %s sounds %v, want %v", side, got, want)
	}
}

// Both sides are where they were in time, to the millisecond, with what was not
// said any more left out.
func TestARecordingIsInTimeAndEndsWhereItWasInterrupted(t *testing.T) {
	r, s, clock := recording(t)
	// The user, in pieces as they come, with a hole in the stream.
	for at := 500 * ms; at < 800*ms; at += 20 * ms {
		r.Heard(at, beep(engine.SpeechRateHz, 20*ms))
	}
	r.Heard(3000*ms, beep(engine.SpeechRateHz, 300*ms))
	tell(r)
	// Two sentences one after the other, the second cut; then another that is
	// played to its end, and one that the end of the chat cuts.
	r.Said(1000*ms, hum(400*ms))
	r.Said(1050*ms, hum(2000*ms))
	tell(r)
	for clock.now = 0; clock.now < 2000*ms; clock.now += flushEvery {
		r.writePlayed(clock.now - flushLag)
	}
	r.Cut(2100 * ms)
	r.Said(2500*ms, hum(200*ms))
	r.Said(4000*ms, hum(5000*ms))
	tell(r)
	r.cutPlayback(4300 * ms)
	r.close()
	wantSounding(t, "user", s.hear(t, store.UserSide), 500*ms, 800*ms, 3000*ms, 3300*ms)
	// 1000 to 1400 is followed at once by the second, to 2100.
	wantSounding(t, "assistant", s.hear(t, store.AssistantSide), 1000*ms, 2100*ms, 2500*ms, 2700*ms, 4000*ms, 4300*ms)
	if !r.complete() {
		t.Error("the recording is said to have failed")
	}
}

// A stream that is ahead of the clock, or a little behind itself, is kept whole.
func TestTheUsersSoundIsNeverOverwritten(t *testing.T) {
	r, s, _ := recording(t)
	r.Heard(0, beep(engine.SpeechRateHz, time.Second))
	r.Heard(990*ms, beep(engine.SpeechRateHz, time.Second)) // 10 ms too early
	r.Heard(60*time.Second, beep(engine.SpeechRateHz, time.Second))
	tell(r)
	r.close()
	wantSounding(t, "user", s.hear(t, store.UserSide), 0, 2000*ms, 60*time.Second, 61*time.Second)
}

func TestWhoMakesNoSoundHasNoFile(t *testing.T) {
	r, s, _ := recording(t)
	r.Heard(0, nil)
	r.Said(0, nil)
	r.Cut(0)
	tell(r)
	r.close()
	if s.hear(t, store.UserSide) != nil || s.hear(t, store.AssistantSide) != nil || !r.complete() {
		t.Error("silence left a file, or failed")
	}
}

func TestADiskThatFailsEndsOneSideOfTheRecordingAndNothingElse(t *testing.T) {
	r, s, _ := recording(t)
	r.Said(0, hum(100*ms))
	tell(r)
	r.writePlayed(time.Second)
	s.full = store.ErrFull
	r.Heard(0, beep(engine.SpeechRateHz, time.Second))
	r.Heard(time.Second, beep(engine.SpeechRateHz, time.Second))
	tell(r)
	r.close()
	wantSounding(t, "assistant", s.hear(t, store.AssistantSide), 0, 100*ms)
	if r.complete() {
		t.Error("nobody is told that the recording is not whole")
	}
}

// A recorder that is not served lets everybody else go on.
func TestNobodyWaitsForTheRecorder(t *testing.T) {
	r, s, _ := recording(t)
	for i := range 2 * queueLength {
		r.Heard(time.Duration(i)*20*ms, beep(engine.SpeechRateHz, 20*ms))
	}
	tell(r)
	r.close()
	if len(s.hear(t, store.UserSide)) != queueLength*engine.SpeechRateHz/50 || r.complete() {
		t.Errorf("%d samples are kept, failed: %v", len(s.hear(t, store.UserSide)), !r.complete())
	}
	for range 20 { // in pieces of the greatest length
		r.Heard(0, make([]float32, 5*engine.SpeechRateHz))
	}
	if waits := r.queue.Len() * 5 * engine.SpeechRateHz; waits > maxQueuedSamples || waits == 0 {
		t.Errorf("%d samples wait", waits)
	}
	tell(r)
	if r.waiting.Load() != 0 {
		t.Errorf("%d samples are said to wait", r.waiting.Load())
	}
	r, _, _ = recording(t)
	long := hum(time.Minute)
	for range 20 {
		r.Said(0, long)
	}
	tell(r)
	if len(r.clips)*len(long) > maxHeldSamples {
		t.Errorf("%d samples wait to be played", len(r.clips)*len(long))
	}
	r.cutPlayback(0)
	r.close()
	if r.complete() || r.held != 0 {
		t.Errorf("failed: %v, held %d", !r.complete(), r.held)
	}
}

// breaking is a folder that breaks the recorder when it opens its second file.
type breaking struct {
	shelf
	opened []*os.File
}

func (b *breaking) CreateRecording(chatID string, side store.Side) (*os.File, error) {
	if len(b.opened) > 0 {
		panic("the folder breaks")
	}
	f, err := b.shelf.CreateRecording(chatID, side)
	b.opened = append(b.opened, f)
	return f, err
}

// A recorder that panics is not waited for, says that the recording is not
// whole, and leaves no file open.
func TestARecorderThatPanicsLetsGo(t *testing.T) {
	b := &breaking{shelf: shelf{dir: t.TempDir()}}
	r := New("chat", b, NewSyncer(), (&testClock{}).at, slog.New(slog.DiscardHandler))
	r.Heard(0, beep(engine.SpeechRateHz, time.Second))
	r.Said(0, hum(time.Second))
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
		t.Error("the recording is said to be whole")
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

// recordEnv names the folder in which this program, started again by a test,
// records until it is killed.
const recordEnv = "PARLEY_TEST_RECORD"

// recordUntilKilled hears and plays a tone in real time and prints how far it
// is.
func recordUntilKilled(dir string) {
	sentence, piece := hum(2*time.Second), beep(engine.SpeechRateHz, 20*ms)
	begun := time.Now()
	clock := func() time.Duration { return time.Since(begun) }
	r := New("chat", &shelf{dir: dir}, NewSyncer(), clock, slog.New(slog.NewTextHandler(os.Stderr, nil)))
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

// A process that is killed leaves all but the last second of what was heard.
func TestAKilledRecorderLosesLessThanASecond(t *testing.T) {
	for _, alive := range []time.Duration{1200 * ms, 2350 * ms, 3100 * ms} {
		s := &shelf{dir: t.TempDir()}
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
			pcm := s.hear(t, side)
			kept := time.Duration(len(pcm)) * time.Second / engine.SpeechRateHz
			if got := sounding(pcm); reached-kept > time.Second || len(got) != 2 || got[0] > 5*ms ||
				kept-got[1] > 5*ms {
				t.Errorf("killed at %v, the %s's %v are kept, sounding %v", reached, side, kept, got)
			}
		}
	}
}

// BenchmarkRecorder records ten seconds of a live chat, in which a microphone
// hisses and the assistant talks for half of the time, and says how much of a
// core that is.
func BenchmarkRecorder(b *testing.B) {
	hiss := make([]float32, engine.SpeechRateHz/50)
	for i := range hiss {
		hiss[i] = float32(math.Sin(float64(i*i))) * 0.001
	}
	answer := hum(5 * time.Second)
	before := processCPU(b)
	for b.Loop() {
		s, c := &shelf{dir: b.TempDir()}, &testClock{}
		r := New("chat", s, NewSyncer(), c.at, slog.New(slog.DiscardHandler))
		r.Said(0, answer)
		for c.now < 10*time.Second {
			for range 12 {
				r.Heard(c.now, hiss)
				tell(r)
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
