package chat

import (
	"context"
	"strings"
	"testing"
	"time"

	"parley/appliance/contract"
	"parley/appliance/engine"
)

// reads is what the model is asked to read ahead of the user's end.
func (b *told) reads(e Event) (last string) {
	b.now += time.Millisecond
	var effects []Effect
	b.state, effects = Next(b.state, stamped(e, b.now))
	for _, f := range effects {
		if r, ok := f.(Read); ok {
			last = r.Messages[len(r.Messages)-1].Content
		}
	}
	return last
}

func TestWordsAreReadWhileTheUserGoesOn(t *testing.T) {
	b := begin(t)
	b.after(Voiced{Utterance: 1, Voice: time.Second})
	for said, want := range map[string]string{
		"When do you op.":        "When do you",
		"When do you open, and.": "When do you open",
		"When":                   "", // may be half of a word
		"":                       "",
	} {
		if got := b.reads(Overheard{Utterance: 1, Words: says(said)}); got != want {
			t.Errorf("of %q it reads %q, want %q", said, got, want)
		}
	}
	if got := b.reads(Overheard{Utterance: 0, Words: says("Long ago said words.")}); got != "" {
		t.Errorf("it reads %q of an utterance that is over", got)
	}
	want(t, b.after(Guessed{Utterance: 1, Revision: 1, Words: says("When do you open?")}), "prepare 1: When do you open?")
	if got := b.reads(Overheard{Utterance: 1, Words: says("When do you open?")}); got != "" {
		t.Errorf("it reads %q, and prepares the answer to it already", got)
	}
}

func TestWhatIsOverheardOverTheAssistantIsNotRead(t *testing.T) {
	b := speaking(t, "The museum opens at ten.")
	b.after(Voiced{Utterance: 2, Voice: 400 * time.Millisecond})
	if got := b.reads(Overheard{Utterance: 2, Words: says("And when does")}); got != "" {
		t.Errorf("it reads %q", got)
	}
}

func TestInterimMessagesComeInTheMiddleToo(t *testing.T) {
	b := begin(t, func(s *Settings) { s.Verbose = true })
	b.after(Voiced{Utterance: 1, Voice: time.Second})
	want(t, b.after(Overheard{Utterance: 1, Words: says("When do you")}), "interim: When do you")
	b = speaking(t, "The museum opens at ten.")
	b.state.settings.Verbose = true
	b.after(Voiced{Utterance: 2, Voice: 400 * time.Millisecond})
	want(t, b.after(Overheard{Utterance: 2, Words: says("And when does")}))
}

// patientEar transcribes as slowly as a test wants, and says how much it heard.
type patientEar struct {
	asked   chan engine.Priority
	release chan struct{}
}

func (p patientEar) Transcribe(ctx context.Context, pcm []float32, o engine.TranscribeOptions) (engine.Transcript, error) {
	p.asked <- o.Priority
	select {
	case <-p.release:
		return engine.Transcript{Text: strings.Repeat("word ", len(pcm)/engine.SpeechRateHz)}, nil
	case <-ctx.Done():
		return engine.Transcript{}, ctx.Err()
	}
}

func listening(t *testing.T, p patientEar) (*ear, chan Event) {
	events := make(chan Event, 1000)
	s := DefaultSettings()
	s.Audio = &contract.AudioConfiguration{Encoding: contract.Linear16, SampleRate: engine.SpeechRateHz, Channels: 1}
	begun := time.Now()
	e := newEar(newFakes(), p, s, func() time.Duration { return time.Since(begun) }, func(e Event) { events <- e },
		func(f contract.Fault) { t.Error(f) })
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(done)
		e.run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return e, events
}

// pcmOf is so many ms of 16 kHz linear16.
func pcmOf(ms int, sample byte) earful {
	chunk := make([]byte, ms*2*engine.SpeechRateHz/1000)
	for i := range chunk {
		chunk[i] = sample
	}
	return earful{chunk: chunk}
}

// A pause is what somebody waits for: what is looked at in the middle then
// gives way, and nobody is told that it failed.
func TestLookInTheMiddleGivesWayToThePause(t *testing.T) {
	p := patientEar{make(chan engine.Priority, 10), make(chan struct{}, 10)}
	e, events := listening(t, p)
	e.queue <- pcmOf(1500, 0x11)
	if got := <-p.asked; got != engine.Request {
		t.Errorf("the look in the middle has priority %v", got)
	}
	e.queue <- pcmOf(200, 0)
	if got := <-p.asked; got != engine.Speculative { // though the first was never released
		t.Errorf("the guess has priority %v", got)
	}
	p.release <- struct{}{}
	for e := range events {
		if o, ok := e.(Overheard); ok {
			t.Errorf("overheard %q", o.Words.Text)
		}
		if g, ok := e.(Guessed); ok {
			if strings.TrimSpace(g.Words.Text) != "word" {
				t.Errorf("guessed %q", g.Words.Text)
			}
			return
		}
	}
}

// An ear that needs long looks less often: never more than an eighth of the
// time.
func TestSlowEarLooksLessOften(t *testing.T) {
	p := patientEar{make(chan engine.Priority, 10), make(chan struct{}, 10)}
	e, events := listening(t, p)
	e.queue <- pcmOf(1200, 0x11)
	<-p.asked
	time.Sleep(250 * time.Millisecond) // eight times that is 2 s
	p.release <- struct{}{}
	for _, ok := (<-events).(Overheard); !ok; _, ok = (<-events).(Overheard) {
	}
	e.queue <- pcmOf(1500, 0x11)
	time.Sleep(50 * time.Millisecond)
	if len(p.asked) > 0 {
		t.Error("it looked again after 1.5 s")
	}
	e.queue <- pcmOf(1000, 0x11)
	<-p.asked
	p.release <- struct{}{}
}
