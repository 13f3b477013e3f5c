package config

import (
	"cmp"
	"slices"
	"strings"
)

// Setting describes one setting. It has one name each in the file, as a flag and in the
// environment, and one parser for all of them.
type Setting struct {
	Key         string // in parley.yaml, with dots between the levels
	Flag        string // without the dashes
	Group       string // the heading in lists
	Placeholder string // stands for the value in help, such as HOST:PORT
	Help        string // for a terminal
	// PartOf is the key of the setting that replaces this old one.
	PartOf string
	// Switch says that the flag may have no value, which means true.
	Switch bool
	// Remote says that the hub of the fleet may make the setting.
	Remote bool
	// Default is the value if nothing sets one. If the default is not a fixed value,
	// DefaultInWords describes it.
	Default, DefaultInWords string
	kind
}

// FileOnly reports whether only the file can hold the setting: it has neither a flag nor a variable.
func (s Setting) FileOnly() bool { return s.keys != nil }

// Env returns the name of the setting's environment variable.
func (s Setting) Env() string {
	return "PARLEY_" + strings.ToUpper(strings.ReplaceAll(s.Flag, "-", "_"))
}

// Allowed describes the allowed values.
func (s Setting) Allowed() string { return s.allowed }

const languageModel = "engines.language_model"

// Settings returns all settings in display order. The file, the variables, the flags, the
// help and the documentation all derive from this table.
func Settings() []Setting {
	return slices.Concat(
		group("The box", boxSettings()),
		group("Calls over WebRTC", callSettings()),
		group("The telephone", phoneSettings()),
		group("TLS", tlsSettings()),
		group("The box's own loudspeaker and microphone", kioskSettings()),
		group("Models", modelSettings()),
		group("Chats and what is stored of them", chatSettings()),
		group("Speech", speechSettings()),
		group("Analysis jobs", batchSettings()),
		group("Tools", toolSettings()),
		group("Webhooks", webhookSettings()),
		group("Limits", limitSettings()),
		group("A hub of boxes", hubSettings()),
		group("Log", logSettings()),
		group("The fleet", fleetSettings()),
	)
}

// group adds the heading, and derives what most settings have in common: a flag that is the
// key with dashes, and the placeholder of the kind.
func group(heading string, list []Setting) []Setting {
	for i := range list {
		s := &list[i]
		s.Group = heading
		s.Remote = slices.Contains(remote, s.Key)
		if !s.FileOnly() {
			s.Flag = cmp.Or(s.Flag, strings.NewReplacer(".", "-", "_", "-").Replace(s.Key))
		}
		s.Placeholder = cmp.Or(s.Placeholder, s.placeholder)
		if s.Default == "" {
			s.DefaultInWords = cmp.Or(s.DefaultInWords, "none")
		}
	}
	return list
}

// DefaultText returns the default, or its description.
func (s Setting) DefaultText() string { return cmp.Or(s.DefaultInWords, s.Default) }
