package contract

// ReturnVoice is a voice, in the lists of voices and in the record of a config.
type ReturnVoice struct {
	ID       string        `json:"id"`
	Name     string        `json:"name"`
	Provider VoiceProvider `json:"provider"`
	// CompatibleOctaveModels are the versions of a request for speech that may
	// name the voice; not in the record of a config.
	CompatibleOctaveModels []string `json:"compatible_octave_models,omitempty"`
	// Tags say what the voice is like, by the name of the tag: an extension of
	// the box's own, not in the record of a config.
	Tags map[VoiceTag][]string `json:"tags,omitempty"`
}

// VoiceTag names what is said of a voice.
type VoiceTag string

// The tags of voices. TagLanguage and TagAccent are in English words, TagLocale is
// in BCP 47.
const (
	TagGender   VoiceTag = "GENDER"
	TagLanguage VoiceTag = "LANGUAGE"
	TagAccent   VoiceTag = "ACCENT"
	TagLocale   VoiceTag = "LOCALE"
	TagStyle    VoiceTag = "STYLE"
	TagModel    VoiceTag = "MODEL"
)

// VoiceTags lists the tags.
func VoiceTags() []VoiceTag {
	return []VoiceTag{TagGender, TagLanguage, TagAccent, TagLocale, TagStyle, TagModel}
}

// ReturnPagedVoices is a page of voices.
type ReturnPagedVoices struct {
	Paging
	VoicesPage []ReturnVoice `json:"voices_page"`
}

// PostedVoice is the body that saves the voice of a generation.
type PostedVoice struct {
	GenerationID string `json:"generation_id"`
	Name         string `json:"name"`
}

// ParsePostedVoice reads a voice to save.
func ParsePostedVoice(data []byte) (PostedVoice, error) { return parseBody(data, readPostedVoice) }

func readPostedVoice(o object) PostedVoice {
	o.require("generation_id")
	return PostedVoice{o.filled("generation_id", MaxModelResourceChars), o.label("name", MaxNameChars)}
}
