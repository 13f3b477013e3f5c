package speech

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"parley/appliance/contract"
	"parley/appliance/engine"
)

// illiterate is a voice that cannot say Chinese, and reports it before it speaks.
type illiterate struct{ metronome }

func (illiterate) CanSay(text string, _ engine.SpeakOptions) error {
	if strings.Contains(text, "王") {
		return engine.ErrCannotSay{
			Writing:  "王",
			Script:   "Han",
			Language: "en-US",
			Rest:     "Mr.",
		}
	}
	return nil
}

// only is a library of one voice.
type only struct{ voice Voice }

func (o only) Find(context.Context, string, contract.VoiceRef, string) (Voice, error) {
	return o.voice, nil
}
func (o only) Design(context.Context, string, int, int64) (Voice, error) { return o.voice, nil }
func (o only) FromRecipe(context.Context, json.RawMessage, string) (Voice, error) {
	return o.voice, nil
}

func TestUnspeakableTextIsRefusedBeforeAnySound(t *testing.T) {
	s := New(Parts{Voices: only{Voice{Synthesizer: illiterate{metronome{0.5, 2}}}}, Log: slog.New(slog.DiscardHandler)})
	ref := &contract.VoiceRef{Name: "a"}
	instant := true
	_, err := s.Begin(t.Context(), Request{Account: "a", PostedTTS: contract.PostedTTS{
		Utterances: []contract.PostedUtterance{{Text: "Good morning.", Voice: ref, Speed: 1},
			{Text: "Mr. 王.", Voice: ref, Speed: 1}},
		Format:         &contract.Format{Type: contract.FormatPCM},
		NumGenerations: 1,
		InstantMode:    &instant,
	}})
	var invalid contract.ErrInvalid
	if !errors.As(err, &invalid) || invalid.Field != "utterances[1].text" || !strings.Contains(invalid.Why, "王") {
		t.Errorf("%v", err)
	}
}

// none is a library without voices.
type none struct{ only }

func (none) Find(_ context.Context, _ string, ref contract.VoiceRef, _ string) (Voice, error) {
	return Voice{}, contract.ErrNotFound{What: "voice", ID: ref.Name}
}

// Of a hundred utterances, the error names the one whose voice does not exist.
func TestMissingVoiceErrorNamesItsField(t *testing.T) {
	known := only{Voice{Synthesizer: metronome{0.5, 2}}}
	ref, instant := &contract.VoiceRef{Name: "nobody"}, true
	for field, asked := range map[string]contract.PostedTTS{
		"utterances[0].voice: ": {Utterances: []contract.PostedUtterance{{Text: "Hi.", Voice: ref, Speed: 1},
			{Text: "Ho.", Speed: 1}}},
		"context.utterances[1].voice: ": {Utterances: []contract.PostedUtterance{{Text: "Hi.", Speed: 1}},
			Context: &contract.PostedTTSContext{
				Utterances: []contract.PostedUtterance{{Text: "Well."}, {Text: "Now.", Voice: ref}}}},
	} {
		asked.Format, asked.NumGenerations, asked.InstantMode = &contract.Format{Type: contract.FormatPCM}, 1, &instant
		_, err := New(Parts{Voices: none{known}, Log: slog.New(slog.DiscardHandler)}).Begin(t.Context(),
			Request{Account: "a", PostedTTS: asked})
		if _, ok := errors.AsType[contract.ErrNotFound](err); !ok || !strings.HasPrefix(err.Error(), field) {
			t.Errorf("%s%v", field, err)
		}
	}
}
