package store

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

func TestNewestGenerationsAreRetained(t *testing.T) {
	s := openStore(t, t.TempDir())
	home, other := newAccount(t, s, "home"), newAccount(t, s, "other")
	for n := range 5 {
		if err := s.AddGenerations(t.Context(), home, 3,
			Generation{ID: fmt.Sprint("g", n), Body: `{"text":"ä"}`}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.AddGenerations(t.Context(), other, 3, Generation{ID: "theirs", Body: `{}`}); err != nil {
		t.Fatal(err)
	}
	has := func(account, id string) bool {
		_, err := s.Generation(t.Context(), account, id)
		if err != nil && !errors.Is(err, ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil
	}
	for n := range 5 {
		if id := fmt.Sprint("g", n); has(home, id) != (n >= 2) || has(other, id) {
			t.Errorf("%s: %v, and %v of another account", id, has(home, id), has(other, id))
		}
	}
	before, err := s.Usage(t.Context(), home)
	if err != nil || before.RecordBytes != 3*(200+int64(len(`{"text":"ä"}`))) {
		t.Errorf("%+v, %v", before, err)
	}
	if err := s.ChangeGeneration(t.Context(), other, Generation{ID: "g4", Body: `{"stolen":1}`}); err != nil {
		t.Fatal(err)
	}
	if err := s.ChangeGeneration(t.Context(), home, Generation{ID: "g4", Body: `{"changed":1}`}); err != nil {
		t.Fatal(err)
	}
	if g, err := s.Generation(t.Context(), home, "g4"); err != nil || g.Body != `{"changed":1}` || g.CreatedMS == 0 {
		t.Errorf("%+v, %v", g, err)
	}
	if err := s.AddGenerations(t.Context(), "nobody", 3, Generation{ID: "x", Body: `{}`}); !errors.Is(err,
		ErrNotFound) {
		t.Error(err)
	}
	if err := s.ExpireGenerations(t.Context(), math.MaxInt64); err != nil {
		t.Fatal(err)
	}
	if has(home, "g4") || has(other, "theirs") {
		t.Error("one that is too old is still there")
	}
}
