package ear

import (
	"context"
	"strings"
	"testing"

	"parley/appliance/chat/turn"
	"parley/appliance/engine"
	"parley/appliance/engine/enginetest"
)

// slowToLetGo is a detector that doubts for so many frames before it lets go.
func slowToLetGo(frames int) enginetest.Detector {
	left := 0
	return func(frame []float32) (float32, error) {
		p, err := enginetest.LevelDetector(0)(frame)
		if left--; p > 0 {
			left = frames
		} else if left >= 0 {
			p = 0.8
		}
		return p, err
	}
}

// request is what a transcriber was asked for.
type request struct {
	ms    int
	draft engine.TranscriptTokens
}

// noting notes what it is asked for, and gives as a draft how many ms it heard.
type noting struct {
	patientEar
	requests chan request
}

func (n noting) Transcribe(ctx context.Context, pcm []float32, o engine.TranscribeOptions) (engine.Transcript, error) {
	ms := len(pcm) * 1000 / engine.SpeechRateHz
	n.requests <- request{ms, o.SpeculativeTokens}
	t, err := n.patientEar.Transcribe(ctx, pcm, o)
	t.Tokens = engine.TranscriptTokens{int64(ms)}
	return t, err
}

func doubting(t *testing.T) (*Ear, noting, chan turn.Event) {
	n := noting{patientEar{make(chan engine.Priority, 100), make(chan struct{}, 100)}, make(chan request, 100)}
	e, events, _ := listening(t, n.patientEar, func(e *Ear) {
		e.Transcriber = n
		e.interim.next = 1 << 40 // no looks in the middle
		e.segmenter = engine.NewSegmenter(echoFilter{slowToLetGo(4), &e.echo}, segmentOptions(e.settings))
	})
	return e, n, events
}

// told is the next event of those that tell of words and pauses.
func told(events chan turn.Event) turn.Event {
	for {
		switch e := (<-events).(type) {
		case turn.VoicePaused, turn.Transcribed, turn.PartlyTranscribed, turn.VoiceResumed:
			return e
		}
	}
}

// The words of a pause are asked for when it is quiet, 128 ms and more before the
// detector is sure, once; and they are told when it is.
func TestWordsAreAskedForBeforeThePauseIsSure(t *testing.T) {
	for _, known := range []bool{true, false} {
		e, n, events := doubting(t)
		e.queue <- pcmOf(1600, 0.1)
		e.queue <- pcmOf(64, 0)
		if r := <-n.requests; r.ms != 1664 {
			t.Errorf("%d ms are transcribed of 1600 and 64 of silence", r.ms)
		}
		if known {
			n.release <- struct{}{}
		}
		e.queue <- pcmOf(320, 0)
		p, ok := told(events).(turn.VoicePaused)
		if !ok || p.Revision != 1 {
			t.Fatalf("first comes %+v", p)
		}
		n.release <- struct{}{}
		if g, ok := told(events).(turn.Transcribed); !ok || g.Revision != 1 ||
			strings.TrimSpace(g.Transcript.Text) != "word" ||
			g.Transcript.End != p.End {
			t.Errorf("after a pause from %v on comes %+v", p.End, g)
		}
		if len(n.requests) > 0 {
			t.Errorf("the pause asks once more, of %d ms", (<-n.requests).ms)
		}
	}
}

// Who was only soft goes on: what was asked for early is then what was said so
// far, and the pause has the words of the whole voice.
func TestVoiceThatGoesOnLosesNoWord(t *testing.T) {
	for _, known := range []bool{true, false} {
		e, n, events := doubting(t)
		e.queue <- pcmOf(1600, 0.1)
		e.queue <- pcmOf(64, 0)
		<-n.requests
		if known {
			n.release <- struct{}{}
		}
		e.queue <- pcmOf(64, 0)
		e.queue <- pcmOf(1600, 0.1) // the detector has heard voice all the time
		if !known {
			n.release <- struct{}{}
		}
		if o, ok := told(events).(turn.PartlyTranscribed); !ok || strings.TrimSpace(o.Transcript.Text) != "word" {
			t.Errorf("what was asked for early is told as %+v", o)
		}
		e.queue <- pcmOf(400, 0)
		r := <-n.requests
		for r.ms < 3264 { // another look in the middle, which gives way
			r = <-n.requests
		}
		if r.ms < 3328 || len(r.draft) != 1 || r.draft[0] != 1664 {
			t.Errorf("of 3328 ms of voice %d are transcribed, with the draft %v of 1664 ms", r.ms, r.draft)
		}
		p, ok := told(events).(turn.VoicePaused)
		if !ok {
			t.Fatal("no pause is told")
		}
		n.release <- struct{}{}
		if g, ok := told(events).(turn.Transcribed); !ok || g.Revision != p.Revision ||
			len(strings.Fields(g.Transcript.Text)) != 3 {
			t.Errorf("the pause of revision %d has %+v", p.Revision, g)
		}
	}
}

// A guess that has become a look in the middle gives way as one.
func TestGuessForNothingGivesWay(t *testing.T) {
	e, n, events := doubting(t)
	e.queue <- pcmOf(1600, 0.1)
	e.queue <- pcmOf(64, 0)
	<-n.requests
	e.queue <- pcmOf(1600, 0.1)
	e.queue <- pcmOf(400, 0)
	<-n.requests // though the first was never released
	n.release <- struct{}{}
	for {
		switch x := told(events).(type) {
		case turn.PartlyTranscribed:
			t.Errorf("overheard %q", x.Transcript.Text)
		case turn.Transcribed:
			if len(strings.Fields(x.Transcript.Text)) != 3 {
				t.Errorf("guessed %q", x.Transcript.Text)
			}
			return
		}
	}
}
