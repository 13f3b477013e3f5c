package config

import (
	"cmp"
	"slices"
	"strings"
)

// A Setting is one thing that an operator may set. It has one name in a file,
// one as a flag and one in the environment, and one function that reads its
// value wherever it came from.
type Setting struct {
	Key         string // in parley.yaml, with dots between levels
	Flag        string // without its dashes
	Group       string // the heading under which it is listed
	Placeholder string // the word that stands for its value in help, such as HOST:PORT
	Help        string // what it is, for a terminal
	// PartOf is the key of the setting that an old name is a part of now.
	PartOf string
	// Switch says that the flag may stand alone: then it is true.
	Switch bool
	// Default is the value where nobody sets one. Where it is not a fixed value,
	// DefaultInWords says in words what it is.
	Default, DefaultInWords string
	kind
}

// Env is the setting's environment variable.
func (s Setting) Env() string {
	return "PARLEY_" + strings.ToUpper(strings.ReplaceAll(s.Flag, "-", "_"))
}

// Allowed says what its value may be, in words.
func (s Setting) Allowed() string { return s.allowed }

const languageModel = "engines.language_model"

// Settings lists all settings, in the order in which they are shown. It is the
// one table of which the file, the variables, the flags, the help and the
// documentation are made.
func Settings() []Setting {
	return slices.Concat(
		group("The box", boxSettings()),
		group("Calls over WebRTC", callSettings()),
		group("TLS", tlsSettings()),
		group("The box's own loudspeaker and microphone", kioskSettings()),
		group("Models", modelSettings()),
		group("Chats and what is kept of them", chatSettings()),
		group("Speech", speechSettings()),
		group("Tools", toolSettings()),
		group("Webhooks", webhookSettings()),
		group("Limits", limitSettings()),
		group("Log", logSettings()),
	)
}

// group gives settings their heading, and what most of them have alike: a flag that is
// the key with dashes, the word of their kind for the value, and no default.
func group(heading string, list []Setting) []Setting {
	for i := range list {
		s := &list[i]
		s.Group = heading
		s.Flag = cmp.Or(s.Flag, strings.NewReplacer(".", "-", "_", "-").Replace(s.Key))
		s.Placeholder = cmp.Or(s.Placeholder, s.placeholder)
		if s.Default == "" {
			s.DefaultInWords = cmp.Or(s.DefaultInWords, "none")
		}
	}
	return list
}

// DefaultText is the default, or says in words what it is.
func (s Setting) DefaultText() string { return cmp.Or(s.DefaultInWords, s.Default) }
