package onnx

import (
	"strings"
	"unicode"

	"parley/appliance/engine"
	"parley/appliance/text"
)

// scripts are the scripts that a language can be pronounced from, besides Latin, which eSpeak NG
// reads in all languages.
type scripts []*unicode.RangeTable

// scriptsOf returns the scripts of a language by its BCP 47 tag.
func scriptsOf(tag string) scripts {
	switch baseOf(strings.ToLower(tag)) {
	case "ru", "uk", "be", "bg", "mk", "sr", "kk", "ky", "tt", "cv", "ba", "mn":
		return scripts{unicode.Cyrillic}
	case "el", "grc":
		return scripts{unicode.Greek}
	case "hi", "mr", "ne", "kok":
		return scripts{unicode.Devanagari}
	case "bn", "as", "bpy":
		return scripts{unicode.Bengali}
	case "ar", "fa", "ur", "ps", "sd", "ug":
		return scripts{unicode.Arabic}
	case "he":
		return scripts{unicode.Hebrew}
	case "ka":
		return scripts{unicode.Georgian}
	case "hy":
		return scripts{unicode.Armenian}
	case "zh", "cmn", "yue":
		return scripts{unicode.Han, unicode.Bopomofo}
	case "ja": // eSpeak NG reads no Chinese characters in Japanese
		return scripts{unicode.Hiragana, unicode.Katakana}
	case "ko":
		return scripts{unicode.Hangul}
	case "ta":
		return scripts{unicode.Tamil}
	case "te":
		return scripts{unicode.Telugu}
	case "ml":
		return scripts{unicode.Malayalam}
	case "kn":
		return scripts{unicode.Kannada}
	case "gu":
		return scripts{unicode.Gujarati}
	case "pa":
		return scripts{unicode.Gurmukhi}
	case "or":
		return scripts{unicode.Oriya}
	case "si":
		return scripts{unicode.Sinhala}
	case "am":
		return scripts{unicode.Ethiopic}
	case "my":
		return scripts{unicode.Myanmar}
	case "th":
		return scripts{unicode.Thai}
	}
	return nil
}

// unreadable reports whether a rune is a letter of another script.
func (s scripts) unreadable(r rune) bool {
	return r >= 0x80 && unicode.IsLetter(r) && !unicode.In(r, unicode.Latin, unicode.Common, unicode.Inherited) &&
		!unicode.In(r, s...)
}

// maxNamed is how many unpronounceable runes an error names.
const maxNamed = 40

// check returns an engine.ErrCannotSay for writing in another script, which eSpeak NG would spell
// ("Chinese letter, Chinese letter") or skip. A single Greek letter has a name in every language.
// Words with phonemes from a lexicon can be spoken.
func (s scripts) check(written string, sentences [][]text.Spoken, tag string) error {
	e := engine.ErrCannotSay{Language: tag}
	var rest strings.Builder
	done := 0
	for _, stretches := range sentences {
		for _, part := range stretches {
			if part.Phonemes != "" || !strings.ContainsFunc(part.Text, s.unreadable) {
				continue
			}
			from := written[part.From:part.To]
			without := s.speakable(from, &e)
			if without == from {
				continue
			}
			rest.WriteString(written[done:part.From])
			rest.WriteString(without)
			done = part.To
		}
	}
	if e.Writing == "" {
		return nil
	}
	rest.WriteString(written[done:])
	e.Rest = rest.String()
	return e
}

// speakable returns the pronounceable part of a word and records the rest in e.
func (s scripts) speakable(word string, e *engine.ErrCannotSay) string {
	var done strings.Builder
	var run []rune
	end := func() {
		if len(run) == 1 && unicode.Is(unicode.Greek, run[0]) {
			done.WriteRune(run[0])
		} else if len(run) > 0 {
			addUnspeakable(e, run)
		}
		run = nil
	}
	for _, r := range word {
		if s.unreadable(r) || len(run) > 0 && (unicode.IsMark(r) || r == '\u200c' || r == '\u200d') {
			run = append(run, r)
			continue
		}
		end()
		done.WriteRune(r)
	}
	end()
	return done.String()
}

// addUnspeakable adds a run of letters and their script to e.
func addUnspeakable(e *engine.ErrCannotSay, run []rune) {
	writing := []rune(e.Writing)
	if len(writing) >= maxNamed {
		return
	}
	if len(writing) > 0 {
		writing = append(writing, ' ')
	}
	if writing = append(writing, run...); len(writing) > maxNamed {
		writing = append(writing[:maxNamed], '…')
	}
	e.Writing = string(writing)
	for script, table := range unicode.Scripts {
		if unicode.Is(table, run[0]) && !strings.Contains(e.Script, script) {
			e.Script = strings.TrimPrefix(e.Script+", "+script, ", ")
		}
	}
}
