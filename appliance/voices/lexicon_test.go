package voices

import (
	"context"
	"log/slog"
	"testing"

	"parley/appliance/text"
	"parley/store"
)

// An account's lexicon takes precedence over that of the box, and a change takes
// effect when Changed is called.
func TestAccountLexiconTakesPrecedence(t *testing.T) {
	records, err := store.Open(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	if _, err := records.CreateKey(t.Context(), store.NewKey{Account: "museum"}); err != nil {
		t.Fatal(err)
	}
	owner, err := records.Account(t.Context(), "museum")
	if err != nil {
		t.Fatal(err)
	}
	box, err := text.NewLexicon(map[string]string{"Ann": "an", "Bath": "bahth"})
	if err != nil {
		t.Fatal(err)
	}
	r := NewLexicons(records, "en-GB", box, slog.New(slog.DiscardHandler))
	said := func() string {
		o := r.Options(t.Context(), owner.ID)
		o.Language = "en-US"
		return text.Verbalize("Ann in Bath on 3/4/2026", o)
	}
	want := func(says string) {
		t.Helper()
		if got := said(); got != says+" on the third of April, twenty twenty-six" {
			t.Errorf("%q, want %q", got, says)
		}
	}
	want("an in bahth")
	set := func(word, how string) {
		t.Helper()
		e, err := text.NewEntry(word, how)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := records.SetPronunciation(t.Context(), owner.ID,
			store.Pronunciation{Key: e.Key, Word: word, Spoken: how}, 9); err != nil {
			t.Fatal(err)
		}
	}
	set("ANN", "ay en en") // an acronym
	set("ann", "on")
	want("an in bahth") // Changed was not called
	r.Changed(owner.ID)
	want("on in bahth")
	o := r.Options(t.Context(), "nobody")
	if text.Verbalize("Ann", text.Options{Language: "en", Lexicon: o.Lexicon}) != "an" {
		t.Error("an account without a lexicon is not read by the box's")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.Changed(owner.ID)
	if o := r.Options(ctx, owner.ID); text.Verbalize("Ann", text.Options{Language: "en", Lexicon: o.Lexicon}) != "an" {
		t.Error("what cannot be read takes the box's lexicon away")
	}
	want("on in bahth")
}
