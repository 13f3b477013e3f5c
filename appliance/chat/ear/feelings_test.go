package ear

import (
	"sync"
	"testing"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// attentive records the sound of one utterance.
type attentive struct {
	mu     sync.Mutex
	heard  []float32
	paused int // samples, at the newest pause
}

func (a *attentive) Hear(pcm []float32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.heard = append(a.heard, pcm...)
}

func (a *attentive) Pause() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.paused = len(a.heard)
}

func (a *attentive) Express(text, _ string) (contract.EmotionScores, string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return contract.EmotionScores{float64(a.paused) / engine.SpeechRateHz}, "tired"
}

// feelingEar returns an ear that measures feelings, and the scorers that it made.
func feelingEar(t *testing.T, tell bool, more ...func(*Ear)) (e *Ear, n patientEar, events chan turn.Event,
	voices func() []*attentive) {
	var mu sync.Mutex
	var made []*attentive
	n = patientEar{make(chan engine.Priority, 100), make(chan struct{}, 100)}
	e, events, _ = listening(t, n, func(e *Ear) {
		e.interim.next = 1 << 40 // no interim transcriptions
		e.NewVoice = func() UtteranceScorer {
			mu.Lock()
			defer mu.Unlock()
			made = append(made, &attentive{})
			return made[len(made)-1]
		}
		e.TellFeelings = tell
		for _, change := range more {
			change(e)
		}
	})
	return e, n, events, func() []*attentive {
		mu.Lock()
		defer mu.Unlock()
		return made
	}
}

// ramp returns this many ms of voice whose samples count up from a number.
func ramp(ms, from int) incoming {
	in := pcmOf(ms, 0.1)
	for i := range in.pcm {
		in.pcm[i] = float32(from+i+1) * 1e-6
	}
	return in
}

// A voice is measured as it comes, each sample once and in order, including the sound before the detector was
// certain. The rest is measured at the pause, before its transcript comes.
func TestAVoiceIsMeasuredWhileItComes(t *testing.T) {
	for _, tell := range []bool{true, false} {
		e, n, events, voices := feelingEar(t, tell)
		e.queue <- ramp(1600, 0)
		e.queue <- pcmOf(320, 0)
		n.release <- struct{}{}
		for {
			g, ok := nextEvent(events).(turn.Transcribed)
			if !ok {
				continue
			}
			if g.Transcript.Scores == nil || g.Transcript.Scores[0] < 1.6 || g.Transcript.Scores[0] > 2 {
				t.Fatalf("the words have the scores %v", g.Transcript.Scores)
			}
			if want := map[bool]string{true: "tired", false: ""}[tell]; g.Transcript.Feelings != want {
				t.Errorf("the feelings are %q, want %q", g.Transcript.Feelings, want)
			}
			break
		}
		all := voices()
		if len(all) != 1 {
			t.Fatalf("%d voices for one utterance", len(all))
		}
		all[0].mu.Lock()
		defer all[0].mu.Unlock()
		for i, v := range all[0].heard[:1600*engine.SpeechRateHz/1000] {
			if want := float32(i+1) * 1e-6; v != want {
				t.Fatalf("sample %d is %g, want %g: something is missing, or came twice", i, v, want)
			}
		}
	}
}

// Each utterance has its own scorer, even one of many parts.
func TestEachUtteranceHasItsOwnScorer(t *testing.T) {
	e, n, events, voices := feelingEar(t, true)
	for range 10 {
		n.release <- struct{}{}
	}
	e.queue <- ramp(6000, 0)
	e.queue <- pcmOf(320, 0) // a part ends here
	e.queue <- ramp(1600, 100_000)
	e.queue <- pcmOf(1600, 0)
	e.queue <- ramp(3200, 200_000)
	e.queue <- pcmOf(320, 0)
	var last turn.Transcribed
	for last.Utterance != 2 {
		if g, ok := nextEvent(events).(turn.Transcribed); ok {
			last = g
		}
	}
	all := voices()
	if len(all) != 2 {
		t.Fatalf("%d voices for two utterances", len(all))
	}
	for i, least := range []float64{7.9, 3.2} {
		all[i].mu.Lock()
		// and the silence after it
		if seconds := float64(len(all[i].heard)) / engine.SpeechRateHz; seconds < least || seconds > least+2 {
			t.Errorf("of utterance %d %.2f s were measured, want at least %.2f", i+1, seconds, least)
		}
		all[i].mu.Unlock()
	}
}

// A voice is judged while it goes on, so that a machine that is late at the pause has an earlier judgement.
func TestAVoiceIsJudgedWhileItGoesOn(t *testing.T) {
	e, n, events, voices := feelingEar(t, false, func(e *Ear) { e.interim.next = 0 })
	n.release <- struct{}{}
	e.queue <- ramp(3200, 0)
	for {
		if _, ok := nextEvent(events).(turn.PartlyTranscribed); ok {
			break
		}
	}
	v := voices()[0]
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.paused < engine.SpeechRateHz/2 {
		t.Errorf("%d samples are judged in the middle of 3 s", v.paused)
	}
}
