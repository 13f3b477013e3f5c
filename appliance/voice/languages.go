package voice

import "strings"

// LanguageName returns the English name of the voice's language; empty if it is unknown.
func (b Base) LanguageName() string {
	base, _, _ := strings.Cut(strings.ToLower(b.Language), "-")
	return languages[base]
}

// Accent returns the name of the voice's regional accent; mostly empty.
func (b Base) Accent() string { return accents[b.Language] }

var accents = map[string]string{"en-US": "American", "en-GB": "British", "pt-BR": "Brazilian", "pt-PT": "European",
	"es-ES": "Castilian", "es-MX": "Mexican"}

// languages are those of Kokoro and of the voices published for Piper.
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
