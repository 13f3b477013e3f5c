package turn

import (
	"slices"
	"strings"

	"parley/appliance/language"
	"parley/internal/edits"
)

const (
	// minEchoWords is how many words somebody has to repeat for it to be the assistant
	// itself that is heard: two are said by chance, and "Ten o'clock?" by people.
	minEchoWords = 3
	// echoSentences is how many of the sentences that were heard last an echo may be
	// of, with words that come late.
	echoSentences = 3
)

// isEcho reports whether words that were heard while the assistant spoke are its own,
// come back from a loudspeaker, as far as a transcriber understands an echo: a word
// in four may be wrong. Nothing else need know an echo for that.
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

// recentlySpoken is what the assistant has said last, and is saying.
func (s State) recentlySpoken() string {
	var said []string
	for i, heard := range s.playedLengths() {
		if heard > 0 {
			said = append(said, s.playing[i].sentence.Text)
		}
	}
	return strings.Join(said[max(0, len(said)-echoSentences):], " ")
}

// wordErrors is how many words of one list are wrong, missing or too many for it to be a
// part of the other, by edit distance.
func wordErrors(part, whole []string) int {
	row := make([]int, len(whole)+1) // it may begin anywhere
	for _, word := range part {
		edits.Next(row, word, whole)
	}
	return slices.Min(row) // and end anywhere
}
