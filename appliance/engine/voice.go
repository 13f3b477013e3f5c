package engine

// A TextChecker is a Synthesizer that can report unspeakable text without synthesizing it.
type TextChecker interface {
	// CanSay returns the ErrCannotSay that Speak would return for text, or nil.
	CanSay(text string, o SpeakOptions) error
}

// CanSay reports whether voice can speak text, as TextChecker.CanSay does. It returns nil for
// voices that are not TextCheckers.
func CanSay(voice Synthesizer, text string, o SpeakOptions) error {
	if c, ok := voice.(TextChecker); ok {
		return c.CanSay(text, o)
	}
	return nil
}

// LanguageOf returns the BCP 47 tag of the language that voice speaks, or "" if the voice does not
// report one.
func LanguageOf(voice Synthesizer) string {
	if l, ok := voice.(interface{ Language() string }); ok {
		return l.Language()
	}
	return ""
}

// IdentityOf returns a text that differs between any two voices that may speak the same text with the same options
// differently: it names the model, what was done to its sound, and the program. It returns "" if the voice does not
// report one.
func IdentityOf(voice Synthesizer) string {
	if i, ok := voice.(interface{ Identity() string }); ok {
		return i.Identity()
	}
	return ""
}
