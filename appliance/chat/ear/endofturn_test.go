package ear

import (
	"context"
	"strings"
	"testing"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/engine"
)

// judgeEnds is a turn's end that notes what it is asked.
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

// In each pause it is asked once, within its first 200 ms, whether what was said
// is finished: where the settings want it, and nowhere else is a model loaded.
func TestTurnEndIsAskedOnceInAPause(t *testing.T) {
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
				t.Error("a model that nobody wants was loaded or asked")
			}
			continue
		}
		<-j.loaded
		if pcm := <-j.asked; len(pcm) > 1140*engine.SpeechRateHz/1000 || len(pcm) < engine.SpeechRateHz {
			t.Errorf("it heard %d samples of a second of voice and its pause", len(pcm))
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
			t.Error("it was asked again as the silence grew")
		}
	}
}

// What was said before a pause that closes a part is not heard again at later
// pauses, and none of it is lost: also where it is still being transcribed when
// the user goes on.
func TestWhatIsClosedIsNotTranscribedAgain(t *testing.T) {
	for _, slow := range []bool{false, true} {
		p := patientEar{make(chan engine.Priority, 100), make(chan struct{}, 100)}
		lengths := make(chan int, 100)
		e, events, _ := listening(t, p, func(e *Ear) {
			e.Transcriber = p.noting(func(pcm []float32, _ engine.TranscribeOptions) { lengths <- len(pcm) })
			e.interim.next = 1 << 40 // no looks in the middle
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

// The words that are being transcribed when the turn is over are waited for from
// then on: they are promoted where they stand.
func TestGuessIsPromotedWhenItsTurnIsOver(t *testing.T) {
	p := patientEar{make(chan engine.Priority, 100), make(chan struct{}, 100)}
	urgencies := make(chan *engine.Urgency, 100)
	e, _, conversation := listening(t, p, func(e *Ear) {
		e.Transcriber = p.noting(func(_ []float32, o engine.TranscribeOptions) { urgencies <- o.Urgency })
		e.interim.next = 1 << 40 // no looks in the middle
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
