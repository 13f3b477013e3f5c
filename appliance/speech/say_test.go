package speech

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"parley/appliance/contract"
	"parley/appliance/engine"
)

// clipped is a voice at another rate than the output, each of whose phonemes ends with the last
// sample of a piece.
type clipped struct{}

func (clipped) RateHz() int { return 22050 }

func (clipped) Speak(_ context.Context, _ string, _ engine.SpeakOptions, emit func(engine.Sound) error) error {
	const piece = 2205
	for i := range 4 {
		p := engine.Phoneme{Symbol: "a", Begin: i * piece, End: (i + 1) * piece}
		if err := emit(engine.Sound{PCM: make([]float32, piece), Phonemes: []engine.Phoneme{p},
			Last: i == 3}); err != nil {
			return err
		}
	}
	return nil
}

// counting counts the pieces that are requested of it.
type counting struct {
	clipped
	made *atomic.Int32
}

func (c counting) Speak(ctx context.Context, text string, o engine.SpeakOptions, emit func(engine.Sound) error) error {
	c.made.Add(1)
	return c.clipped.Speak(ctx, text, o, func(s engine.Sound) error {
		err := emit(s)
		c.made.Add(1)
		return err
	})
}

// For a slow reader, one piece is synthesised in advance, and no more.
func TestPieceIsMadeWhileThePreviousIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made atomic.Int32
		s := New(Parts{Voices: only{Voice{Synthesizer: counting{made: &made}}}, Log: slog.New(slog.DiscardHandler)})
		instant := true
		job, err := s.Begin(t.Context(), Request{Account: "a", PostedTTS: contract.PostedTTS{
			Utterances: []contract.PostedUtterance{
				{Text: "Good morning.", Voice: &contract.VoiceRef{Name: "a"}, Speed: 1}},
			Format:         &contract.Format{Type: contract.FormatPCM},
			NumGenerations: 1,
			StripHeaders:   true,
			InstantMode:    &instant,
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer job.Close()
		first := true
		err = job.Stream(t.Context(), func(contract.TTSMessage) error {
			if synctest.Wait(); first && made.Load() != 2 {
				t.Errorf("%d pieces are made while the first is sent, want 2", made.Load())
			}
			first = false
			return nil
		})
		if err != nil || first {
			t.Errorf("nothing was sent, %v", err)
		}
	})
}

// A phoneme's time is not sent before its sound, even if the resampler holds back the end of
// it.
func TestTimesFollowTheirSound(t *testing.T) {
	s := New(Parts{Voices: only{Voice{Synthesizer: clipped{}}}, Log: slog.New(slog.DiscardHandler)})
	instant := true
	job, err := s.Begin(t.Context(), Request{Account: "a", PostedTTS: contract.PostedTTS{
		Utterances: []contract.PostedUtterance{
			{Text: "Good morning.", Voice: &contract.VoiceRef{Name: "a"}, Speed: 1}},
		Format:                &contract.Format{Type: contract.FormatPCM},
		NumGenerations:        1,
		StripHeaders:          true,
		InstantMode:           &instant,
		IncludeTimestampTypes: []contract.TimestampType{contract.TimestampPhoneme},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer job.Close()
	sent, phonemes, at := 0, 0, int64(0)
	err = job.Stream(t.Context(), func(m contract.TTSMessage) error {
		switch m := m.(type) {
		case contract.SnippetAudioChunk:
			sent += len(m.Audio) / 2
		case contract.TimestampMessage:
			phonemes++
			if end := m.Timestamp.Time.End * contract.OutputRateHz / 1000; end > int64(sent) {
				t.Errorf("received %+v when only %d samples were sent", m.Timestamp, sent)
			}
			if m.Timestamp.Time.Begin < at {
				t.Errorf("received %+v after %d ms", m.Timestamp, at)
			}
			at = m.Timestamp.Time.End
		}
		return nil
	})
	if err != nil || phonemes != 4 {
		t.Errorf("%d of 4 phonemes, %v", phonemes, err)
	}
}
