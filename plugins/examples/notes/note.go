package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/notes/parley"
)

// note is one note of a caller.
type note struct {
	Text string    `json:"text"`
	Due  time.Time `json:"due,omitzero"`
}

// key returns the storage key of the caller's notes. Without a known caller it is an error,
// because any list could be another caller's.
func key() (string, error) {
	caller := parley.Caller()
	if caller == "" {
		return "", errors.New("the caller is unknown, so there is no list of notes")
	}
	return "notes/" + caller, nil
}

func load() ([]note, error) {
	k, err := key()
	if err != nil {
		return nil, err
	}
	text, ok, err := parley.Load(k)
	if err != nil || !ok {
		return nil, err
	}
	var notes []note
	if err := json.Unmarshal(text, &notes); err != nil {
		return nil, fmt.Errorf("the notes cannot be read: %w", err)
	}
	return notes, nil
}

func save(notes []note) error {
	k, err := key()
	if err != nil {
		return err
	}
	if len(notes) == 0 {
		return parley.Delete(k)
	}
	text, err := json.Marshal(notes)
	if err != nil {
		return err
	}
	return parley.Store(k, text)
}

// matching returns the notes that contain all words of about.
func matching(notes []note, about string) []note {
	var found []note
	for _, n := range notes {
		text := " " + strings.ToLower(n.Text)
		if !slices.ContainsFunc(strings.Fields(strings.ToLower(about)), func(word string) bool {
			return word != "the" && word != "my" && !strings.Contains(text, strings.Trim(word, ".,!?"))
		}) {
			found = append(found, n)
		}
	}
	return found
}

func without(notes, gone []note) []note {
	return slices.DeleteFunc(notes, func(n note) bool { return slices.Contains(gone, n) })
}

// sortByDue sorts notes by their times; notes without a time come last.
func sortByDue(notes []note) {
	slices.SortStableFunc(notes, func(a, b note) int {
		switch {
		case a.Due.IsZero() && b.Due.IsZero():
			return 0
		case a.Due.IsZero():
			return 1
		case b.Due.IsZero():
			return -1
		}
		return a.Due.Compare(b.Due)
	})
}

func (n note) tell(now time.Time) string {
	switch {
	case n.Due.IsZero():
		return n.Text
	case n.Due.Before(now):
		return n.Text + ", which was due " + spoken(n.Due, now)
	}
	return n.Text + ", " + spoken(n.Due, now)
}
