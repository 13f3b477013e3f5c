package voices

import (
	"cmp"
	"fmt"
	"strings"

	"parley/appliance/config"
	"parley/appliance/engines"
	"parley/appliance/voice"
)

// HearingProblem says what is wrong where a voice of the library, by its name or id (empty:
// that of the settings), speaks a language in which the box understands nobody: of
// other languages Moonshine makes English words that mean nothing. Else it is empty.
func HearingProblem(cfg config.Config, name string) string {
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

// HearingAdvice is what an operator does about it.
const HearingAdvice = "engines.transcriber: whisper, and parley packs pull whisper"
