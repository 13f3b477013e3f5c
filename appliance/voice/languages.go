package voice

import "strings"

// LanguageName is what the language of a voice is called in English; empty where
// the voice does not say it, or it is none of those in which there are voices.
func (b Base) LanguageName() string {
	base, _, _ := strings.Cut(strings.ToLower(b.Language), "-")
	return languages[base]
}

// Accent is how the voice's kind of its language is called; mostly empty.
func (b Base) Accent() string { return accents[b.Language] }

var accents = map[string]string{"en-US": "American", "en-GB": "British", "pt-BR": "Brazilian", "pt-PT": "European",
	"es-ES": "Castilian", "es-MX": "Mexican"}

// languages are those of Kokoro and of the voices that are published for Piper.
var languages = map[string]string{
	"ar": "Arabic", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "cy": "Welsh", "da": "Danish", "de": "German",
	"el": "Greek",
	"en": "English", "es": "Spanish", "eu": "Basque", "fa": "Persian", "fi": "Finnish", "fr": "French", "hi": "Hindi",
	"hu": "Hungarian", "id": "Indonesian",
	"is": "Icelandic", "it": "Italian", "ja": "Japanese", "ka": "Georgian", "kk": "Kazakh", "lb": "Luxembourgish",
	"lv": "Latvian",
	"ml": "Malayalam", "ne": "Nepali", "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese",
	"ro": "Romanian",
	"ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sr": "Serbian", "sv": "Swedish", "sw": "Swahili",
	"te": "Telugu", "tr": "Turkish",
	"uk": "Ukrainian", "vi": "Vietnamese", "zh": "Chinese",
}
