package chat

import "strings"

// backchannels are the sounds by which a listener says "go on".
var backchannels = []string{
	"mm", "mhm", "mm hm", "mm hmm", "mmhmm", "hm", "hmm", "uh huh", "aha", "ah", "oh", "okay", "ok",
	"right", "yeah", "yes", "yep", "yup", "sure", "i see", "got it", "good", "great", "cool",
}

// backchannel reports whether text is nothing but such sounds.
func backchannel(text string) bool {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r < 'a' || r > 'z'
	})
	for len(words) > 0 {
		n := leadingBackchannel(words)
		if n == 0 {
			return false
		}
		words = words[n:]
	}
	return true
}

func leadingBackchannel(words []string) int {
	for n := min(2, len(words)); n > 0; n-- {
		phrase := strings.Join(words[:n], " ")
		for _, b := range backchannels {
			if phrase == b {
				return n
			}
		}
	}
	return 0
}
