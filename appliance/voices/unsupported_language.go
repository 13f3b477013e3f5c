package voices

import (
	"cmp"
	"fmt"
	"strings"

	"parley/appliance/config"
	"parley/appliance/engines"
	"parley/appliance/voice"
)

// LanguageProblem says what is wrong when a voice of the library speaks a language that the
// transcriber does not understand: Moonshine turns other languages into meaningless English
// words. It returns "" if nothing is wrong. name is a name or id; empty for the voice of
// the settings.
func LanguageProblem(cfg config.Config, name string) string {
	if engines.TranscriberLanguages(cfg) == nil {
		return ""
	}
	b, found := voice.Find(engines.Library(cfg), cmp.Or(name, cfg.Engines.Voice))
	if !found || b.Language == "" || strings.HasPrefix(strings.ToLower(b.Language), "en") {
		return ""
	}
	return fmt.Sprintf("the voice %s speaks %s, and Moonshine understands English only", b.Name,
		cmp.Or(b.LanguageName(), b.Language))
}

// LanguageAdvice is what the operator can do about a LanguageProblem.
const LanguageAdvice = "engines.transcriber: whisper, and parley packs pull whisper"
