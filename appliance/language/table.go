package language

import (
	"embed"
	"path"
	"strings"
)

// The files under words hold what is known of a language: a section for each
// field of Language, headed by its name in brackets, with one entry a line.
//
//go:embed words/*.txt
var words embed.FS

// languages are those in which the voices and transcribers that a box can have
// are good, by the primary part of their BCP 47 tags. Backchannels hold no word
// that answers nothing but a question in most talk, except where listeners do
// say it to go on ("yes", "да", "はい"): after a question it is an answer
// whatever stands there. Of Hindi there is only what ends a conversation.
var languages = loadLanguages()

// common is what listeners of all languages do: all that is known of a language
// that is not known.
var common = loadLanguage("common")

func loadLanguages() map[string]Language {
	files, err := words.ReadDir("words")
	if err != nil {
		panic(err) // a fault of the program: the folder is in it
	}
	all := map[string]Language{}
	for _, f := range files {
		if tag := strings.TrimSuffix(f.Name(), ".txt"); tag != "common" {
			l := loadLanguage(tag)
			l.tag, l.joined = tag, tag == "ja" || tag == "zh"
			all[tag] = l
		}
	}
	return all
}

// loadLanguage reads the file of a language.
func loadLanguage(name string) Language {
	text, err := words.ReadFile(path.Join("words", name+".txt"))
	if err != nil {
		panic(err)
	}
	sections := map[string][]string{}
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if name, heading := strings.CutPrefix(line, "["); heading {
			section = strings.TrimSuffix(name, "]")
		} else if line != "" {
			sections[section] = append(sections[section], line)
		}
	}
	one := func(section string) string { return strings.Join(sections[section], "") }
	return Language{
		answer:        one("answer"),
		unknown:       one("unknown"),
		yes:           sections["yes"],
		backchannels:  sections["backchannels"],
		cannotEnd:     sections["cannot end"],
		seldomEnd:     sections["seldom end"],
		oftenEnd:      sections["often end"],
		clauseOpeners: sections["clause openers"],
		floorTakers:   sections["floor takers"],
		stops:         sections["stops"],
		groups:        sections["groups"],
		determiners:   sections["determiners"],
		verbs:         sections["verbs"],
		subjects:      sections["subjects"],
		lines: lines{
			working:  sections["working"],
			sorry:    one("sorry"),
			broken:   one("broken"),
			again:    one("again"),
			thinking: sections["thinking"],
			wait:     sections["wait"],
			nudges:   sections["nudges"],
			goodbye:  one("goodbye"),
		},
	}
}
