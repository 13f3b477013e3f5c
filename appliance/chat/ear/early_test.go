package ear

import (
	"context"
	"strings"
	"testing"

	"parley/appliance/chat/turn"
	"parley/appliance/engine"
	"parley/appliance/engine/enginetest"
)

// slowToLetGo is a detector that takes this many frames to let go of a voice.
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

// noting is a transcriber that records its requests. Its transcript holds how many ms it heard.
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
		e.interim.next = 1 << 40 // no interim transcriptions
		e.segmenter = engine.NewSegmenter(echoFilter{slowToLetGo(4), &e.echo}, segmentOptions(e.settings))
	})
	return e, n, events
}

// told returns the next event about transcripts and pauses.
func told(events chan turn.Event) turn.Event {
	for {
		switch e := (<-events).(type) {
		case turn.VoicePaused, turn.Transcribed, turn.PartlyTranscribed, turn.VoiceResumed:
			return e
		}
	}
}

// The transcript of a pause is asked for once, when it becomes quiet, at least 128 ms before the detector is
// certain. It is posted when the detector is.
func TestTranscriptionBeginsBeforeThePauseIsCertain(t *testing.T) {
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

// A voice that was only soft goes on: the early transcription becomes an interim one, and the pause has the
// transcript of the whole voice.
func TestAVoiceThatGoesOnLosesNoWord(t *testing.T) {
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
		for r.ms < 3264 { // another interim transcription, which gives way
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

// An early transcription that became an interim one gives way like one.
func TestAnUnneededEarlyTranscriptionGivesWay(t *testing.T) {
	e, n, events := doubting(t)
	e.queue <- pcmOf(1600, 0.1)
	e.queue <- pcmOf(64, 0)
	<-n.requests
	e.queue <- pcmOf(1600, 0.1)
	e.queue <- pcmOf(400, 0)
	<-n.requests // although the first was never released
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
