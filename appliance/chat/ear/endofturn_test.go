package ear

import (
	"context"
	"strings"
	"testing"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/engine"
)

// judge is a TurnEnd that records its questions.
type judge struct {
	loaded chan struct{}
	asked  chan []float32
}

func (j judge) Load(context.Context) { j.loaded <- struct{}{} }
func (j judge) Probability(_ context.Context, pcm []float32, u *engine.Urgency) (float64, error) {
	if u.Get().Priority < engine.Speculative {
		return 0, context.Canceled
	}
	j.asked <- pcm
	return 0.75, nil
}

// At each pause the ear asks the TurnEnd once, within the first 200 ms, if the settings are Semantic.
// Otherwise it loads no model.
func TestTheTurnEndIsAskedOnceInAPause(t *testing.T) {
	for _, semantic := range []bool{false, true} {
		p := patientEar{make(chan engine.Priority, 100), make(chan struct{}, 100)}
		close(p.release)
		j := judge{make(chan struct{}, 10), make(chan []float32, 10)}
		e, events, _ := listening(t, p, func(e *Ear) {
			e.TurnEnd = j
			e.settings.Semantic = semantic
		})
		e.queue <- pcmOf(1024, 0x11)
		e.queue <- pcmOf(192, 0)
		if !semantic {
			for _, ok := (<-events).(turn.Transcribed); !ok; _, ok = (<-events).(turn.Transcribed) {
			}
			if len(j.loaded)+len(j.asked) > 0 {
				t.Error("the model was loaded or asked although Semantic is off")
			}
			continue
		}
		<-j.loaded
		if pcm := <-j.asked; len(pcm) > 1140*engine.SpeechRateHz/1000 || len(pcm) < engine.SpeechRateHz {
			t.Errorf("the model received %d samples, want those of a second of voice and its pause", len(pcm))
		}
		for {
			f, ok := (<-events).(turn.EndJudged)
			if ok && (f.Utterance != 1 || f.Revision != 1 || f.Probability != 0.75) {
				t.Errorf("%+v", f)
			}
			if ok {
				break
			}
		}
		e.queue <- pcmOf(400, 0)
		time.Sleep(50 * time.Millisecond)
		if len(j.asked) > 0 {
			t.Error("the model was asked again as the silence grew")
		}
	}
}

// A closed part is not transcribed again at later pauses, and no word of it is lost, even if its
// transcription still runs when the user continues.
func TestAClosedPartIsNotTranscribedAgain(t *testing.T) {
	for _, slow := range []bool{false, true} {
		p := patientEar{make(chan engine.Priority, 100), make(chan struct{}, 100)}
		lengths := make(chan int, 100)
		e, events, _ := listening(t, p, func(e *Ear) {
			e.Transcriber = p.observed(func(pcm []float32, _ engine.TranscribeOptions) { lengths <- len(pcm) })
			e.interim.next = 1 << 40 // no interim transcriptions
		})
		if !slow {
			close(p.release)
		}
		next := func() turn.Transcribed {
			for {
				if g, ok := (<-events).(turn.Transcribed); ok {
					return g
				}
			}
		}
		e.queue <- pcmOf(6016, 0x11)
		e.queue <- pcmOf(320, 0)
		if !slow {
			next()
		}
		if n := <-lengths; n < 6*engine.SpeechRateHz {
			t.Fatalf("the first pause: %d samples", n)
		}
		e.queue <- pcmOf(2016, 0x11)
		e.queue <- pcmOf(320, 0)
		if slow {
			time.Sleep(50 * time.Millisecond)
			close(p.release)
		}
		g := next()
		if words := len(strings.Fields(g.Transcript.Text)); words != 8 {
			t.Errorf("slow %v: %d words of 8 s", slow, words)
		}
		if n := <-lengths; n > 3*engine.SpeechRateHz {
			t.Errorf("slow %v: the second pause costs %d samples", slow, n)
		}
		if len(lengths) > 0 {
			t.Errorf("slow %v: %d samples more were transcribed", slow, <-lengths)
		}
	}
}

// A transcription under way is promoted when its turn is over, because the user waits for it.
func TestATranscriptionIsPromotedWhenItsTurnIsOver(t *testing.T) {
	p := patientEar{make(chan engine.Priority, 100), make(chan struct{}, 100)}
	urgencies := make(chan *engine.Urgency, 100)
	e, _, conversation := listening(t, p, func(e *Ear) {
		e.Transcriber = p.observed(func(_ []float32, o engine.TranscribeOptions) { urgencies <- o.Urgency })
		e.interim.next = 1 << 40 // no interim transcriptions
	})
	e.queue <- pcmOf(1100, 0x11)
	e.queue <- pcmOf(200, 0)
	u := <-urgencies
	if got := u.Get().Priority; got != engine.Speculative {
		t.Errorf("in the pause: %v", got)
	}
	e.queue <- pcmOf(800, 0)
	for deadline := time.Now().Add(time.Minute); u.Get().Priority != engine.Live; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d turns are over, and the words are %v", conversation.count.Load(), u.Get().Priority)
		}
	}
	p.release <- struct{}{}
}
