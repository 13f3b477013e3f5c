package turn

import (
	"testing"
	"time"
)

// The assistant's own words, come back as an echo, neither interrupt it nor are answered. Other words are
// heard.
func TestAnEchoIsIgnored(t *testing.T) {
	s := State{playing: []playingSentence{
		{
			sentence: Sentence{Text: "Welcome to the museum."},
			sent:     2 * time.Second,
			length:   2 * time.Second,
			complete: true,
		},
		{
			sentence: Sentence{Text: "The key was made in a village by the sea."},
			sent:     3 * time.Second,
			length:   3 * time.Second,
			complete: true,
		},
		{
			sentence: Sentence{Text: "A smith worked on it for a whole winter."},
			sent:     3 * time.Second,
			length:   3 * time.Second,
			complete: true,
		},
	}}
	s.playbackEnd, s.now = 8*time.Second, 4*time.Second // in the middle of the second sentence
	for text, own := range map[string]bool{
		"The key was made":              true,
		"The key was maid in a village": true,
		"key was made in a village":     true,
		"museum the key was":            true,
		"The key.":                      false, // too short to know
		"Where was the key made?":       false,
		"A smith worked on it":          false, // not said yet
		"Stop.":                         false,
		"How much is a ticket?":         false,
		"":                              false,
	} {
		if got := s.isEcho(7, Transcript{Text: text, Begin: 3 * time.Second}); got != own {
			t.Errorf("%q: echo %v, want %v", text, got, own)
		}
	}
	if s.isEcho(7, Transcript{Text: "The key was made", Begin: 9 * time.Second}) {
		t.Error("words after the end of playback are taken for an echo")
	}
	s.playing, s.playbackEnd = nil, s.now
	s.interruption = interruption{utterance: 7, spoken: "The key was made in a village by the sea."}
	if !s.isEcho(7, Transcript{Text: "the key was made in a"}) || s.isEcho(8,
		Transcript{Text: "the key was made in a"}) {
		t.Error("an echo that interrupted is not one, or also one in the next utterance")
	}
}

func TestWordErrorsFindsThePartAnywhere(t *testing.T) {
	whole := []string{"a", "b", "c", "d", "e"}
	for _, row := range []struct {
		part []string
		want int
	}{
		{[]string{"a", "b"}, 0}, {[]string{"d", "e"}, 0}, {[]string{"b", "x", "d"}, 1}, {[]string{"b", "d"}, 1},
		{[]string{"x", "y"}, 2}, {nil, 0}, {[]string{"e", "a"}, 1},
	} {
		if got := wordErrors(row.part, whole); got != row.want {
			t.Errorf("%v: %d, want %d", row.part, got, row.want)
		}
	}
	if wordErrors([]string{"a"}, nil) != 1 {
		t.Error("one word is found in an empty list")
	}
}
