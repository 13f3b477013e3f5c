package turn

import (
	"slices"
	"strings"

	"parley/appliance/language"
	"parley/internal/levenshtein"
)

const (
	// minEchoWords is how many words must match for an utterance to be the assistant's own voice. Two match
	// by chance, and "Ten o'clock?" is said by people.
	minEchoWords = 3
	// echoSentences is how many of the last heard sentences an echo may repeat, because transcripts come
	// late.
	echoSentences = 3
)

// isEcho reports whether words heard while the assistant spoke are its own, come back from a loudspeaker. A
// transcriber understands an echo badly, so one word in four may be wrong. No other part needs to detect the
// echo for this to work.
func (s State) isEcho(utterance int, w Transcript) bool {
	said := ""
	switch {
	case s.interruption.utterance == utterance && utterance != 0:
		said = s.interruption.spoken
	case len(s.playing) > 0 && w.Begin <= s.playbackEnd:
		said = s.recentlySpoken()
	}
	if said == "" {
		return false
	}
	heard := strings.Fields(language.Plain(w.Text))
	return len(heard) >= minEchoWords && wordErrors(heard, strings.Fields(language.Plain(said))) <= len(heard)/4
}

// recentlySpoken returns what the assistant has said last and is saying.
func (s State) recentlySpoken() string {
	var said []string
	for i, heard := range s.playedLengths() {
		if heard > 0 {
			said = append(said, s.playing[i].sentence.Text)
		}
	}
	return strings.Join(said[max(0, len(said)-echoSentences):], " ")
}

// wordErrors returns the edit distance, in words, between part and the most similar part of whole.
func wordErrors(part, whole []string) int {
	row := make([]int, len(whole)+1) // the match may begin anywhere
	for _, word := range part {
		levenshtein.Next(row, word, whole)
	}
	return slices.Min(row) // and end anywhere
}
