package store

import (
	"errors"
	"slices"
	"testing"
)

func TestVoicesBelongToTheirAccount(t *testing.T) {
	s, ctx := openStore(t, t.TempDir()), t.Context()
	a, b := newAccount(t, s, "a"), newAccount(t, s, "b")
	for _, v := range []Voice{{ID: "1", Name: "Keeper of the Tower", Recipe: `{"parts":[]}`},
		{ID: "2", Name: "Guide", Recipe: `{}`}} {
		if err := s.SaveVoice(ctx, a, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SaveVoice(ctx, a, Voice{ID: "3", Name: "keeper  of the tower", Recipe: `{}`}); !errors.Is(err,
		ErrConflict) {
		t.Errorf("the same name twice: %v", err)
	}
	for i, alike := range [][2]string{{"\u00c9clair", "e\u0301clair"}, {"Stra\u00dfe", "STRASSE"},
		{"\u017b\u00f3\u0142\u0107", "\u017c\u00f3\u0142\u0107"}} {
		other := newAccount(t, s, "other"+alike[0])
		if err := s.SaveVoice(ctx, other, Voice{ID: "x" + alike[0], Name: alike[0], Recipe: `{}`}); err != nil {
			t.Fatal(err)
		}
		if err := s.SaveVoice(ctx, other, Voice{ID: "y" + alike[0], Name: alike[1], Recipe: `{}`}); !errors.Is(err,
			ErrConflict) {
			t.Errorf("%d: %q beside %q: %v", i, alike[1], alike[0], err)
		}
		if v, err := s.Voice(ctx, other, "", alike[1]); v.Name != alike[0] {
			t.Errorf("%q is not found as %q: %v", alike[0], alike[1], err)
		}
	}
	if err := s.SaveVoice(ctx, b, Voice{ID: "4", Name: "Guide", Recipe: `{}`}); err != nil {
		t.Errorf("the same name of another account: %v", err)
	}
	all, err := s.Voices(ctx, a)
	if names := []string{all[0].Name, all[1].Name}; err != nil || len(all) != 2 ||
		!slices.Equal(names, []string{"Keeper of the Tower", "Guide"}) || all[0].CreatedMS == 0 {
		t.Errorf("%+v, %v", all, err)
	}
	for _, x := range []struct{ account, id, name, want string }{
		{a, "1", "", "1"}, {a, "", "KEEPER OF THE TOWER", "1"}, {a, "", "Guide", "2"}, {b, "", "Guide", "4"},
		{b, "1", "", ""}, {a, "4", "", ""}, {a, "", "nobody", ""},
	} {
		v, err := s.Voice(ctx, x.account, x.id, x.name)
		if v.ID != x.want || x.want == "" && !errors.Is(err, ErrNotFound) {
			t.Errorf("%+v: %+v, %v", x, v, err)
		}
	}
	u, err := s.Usage(ctx, a)
	if err != nil || u.RecordBytes < 600 {
		t.Errorf("voices take no room: %+v, %v", u, err)
	}
}

func TestVoiceUsedByConfigsIsNotDeleted(t *testing.T) {
	s, ctx := openStore(t, t.TempDir()), t.Context()
	a, b := newAccount(t, s, "a"), newAccount(t, s, "b")
	if err := s.SaveVoice(ctx, a, Voice{ID: "v-1", Name: "Guide", Recipe: `{}`}); err != nil {
		t.Fatal(err)
	}
	keep := func(account string, d NewVersion) {
		t.Helper()
		if _, err := s.AddVersions(ctx, account, d); err != nil {
			t.Fatal(err)
		}
	}
	keep(a, NewVersion{
		Kind:    KindConfig,
		ID:      "c-1",
		Name:    "museum",
		Content: `{"voice":{"id":"v-1"}}`,
	})
	keep(b, NewVersion{
		Kind:    KindConfig,
		ID:      "c-2",
		Name:    "other's",
		Content: `{"voice":{"id":"v-1"}}`,
	})
	if err := s.DeleteVoice(ctx, b, "Guide"); !errors.Is(err, ErrNotFound) {
		t.Errorf("another account deletes it: %v", err)
	}
	err := s.DeleteVoice(ctx, a, "guide")
	if used, ok := errors.AsType[ErrVoiceUsed](err); !ok || !slices.Equal(used.Configs, []string{"museum"}) {
		t.Fatalf("got %v", err)
	}
	keep(a, NewVersion{Kind: KindConfig, ID: "c-1", Content: `{"voice":{"id":"voice-joe"}}`}) // its next version
	if err := s.DeleteVoice(ctx, a, "guide"); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteVoice(ctx, a, "guide"); !errors.Is(err, ErrNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
}
