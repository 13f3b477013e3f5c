package speech

import (
	"context"
	"log/slog"
	"testing"

	"parley/appliance/contract"
	"parley/appliance/engine"
)

// deaf is an ear that understands nothing of what it hears.
type deaf struct{}

func (deaf) Transcribe(context.Context, []float32, engine.TranscribeOptions) (engine.Transcript, error) {
	return engine.Transcript{Text: "mumble"}, nil
}

// Where the ear has a snippet made once more, the same request sounds the same all
// the same: the second try is left to a chance that comes from the text.
func TestASecondTryIsTheSameForTheSameRequest(t *testing.T) {
	asked := func(temperature *float64) (seeds []int64) {
		var all []engine.SpeakOptions
		s := New(Parts{
			Voices: only{Voice{Language: "en", Speaks: attentive{metronome{0.1, 1}, &all}}}, Ear: Ear{Transcriber: deaf{}}, Log: slog.New(slog.DiscardHandler),
		})
		careful := false
		job, err := s.Begin(t.Context(), Asked{Account: "a", PostedTTS: contract.PostedTTS{
			Utterances: []contract.PostedUtterance{{Text: "The museum opens at ten. The garden opens at noon.", Voice: &contract.VoiceRef{Name: "a"}, Speed: 1}},
			Format:     &contract.Format{Type: contract.FormatPCM}, NumGenerations: 1, InstantMode: &careful, Temperature: temperature,
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer job.Close()
		if _, err := job.WholeFile(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, o := range all {
			if second := i%2 == 1; second {
				if o.Temperature == 0 {
					t.Errorf("try %d leaves nothing to chance, and sounds like the one before", i)
				}
				seeds = append(seeds, o.Seed)
			}
		}
		if len(seeds) != 2 || seeds[0] == seeds[1] {
			t.Fatalf("the seeds of second tries are %v, want two", seeds)
		}
		return seeds
	}
	if first, again := asked(nil), asked(nil); first[0] != again[0] || first[1] != again[1] {
		t.Errorf("second tries have the seeds %v, and %v in the same request", first, again)
	}
	warm := 0.5
	if first, again := asked(&warm), asked(&warm); first[0] == again[0] {
		t.Errorf("with a temperature the seeds are %v each time", first)
	}
}
