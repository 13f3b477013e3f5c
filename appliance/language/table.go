package language

import (
	"embed"
	"path"
	"strings"
)

// The files in words hold the table, one for each language. A file has sections headed by their names in
// brackets, with one entry a line; loadLanguage assigns them to the fields of Language.
//
//go:embed words/*.txt
var words embed.FS

// languages are those for which good voices and transcribers exist, by the primary part of their BCP 47 tags.
// Backchannels contain no word that is mostly an answer to a question, except those that listeners also use
// to say "go on" ("yes", "да", "はい"); after a question every word is an answer. Hindi has only the words that
// end a conversation.
var languages = loadLanguages()

// common is what listeners of all languages do. It is used for unknown languages.
var common = loadLanguage("common")

func loadLanguages() map[string]Language {
	files, err := words.ReadDir("words")
	if err != nil {
		panic(err) // cannot happen: the folder is embedded
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
		agreement:     sections["agreement"],
		no:            sections["no"],
		mailbox:       sections["mailbox"],
		wrongNumber:   sections["wrong number"],
		lines: lines{
			working:  sections["working"],
			sorry:    one("sorry"),
			done:     one("done"),
			broken:   one("broken"),
			again:    one("again"),
			thinking: sections["thinking"],
			wait:     sections["wait"],
			nudges:   sections["nudges"],
			goodbye:  one("goodbye"),
			telephone: telephone{
				recorded:       one("recorded"),
				mayRecord:      one("may record"),
				puttingThrough: one("putting through"),
				callForYou:     one("call for you"),
				callFrom:       one("call from"),
				about:          one("about"),
				takeCall:       one("take call"),
				nobodyThere:    one("nobody there"),
			},
		},
	}
}
