package ear

import (
	"context"
	"strings"
	"testing"

	"parley/appliance/chat/turn"
	"parley/appliance/engine"
	"parley/appliance/engine/enginetest"
)

// lingeringDetector is a detector that reports a voice for this many frames after its end.
func lingeringDetector(frames int) enginetest.Detector {
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

// request holds the length of the sound and the speculative tokens of one transcription.
type request struct {
	ms     int
	tokens engine.TranscriptTokens
}

// recordingTranscriber records its requests. The only token of a transcript is the length of the sound in ms.
type recordingTranscriber struct {
	patientEar
	requests chan request
}

func (r recordingTranscriber) Transcribe(
	ctx context.Context, pcm []float32, o engine.TranscribeOptions,
) (engine.Transcript, error) {
	ms := len(pcm) * 1000 / engine.SpeechRateHz
	r.requests <- request{ms, o.SpeculativeTokens}
	t, err := r.patientEar.Transcribe(ctx, pcm, o)
	t.Tokens = engine.TranscriptTokens{int64(ms)}
	return t, err
}

// uncertainEar returns an ear whose detector reports a voice for 4 frames after its end.
func uncertainEar(t *testing.T) (*Ear, recordingTranscriber, chan turn.Event) {
	p := patientEar{make(chan engine.Priority, 100), make(chan struct{}, 100)}
	transcriber := recordingTranscriber{p, make(chan request, 100)}
	e, events, _ := listening(t, p, func(e *Ear) {
		e.Transcriber = transcriber
		e.interim.next = 1 << 40 // no interim transcriptions
		e.segmenter = engine.NewSegmenter(echoFilter{lingeringDetector(4), &e.echo}, segmentOptions(e.settings))
	})
	return e, transcriber, events
}

// nextEvent returns the next event about transcripts and pauses.
func nextEvent(events chan turn.Event) turn.Event {
	for {
		switch e := (<-events).(type) {
		case turn.VoicePaused, turn.Transcribed, turn.PartlyTranscribed, turn.VoiceResumed:
			return e
		}
	}
}

// The transcript of a pause is requested once, when the sound becomes quiet, at least 128 ms before the detector
// is certain of the pause. The transcript is posted when the detector is certain.
func TestTranscriptionBeginsBeforeThePauseIsCertain(t *testing.T) {
	for _, known := range []bool{true, false} {
		e, transcriber, events := uncertainEar(t)
		e.queue <- pcmOf(1600, 0.1)
		e.queue <- pcmOf(64, 0)
		if r := <-transcriber.requests; r.ms != 1664 {
			t.Errorf("%d ms are transcribed, want 1600 of voice and 64 of silence", r.ms)
		}
		if known {
			transcriber.release <- struct{}{}
		}
		e.queue <- pcmOf(320, 0)
		p, ok := nextEvent(events).(turn.VoicePaused)
		if !ok || p.Revision != 1 {
			t.Fatalf("the first event is %+v, want VoicePaused of revision 1", p)
		}
		transcriber.release <- struct{}{}
		if g, ok := nextEvent(events).(turn.Transcribed); !ok || g.Revision != 1 ||
			strings.TrimSpace(g.Transcript.Text) != "word" ||
			g.Transcript.End != p.End {
			t.Errorf("the pause at %v is followed by %+v", p.End, g)
		}
		if len(transcriber.requests) > 0 {
			t.Errorf("the pause requests a second transcript, of %d ms", (<-transcriber.requests).ms)
		}
	}
}

// When a soft voice continues, the early transcription becomes an interim one, and the later pause has the
// transcript of the whole voice.
func TestAVoiceThatContinuesLosesNoWord(t *testing.T) {
	for _, known := range []bool{true, false} {
		e, transcriber, events := uncertainEar(t)
		e.queue <- pcmOf(1600, 0.1)
		e.queue <- pcmOf(64, 0)
		<-transcriber.requests
		if known {
			transcriber.release <- struct{}{}
		}
		e.queue <- pcmOf(64, 0)
		e.queue <- pcmOf(1600, 0.1) // the detector has heard voice all the time
		if !known {
			transcriber.release <- struct{}{}
		}
		if o, ok := nextEvent(events).(turn.PartlyTranscribed); !ok || strings.TrimSpace(o.Transcript.Text) != "word" {
			t.Errorf("the early transcript is posted as %+v, want PartlyTranscribed", o)
		}
		e.queue <- pcmOf(400, 0)
		r := <-transcriber.requests
		for r.ms < 3264 { // another interim transcription, which yields
			r = <-transcriber.requests
		}
		if r.ms < 3328 || len(r.tokens) != 1 || r.tokens[0] != 1664 {
			t.Errorf("%d ms are transcribed with the tokens %v, want 3328 ms with those of the first 1664 ms",
				r.ms, r.tokens)
		}
		p, ok := nextEvent(events).(turn.VoicePaused)
		if !ok {
			t.Fatal("no VoicePaused event")
		}
		transcriber.release <- struct{}{}
		if g, ok := nextEvent(events).(turn.Transcribed); !ok || g.Revision != p.Revision ||
			len(strings.Fields(g.Transcript.Text)) != 3 {
			t.Errorf("the transcript of pause %d is %+v", p.Revision, g)
		}
	}
}

// An early transcription that became an interim one yields to the transcription of the pause.
func TestAnUnneededEarlyTranscriptionYields(t *testing.T) {
	e, transcriber, events := uncertainEar(t)
	e.queue <- pcmOf(1600, 0.1)
	e.queue <- pcmOf(64, 0)
	<-transcriber.requests
	e.queue <- pcmOf(1600, 0.1)
	e.queue <- pcmOf(400, 0)
	<-transcriber.requests // although the first was never released
	transcriber.release <- struct{}{}
	for {
		switch x := nextEvent(events).(type) {
		case turn.PartlyTranscribed:
			t.Errorf("an interim transcript was posted: %q", x.Transcript.Text)
		case turn.Transcribed:
			if len(strings.Fields(x.Transcript.Text)) != 3 {
				t.Errorf("the transcript is %q, want 3 words", x.Transcript.Text)
			}
			return
		}
	}
}
