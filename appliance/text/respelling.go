package text

import "strings"

// respelt parses a respelling of a word. Syllables joined by hyphens give phonemes, if each can
// be parsed; other words are pronounced as ordinary text.
func respelt(said string) (read, phonemes string) {
	plain := writtenOut(strings.ToLower(said))
	if !strings.Contains(said, "-") {
		if strings.ToUpper(said) != said {
			plain = writtenOut(said) // "the FBI"
		}
		return plain, ""
	}
	var words []string
	for _, w := range strings.Fields(said) {
		ipa, ok := syllables(strings.Split(w, "-"))
		if !ok {
			return plain, ""
		}
		words = append(words, ipa)
	}
	return "", strings.Join(words, " ")
}

func writtenOut(said string) string { return Options{}.english(legible(trace(said))).s }

// syllables returns the phonemes of a word. If no syllable is in capitals, the first is
// stressed.
func syllables(all []string) (string, bool) {
	var b strings.Builder
	stressed := false
	for _, s := range all {
		stressed = stressed || capitals(s)
	}
	for i, s := range all {
		ipa, ok := syllable(strings.ToLower(s))
		if !ok {
			return "", false
		}
		if capitals(s) || !stressed && i == 0 {
			b.WriteString("ˈ")
		}
		b.WriteString(ipa)
	}
	return b.String(), true
}

func capitals(s string) bool { return s != "" && s == strings.ToUpper(s) }

// syllable returns the phonemes of one syllable, or false if it is not one vowel sound with
// consonants around it.
func syllable(s string) (string, bool) {
	var b strings.Builder
	vowels := 0
	last := ""
	for s != "" {
		sound, n := "", 0
		if !strings.HasPrefix(s, "y") || vowels > 0 || len(s) == 1 {
			sound, n = spelling("vowels", s)
		}
		if n > 0 && last != "vowel" {
			vowels++
			last = "vowel"
		} else {
			last = ""
			if sound, n = spelling("consonants", s); n == 0 {
				return "", false
			}
		}
		b.WriteString(sound)
		if n == 1 && len(s) > 1 && s[1] == s[0] && last == "" {
			n = 2 // "ss"
		}
		s = s[n:]
	}
	return b.String(), vowels == 1
}

// spelling returns the longest sound that s begins with, and its length in bytes.
func spelling(sounds, s string) (string, int) {
	for n := min(3, len(s)); n > 0; n-- {
		if sound := listed("respelling", sounds).spoken[s[:n]]; sound != "" {
			return sound, n
		}
	}
	return "", 0
}
