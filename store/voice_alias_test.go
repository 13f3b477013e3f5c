package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
)

func TestVoiceAliasesBelongToTheBox(t *testing.T) {
	s, ctx := openStore(t, t.TempDir()), t.Context()
	a := newAccount(t, s, "a")
	must(t, s.SaveVoice(ctx, a, Voice{ID: "v-1", Name: "Old sailor", Recipe: `{}`}))
	must(t, s.SetVoiceAlias(ctx, VoiceAlias{"Zara", "voice-joe"}))
	must(t, s.SetVoiceAlias(ctx, VoiceAlias{"Gazza", "voice-joe"}))
	must(t, s.SetVoiceAlias(ctx, VoiceAlias{"gazza ", "Old sailor"}))
	all, err := s.VoiceAliases(ctx)
	if want := []VoiceAlias{{"gazza ", "Old sailor"}, {"Zara", "voice-joe"}}; err != nil || !slices.Equal(all, want) {
		t.Errorf("%v, %v", all, err)
	}
	if one, err := s.VoiceAlias(ctx, " GAZZA"); one.Voice != "Old sailor" || err != nil {
		t.Errorf("%v, %v", one, err)
	}
	must(t, s.DeleteVoiceAlias(ctx, "GAZZA"))
	_, missing := s.VoiceAlias(ctx, "gazza")
	for _, err := range []error{missing, s.DeleteVoiceAlias(ctx, "gazza")} {
		if !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
	}
	for name, want := range map[string]string{"OLD sailor": "v-1", "v-1": "v-1", "Zara": ""} {
		if v, err := s.SavedVoiceNamed(ctx, name); v.ID != want || want == "" && !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
}

func TestVoiceAliasesAreBounded(t *testing.T) {
	s, ctx := openStore(t, t.TempDir()), t.Context()
	must(t, s.change(ctx, "filling", func(ctx context.Context, c conn) error {
		for i := range MaxVoiceAliases {
			if _, err := c.ExecContext(ctx,
				`INSERT INTO voice_alias (folded, name, voice) VALUES (?1, ?1, 'voice-joe')`,
				fmt.Sprint(i)); err != nil {
				return err
			}
		}
		return nil
	}))
	if err := s.SetVoiceAlias(ctx, VoiceAlias{"one more", "voice-joe"}); !errors.Is(err, ErrConflict) {
		t.Error(err)
	}
	must(t, s.SetVoiceAlias(ctx, VoiceAlias{"7", "voice-jenny"}))
}
