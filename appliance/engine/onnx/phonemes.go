package onnx

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A phonology defines which of eSpeak NG's symbols form one sound of a language. eSpeak NG writes
// them without ties; when asked for ties, it sets them in the same places.
type phonology struct {
	pairs     []string          // pairs that are one sound, in addition to those of all languages
	centring  string            // vowels that form a diphthong with a following ə
	rewritten map[string]string // symbols that the IPA writes differently
}

// affricates are one sound in every language.
var affricates = []string{"tʃ", "dʒ", "tɕ", "dʑ", "ʈʂ", "ɖʐ"}

// alveolar lists the languages in which ts and dz are one sound too. In others they are two, as in
// English cats.
var alveolar = strings.Fields("bg cs de hr hu it ka lb lt lv mk pl ro ru sk sl sq sr uk zh")

// A diphthong is a gliding vowel and an offglide. After other vowels an offglide is a separate
// vowel, as in English worrying.
const gliding, offglides = "aeouæøœɐɑɒɔəɛʌ", "ɪʊ"

// kokoroLetters are Kokoro's single letters for what the IPA writes with two.
var kokoroLetters = map[string]string{
	"A": "eɪ",
	"I": "aɪ",
	"O": "oʊ",
	"Q": "əʊ",
	"W": "aʊ",
	"Y": "ɔɪ",
	"ʤ": "dʒ",
	"ʧ": "tʃ",
	"ʣ": "dz",
	"ʦ": "ts",
	"ʥ": "dʑ",
	"ʨ": "tɕ",
}

// phonologyOf returns the phonology of a language by its BCP 47 tag.
func phonologyOf(tag string) phonology {
	var p phonology
	language, _, _ := strings.Cut(strings.ToLower(tag), "-")
	if slices.Contains(alveolar, language) {
		p.pairs = []string{"ts", "dz"}
	}
	switch language {
	case "de":
		p.pairs = append(p.pairs, "pf", "ɔø")
	case "en":
		// ᵻ is eSpeak NG's letter for the second vowel of roses. It writes oː only in American
		// words such as four, and ɔː in north.
		p.rewritten = map[string]string{"ᵻ": "ɪ", "oː": "ɔː"}
		if p.centring = "eɪʊ"; !strings.EqualFold(tag, "en-US") {
			p.centring += "i" // as in near; American voices have two sounds in idea
		}
	}
	return p
}

// joined merges neighbouring sounds that are one in the language.
func (p phonology) joined(sounds []sound) []sound {
	var all []sound
	for _, s := range sounds {
		if n := len(all); n > 0 && all[n-1].offset+len(all[n-1].symbol) == s.offset &&
			p.one(all[n-1].symbol, s.symbol) {
			all[n-1].symbol += s.symbol
			all[n-1].end = s.end
			continue
		}
		all = append(all, s)
	}
	for i, s := range all {
		all[i].symbol = p.written(s.symbol)
	}
	return all
}

// one reports whether two symbols, with no stress between them, are one sound.
func (p phonology) one(a, b string) bool {
	second, size := utf8.DecodeRuneInString(b)
	if pair := a + b[:size]; slices.Contains(affricates, pair) || slices.Contains(p.pairs, pair) {
		return true
	}
	first, size := utf8.DecodeRuneInString(a)
	if behind := a[size:]; behind != "" && behind != "\u0303" || strings.Contains(b, "ː") {
		return false // nasal vowels glide, long ones do not
	}
	return strings.ContainsRune(offglides, second) && strings.ContainsRune(gliding, first) ||
		second == 'ə' && strings.ContainsRune(p.centring, first)
}

// written returns a symbol in IPA notation.
func (p phonology) written(symbol string) string {
	if ipa, ok := p.rewritten[symbol]; ok {
		return ipa
	}
	_, size := utf8.DecodeRuneInString(symbol)
	if ipa, ok := kokoroLetters[symbol[:size]]; ok {
		return ipa + symbol[size:]
	}
	return symbol
}
