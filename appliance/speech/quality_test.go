package speech

import (
	"context"
	"log/slog"
	"testing"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/enginetest"
	"parley/appliance/text"
)

// A transcript that differs only in notation, or in spellings that cannot be known, is not an
// error.
func TestOtherNotationIsNotAnError(t *testing.T) {
	lexicon, err := text.NewLexicon(map[string]string{"MoMA": "the museum of modern art", "Nguyen Van Tho": "/wɪn/",
		"ZKM": "tsent-room foor koonst"})
	if err != nil {
		t.Fatal(err)
	}
	o := text.Options{Language: "en-US", Locale: "en-GB", Lexicon: lexicon}
	for _, row := range []struct {
		said, heard string
		wrong       int
	}{
		{"It opens at ten.", "It opens at ten.", 0},
		{"It opens at ten.", "It hopes a ten.", 2},
		{"It opens at ten.", "", 4},
		{"3/4/2026", "The third of April, twenty twenty six.", 0},
		{"Call 020 7946 0958.", "Call 020-7946-0958.", 0},
		{"It costs £3.50.", "It costs £3.50.", 0},
		{"It is three pounds and fifty pence.", "It is £3.50.", 0},
		{"www.example.com/visit", "www.example.com/visit", 0},
		{"www.example.com/visit", "mumble", 9},
		{"MoMA opens.", "The museum of modern art opens.", 0},
		{"MoMA opens.", "The museum of modern opens.", 1},
		{"Nguyen Van Tho opens it.", "When opens it?", 0},
		{"Nguyen Van Tho opens it.", "We in hope sit.", 2},
		{"Nguyen Van Tho.", "When?", 0},
		{"Nguyen Van Tho.", "", 0},
		{"The ZKM opens.", "The cent room for cost opens.", 0},
		{"", "you", 1},
	} {
		if wrong, of := transcriptErrors(row.said, row.heard, o); wrong != row.wrong {
			t.Errorf("%q heard as %q: %d of %d words are wrong, want %d", row.said, row.heard, wrong, of, row.wrong)
		}
	}
}

// A name with phonemes in the lexicon is not synthesised again because its transcript is spelt
// differently.
func TestLexiconNamesAreNotRetried(t *testing.T) {
	lexicon, err := text.NewLexicon(map[string]string{"Nguyen Van Tho": "/mʌmbəl/"})
	if err != nil {
		t.Fatal(err)
	}
	var all []engine.SpeakOptions
	s := New(Parts{
		Voices:        only{Voice{Language: "en", Synthesizer: attentive(metronome{0.1, 1}, &all)}},
		Ear:           Ear{Transcriber: deaf},
		Log:           slog.New(slog.DiscardHandler),
		Pronunciation: func(context.Context, string) text.Options { return text.Options{Lexicon: lexicon} },
	})
	careful := false
	job, err := s.Begin(t.Context(), Request{Account: "a", PostedTTS: contract.PostedTTS{
		Utterances: []contract.PostedUtterance{
			{Text: "Nguyen Van Tho.", Voice: &contract.VoiceRef{Name: "a"}, Speed: 1}},
		Format:         &contract.Format{Type: contract.FormatPCM},
		NumGenerations: 1,
		InstantMode:    &careful,
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer job.Close()
	if _, err := job.WholeFile(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("the snippet is synthesised %d times, %v; want once", len(all), err)
	}
}

// deaf is a transcriber that understands nothing.
var deaf = enginetest.FixedTranscript("mumble")

// If a snippet is synthesised again, the same request still gives the same sound: the seed of
// the second attempt depends on the text.
func TestSecondAttemptIsDeterministic(t *testing.T) {
	asked := func(temperature *float64) (seeds []int64) {
		var all []engine.SpeakOptions
		s := New(Parts{
			Voices: only{Voice{Language: "en", Synthesizer: attentive(metronome{0.1, 1}, &all)}},
			Ear:    Ear{Transcriber: deaf}, Log: slog.New(slog.DiscardHandler),
		})
		careful := false
		job, err := s.Begin(t.Context(), Request{Account: "a", PostedTTS: contract.PostedTTS{
			Utterances: []contract.PostedUtterance{
				{Text: "The museum opens at ten. The garden opens at noon.", Voice: &contract.VoiceRef{Name: "a"},
					Speed: 1}},
			Format:         &contract.Format{Type: contract.FormatPCM},
			NumGenerations: 1,
			InstantMode:    &careful,
			Temperature:    temperature,
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
