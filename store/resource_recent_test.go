package store

import (
	"slices"
	"testing"

	"github.com/google/uuid"
)

func TestRecentConfigsAreInOrderOfUse(t *testing.T) {
	s := openStore(t, t.TempDir())
	home, other := newAccount(t, s, "home"), newAccount(t, s, "other")
	config := func(account, name string) string {
		d := draft(uuid.NewString(), name, "first")
		d.Kind = KindConfig
		stored, err := s.AddVersions(t.Context(), account, d)
		must(t, err)
		return stored[0].ID
	}
	newPrompt(t, s, home, "no config")
	a, b, c, foreign := config(home, "a"), config(home, "b"), config(home, "c"), config(other, "foreign")
	chatWith := func(account, config string) {
		must(t, s.StartChat(t.Context(), NewChat{
			ID:        uuid.NewString(),
			GroupID:   uuid.NewString(),
			AccountID: account,
			Config:    ConfigRef{ID: config},
			StartedMS: 1,
			RequestID: "r",
		}))
	}
	chatWith(home, c)
	chatWith(home, a)
	chatWith(home, c)
	order := func(account string, most int) (ids []string) {
		list, err := s.RecentConfigs(t.Context(), account, most)
		must(t, err)
		for _, one := range list {
			ids = append(ids, one.ID)
		}
		return ids
	}
	for _, want := range []struct {
		account string
		most    int
		ids     []string
	}{
		{home, 9, []string{c, a, b}},
		{home, 2, []string{c, a}},
		{other, 9, []string{foreign}},
		{"", 9, []string{c, a, foreign, b}},
		{"nobody", 9, nil},
	} {
		if got := order(want.account, want.most); !slices.Equal(got, want.ids) {
			t.Errorf("%d of %q: %q, want %q", want.most, want.account, got, want.ids)
		}
	}
	must(t, s.Delete(t.Context(), home, KindConfig, c))
	if got := order(home, 9); !slices.Equal(got, []string{a, b}) {
		t.Errorf("with one deleted: %q", got)
	}
}
