package engine

import (
	"context"
	"strings"
	"time"
)

// Utterance is a stretch of speech in a recording.
type Utterance struct {
	Begin, End time.Duration
	Text       string
}

// TranscribeRecording transcribes a whole recording (mono, SpeechRateHz). It cuts the recording at
// its silences; parts without voice give no words. Each utterance is passed to found as soon as it
// is transcribed; found may be nil. The returned language is that of the longest utterance.
func TranscribeRecording(ctx context.Context, d VoiceDetector, t Transcriber, pcm []float32,
	so SegmentOptions, to TranscribeOptions, found func(Utterance)) ([]Utterance, string, error) {
	l := recordingTranscriber{transcriber: t, options: to, found: found}
	s := NewSegmenter(d.NewStream(), so)
	var segments []Segment
	frame := make([]float32, FrameSamples)
	for i := 0; i < len(pcm); i += FrameSamples {
		if err := context.Cause(ctx); err != nil {
			return nil, "", err
		}
		n := copy(frame, pcm[i:])
		clear(frame[n:])
		var err error
		if segments, err = s.Push(segments[:0], frame); err != nil {
			return nil, "", err
		}
		if err := l.handle(ctx, segments); err != nil {
			return nil, "", err
		}
	}
	err := l.handle(ctx, s.Finish(nil))
	return l.utterances, l.language, err
}

// recordingTranscriber collects the utterances of one recording.
type recordingTranscriber struct {
	transcriber Transcriber
	options     TranscribeOptions
	found       func(Utterance)

	paused     Segment // the newest Paused segment that is not transcribed yet
	parts      []string
	utterances []Utterance
	language   string
	longest    time.Duration
}

func (r *recordingTranscriber) handle(ctx context.Context, segments []Segment) error {
	for _, s := range segments {
		switch s.Kind {
		case Paused:
			r.paused = s
		case Resumed:
			r.paused = Segment{}
		case PartEnded:
			r.paused = Segment{}
			if err := r.transcribe(ctx, s); err != nil {
				return err
			}
		case Dropped:
			r.paused = Segment{}
		case Ended:
			if err := r.finish(ctx, s); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *recordingTranscriber) finish(ctx context.Context, s Segment) error {
	if r.paused.PCM != nil {
		if err := r.transcribe(ctx, r.paused); err != nil {
			return err
		}
	}
	text := strings.Join(r.parts, " ")
	r.paused, r.parts = Segment{}, nil
	if text == "" {
		return nil
	}
	u := Utterance{Begin: duration(s.Begin), End: duration(s.End), Text: text}
	r.utterances = append(r.utterances, u)
	if r.found != nil {
		r.found(u)
	}
	return nil
}

func (r *recordingTranscriber) transcribe(ctx context.Context, s Segment) error {
	t, err := r.transcriber.Transcribe(ctx, s.PCM, r.options)
	if err != nil {
		return err
	}
	if t.Text == "" {
		return nil
	}
	r.parts = append(r.parts, t.Text)
	if d := duration(s.End - s.Begin); d > r.longest {
		r.longest, r.language = d, t.Language
	}
	return nil
}

func duration(samples int64) time.Duration {
	return time.Duration(samples) * time.Second / SpeechRateHz
}
