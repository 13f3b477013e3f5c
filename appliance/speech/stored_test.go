package speech

import (
	"context"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/text"
	"parley/store"
)

// memoryStore keeps generations in memory.
type memoryStore map[string]store.Generation

func (s memoryStore) AddGenerations(_ context.Context, _ string, _ int, made ...store.Generation) error {
	for _, g := range made {
		s[g.ID] = g
	}
	return nil
}

func (s memoryStore) ChangeGeneration(ctx context.Context, account string, g store.Generation) error {
	return s.AddGenerations(ctx, account, 0, g)
}

func (s memoryStore) Generation(_ context.Context, _, id string) (store.Generation, error) {
	g, there := s[id]
	if !there {
		return g, store.ErrNotFound
	}
	return g, nil
}

// attentive records the options that a voice is given.
func attentive(m metronome, asked *[]engine.SpeakOptions) engine.Synthesizer {
	return m.noting(func(_ string, o engine.SpeakOptions) {
		o.Urgency = nil
		*asked = append(*asked, o)
	})
}

// A generation that is synthesised again is pronounced as before, whatever the lexicon and the
// locale are now.
func TestRegenerateKeepsThePronunciation(t *testing.T) {
	lexicon, err := text.NewLexicon(map[string]string{"Joaquín": "hwah-KEEN", "IT": "eye tee", "unused": "never"})
	if err != nil {
		t.Fatal(err)
	}
	now := text.Options{Locale: "en-GB", Lexicon: lexicon}
	var asked []engine.SpeakOptions
	records := memoryStore{}
	voice := Voice{Recipe: []byte(`{}`), Synthesizer: attentive(metronome{0.5, 2}, &asked)}
	s := New(Parts{
		Voices:        only{voice},
		Records:       records,
		Retention:     Retention{Newest: 10, Texts: true},
		Log:           slog.New(slog.DiscardHandler),
		Pronunciation: func(context.Context, string) text.Options { return now },
	})
	speak := func(j *Job, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		if _, err := j.WholeFile(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	instant := true
	speak(s.Begin(t.Context(), Request{Account: "a", PostedTTS: contract.PostedTTS{
		Utterances: []contract.PostedUtterance{
			{Text: "Joaquín's IT opens on 3/4. It is unusual.", Voice: &contract.VoiceRef{Name: "a"}, Speed: 1}},
		Format:         &contract.Format{Type: contract.FormatPCM},
		NumGenerations: 1,
		InstantMode:    &instant,
	}}))
	first := asked
	asked = nil
	now = text.Options{Locale: "en-US"}
	for id := range records {
		if strings.Contains(records[id].Body, "never") {
			t.Errorf("entries are stored that the text does not use: %s", records[id].Body)
		}
		speak(s.Regenerate(t.Context(), "a", id, contract.FormatPCM))
	}
	if len(first) == 0 || len(asked) != len(first) {
		t.Fatalf("spoken in %d and %d parts", len(first), len(asked))
	}
	const said = "Joaquín's IT opens on 3/4. It is unusual."
	for i := range first {
		verbalized := func(o engine.SpeakOptions) string {
			return text.Verbalize(said, text.Options{Language: "en-US", Locale: o.Locale, Lexicon: o.Lexicon})
		}
		before, again := verbalized(first[i]), verbalized(asked[i])
		first[i].Lexicon, asked[i].Lexicon = nil, nil
		if before != again || !reflect.DeepEqual(first[i], asked[i]) {
			t.Errorf("part %d is read as %q %+v, was %q %+v", i, again, asked[i], before, first[i])
		}
	}
}

func TestRegenerateErrorSaysWhy(t *testing.T) {
	records := memoryStore{"converted": {ID: "converted", Body: `{"voices":[{}],"converted":true}`},
		"secret": {ID: "secret", Body: `{"voices":[{}]}`}}
	s := New(Parts{Voices: only{}, Records: records, Log: slog.New(slog.DiscardHandler)})
	for id, want := range map[string]string{"converted": "recording", "secret": "retention.keep",
		"none": "no generation"} {
		if _, err := s.Regenerate(t.Context(), "a", id, contract.FormatPCM); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", id, err)
		}
	}
}
