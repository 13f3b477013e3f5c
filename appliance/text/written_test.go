package text

import (
	"slices"
	"testing"
)

func TestWritten(t *testing.T) {
	for s, want := range map[string][]string{
		"":                           nil,
		" – … !":                     nil,
		"I’m at Gate A1007, o'clock": {"i'm", "at", "gate", "a1007", "o'clock"},
		"Wi-Fi (free): 12.50":        {"wi", "fi", "free", "12", "50"},
		"Où ça? नमस्ते é":            {"où", "ça", "नमस्ते", "é"},
	} {
		if got := Written(s); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}
