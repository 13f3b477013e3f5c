package store

import (
	"errors"
	"slices"
	"testing"
)

func TestLexiconBelongsToItsAccount(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	account, other := newAccount(t, s, "museum"), newAccount(t, s, "clinic")
	win, ann := Pronunciation{"nguyen", "Nguyen", "/wɪn/"}, Pronunciation{"ann", "Ann", "an"}
	for i, p := range []Pronunciation{win, ann, {"ann", "ANN", "on"}, ann} {
		added, err := s.SetPronunciation(t.Context(), account, p, 2)
		must(t, err)
		if added != (i < 2) {
			t.Errorf("%v: added %v", p, added)
		}
	}
	_, err := s.SetPronunciation(t.Context(), account, Pronunciation{"bob", "Bob", "b"}, 2)
	if !errors.As(err, new(ErrLexiconFull)) {
		t.Errorf("one too many: %v", err)
	}
	must(t, s.Close())
	s = openStore(t, dir)
	all, err := s.Lexicon(t.Context(), account)
	must(t, err)
	if !slices.Equal(all, []Pronunciation{ann, win}) {
		t.Errorf("%v", all)
	}
	if all, err = s.Lexicon(t.Context(), other); err != nil || len(all) != 0 {
		t.Errorf("another account has %v, %v", all, err)
	}
	wantError(t, s.DeletePronunciation(t.Context(), other, "ann"), ErrNotFound)
	must(t, s.DeletePronunciation(t.Context(), account, "ann"))
	_, err = s.Pronunciation(t.Context(), account, "ann")
	wantError(t, err, ErrNotFound)
	must(t, s.SetLexicon(t.Context(), account, []Pronunciation{ann}))
	p, err := s.Pronunciation(t.Context(), account, "ann")
	must(t, err)
	if _, gone := s.Pronunciation(t.Context(), account, "nguyen"); p != ann || !errors.Is(gone, ErrNotFound) {
		t.Errorf("%v, %v", p, gone)
	}
	_, err = s.SetPronunciation(t.Context(), "nobody", ann, 2)
	wantError(t, err, ErrNotFound)
	wantError(t, s.SetLexicon(t.Context(), "nobody", nil), ErrNotFound)
}
