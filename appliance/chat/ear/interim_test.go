package ear

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/enginetest"
)

// patientEar transcribes as slowly as a test wants, and returns how much it heard.
type patientEar struct {
	asked   chan engine.Priority
	release chan struct{}
}

func (p patientEar) Transcribe(ctx context.Context, pcm []float32, o engine.TranscribeOptions) (engine.Transcript,
	error) {
	p.asked <- o.Urgency.Get().Priority
	select {
	case <-p.release:
		return engine.Transcript{Text: strings.Repeat("word ", len(pcm)/engine.SpeechRateHz)}, nil
	case <-ctx.Done():
		return engine.Transcript{}, ctx.Err()
	}
}

// observed returns p with note called for every request.
func (p patientEar) observed(note func([]float32, engine.TranscribeOptions)) enginetest.Transcriber {
	return func(ctx context.Context, pcm []float32, o engine.TranscribeOptions) (engine.Transcript, error) {
		note(pcm, o)
		return p.Transcribe(ctx, pcm, o)
	}
}

// over stands for a conversation: it closes each utterance after 800 ms of silence, and counts them.
type over struct {
	ear   *Ear
	pause turn.VoicePaused
	count atomic.Int32
}

func (o *over) took(e turn.Event) {
	const long = 800 * time.Millisecond
	until := time.Duration(0)
	switch e := e.(type) {
	case turn.VoicePaused:
		o.pause = e
	case turn.SilenceContinued:
		until = e.Until
	case turn.VoiceResumed:
		until = e.Begin
	}
	if o.pause.Utterance != 0 && until >= o.pause.End+long {
		o.ear.Close(o.pause.Utterance)
		o.pause = turn.VoicePaused{}
		o.count.Add(1)
	}
}

func listening(t *testing.T, p patientEar, change ...func(*Ear)) (*Ear, chan turn.Event, *over) {
	events := make(chan turn.Event, 1000)
	s := turn.DefaultSettings()
	begun := time.Now()
	var transcribing sync.WaitGroup
	conversation := &over{}
	var taking sync.Mutex
	take := func(e turn.Event) {
		taking.Lock()
		defer taking.Unlock()
		conversation.took(e)
		events <- e
	}
	e := New(Parts{
		Detector:    enginetest.LevelDetector(0),
		Transcriber: p,
		Clock:       func() time.Duration { return time.Since(begun) },
		Post: func(e turn.Event) {
			if f, ok := e.(turn.FaultReported); ok && !errors.Is(f.Fault.Cause, context.Canceled) {
				t.Error(f.Fault, f.Fault.Cause)
			}
			take(e)
		},
		PostAndWait:  func(_ context.Context, e turn.Event) { take(e) },
		Record:       func(time.Duration, []float32) {},
		Go:           transcribing.Go,
		OnFirstSound: func() {},
	}, s)
	e.start() // tests put sound into its queue themselves
	for _, c := range change {
		c(e)
	}
	conversation.ear = e
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(done)
		e.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done; transcribing.Wait() })
	return e, events, conversation
}

// pcmOf returns this many ms of sound.
func pcmOf(ms int, sample float32) incoming {
	pcm := make([]float32, ms*engine.SpeechRateHz/1000)
	for i := range pcm {
		pcm[i] = sample
	}
	return incoming{pcm: pcm}
}

// The transcription of a pause is waited for: an interim one gives way to it, and its failure is not
// reported.
func TestAnInterimTranscriptionGivesWayToThePause(t *testing.T) {
	p := patientEar{make(chan engine.Priority, 10), make(chan struct{}, 10)}
	e, events, _ := listening(t, p)
	e.queue <- pcmOf(1500, 0.1)
	if got := <-p.asked; got != engine.Prefetch {
		t.Errorf("the look in the middle has priority %v", got)
	}
	e.queue <- pcmOf(200, 0)
	if got := <-p.asked; got != engine.Speculative { // although the first was never released
		t.Errorf("the guess has priority %v", got)
	}
	p.release <- struct{}{}
	for e := range events {
		if o, ok := e.(turn.PartlyTranscribed); ok {
			t.Errorf("an interim transcript was posted: %q", o.Transcript.Text)
		}
		if g, ok := e.(turn.Transcribed); ok {
			if strings.TrimSpace(g.Transcript.Text) != "word" {
				t.Errorf("the transcript is %q", g.Transcript.Text)
			}
			return
		}
	}
}

// Speech over the assistant is transcribed before it interrupts: a drawn-out "mm-hm" lasts longer than that
// takes.
func TestSpeechOverTheAssistantIsTranscribedBeforeItInterrupts(t *testing.T) {
	for _, plays := range []bool{false, true} {
		p := patientEar{make(chan engine.Priority, 10), make(chan struct{}, 10)}
		close(p.release)
		e, events, _ := listening(t, p)
		if plays {
			e.Played(0, make([]float32, 10*contract.OutputRateHz), 0) // a soft sound, of which nothing is an echo
		}
		e.queue <- pcmOf(700, 0.1)
		e.queue <- pcmOf(20, 0) // and it is not over
		var voice time.Duration
		looked := false
		for voice < 672*time.Millisecond || plays && !looked {
			switch e := (<-events).(type) {
			case turn.VoiceHeard:
				voice = e.Voice
			case turn.PartlyTranscribed:
				looked = true
			}
		}
		if looked != plays {
			t.Errorf("the assistant plays: %v; interim transcription after 700 ms of voice: %v", plays, looked)
		}
	}
}

// A slow engine makes fewer interim transcriptions: they never take more than an eighth of the time.
func TestASlowEngineMakesFewerInterimTranscriptions(t *testing.T) {
	p := patientEar{make(chan engine.Priority, 10), make(chan struct{}, 10)}
	e, events, _ := listening(t, p)
	e.queue <- pcmOf(1200, 0.1)
	<-p.asked
	time.Sleep(250 * time.Millisecond) // eight times that is 2 s
	p.release <- struct{}{}
	for _, ok := (<-events).(turn.PartlyTranscribed); !ok; _, ok = (<-events).(turn.PartlyTranscribed) {
	}
	e.queue <- pcmOf(1500, 0.1)
	time.Sleep(50 * time.Millisecond)
	if len(p.asked) > 0 {
		t.Error("a second interim transcription after 1.5 s")
	}
	e.queue <- pcmOf(1000, 0.1)
	<-p.asked
	p.release <- struct{}{}
}

// The transcript of an utterance that ended is not dropped for the next one.
func TestAnEndedUtteranceKeepsItsTranscript(t *testing.T) {
	p := patientEar{make(chan engine.Priority, 100), make(chan struct{}, 100)}
	e, events, conversation := listening(t, p)
	const utterances = 12
	go func() { // as fast as the ear takes them
		for range utterances {
			e.queue <- pcmOf(1100, 0.1)
			e.queue <- pcmOf(1000, 0)
		}
	}()
	time.Sleep(200 * time.Millisecond)
	if ended := conversation.count.Load(); ended < maxWaiting || ended > maxWaiting+1 {
		t.Errorf("it took %d utterances, and was done with none", ended)
	}
	close(p.release)
	next := 1
	for next <= utterances {
		g, ok := (<-events).(turn.Transcribed)
		if !ok {
			continue
		}
		if g.Utterance != next || strings.TrimSpace(g.Transcript.Text) != "word" {
			t.Fatalf("utterance %d says %q, want utterance %d", g.Utterance, g.Transcript.Text, next)
		}
		next++
	}
}
