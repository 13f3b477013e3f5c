package contract

import "strings"

// ReturnVoice is a voice, in the lists of voices and in the record of a config.
type ReturnVoice struct {
	ID       string        `json:"id"`
	Name     string        `json:"name"`
	Provider VoiceProvider `json:"provider"`
	// The versions of a speech request that may use the voice; absent in the
	// record of a config.
	CompatibleOctaveModels []string `json:"compatible_octave_models,omitempty"`
	// The tags of the voice, by name; an extension of Parley, absent in the
	// record of a config.
	Tags map[VoiceTag][]string `json:"tags,omitempty"`
}

// VoiceTag is the name of a property of a voice.
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

// PostedVoice saves the voice of a generation.
type PostedVoice struct {
	GenerationID string `json:"generation_id"`
	Name         string `json:"name"`
}

func (PostedVoice) read(o object) PostedVoice {
	o.require("generation_id")
	return PostedVoice{o.nonBlank("generation_id", MaxModelResourceChars), o.label("name", MaxNameChars)}
}

// AliasSource is who defined an alias.
type AliasSource string

// The sources of aliases.
const (
	AliasOfBox      AliasSource = "box"      // the operator, with the console, the API or parley voices alias
	AliasOfSettings AliasSource = "settings" // the operator, under voices.aliases
	AliasBuiltIn    AliasSource = "built_in" // Parley, for a voice of the cloud library
)

// ReturnVoiceAlias is a name that programs ask for, and the voice that stands in
// for it.
type ReturnVoiceAlias struct {
	Name string `json:"name"`
	// The id by which programs ask for the same voice.
	ID    string `json:"id,omitempty"`
	Voice string `json:"voice"`
	// Absent if the voice is one that accounts have saved, each its own.
	VoiceID string      `json:"voice_id,omitempty"`
	From    AliasSource `json:"from"`
	// Whether the voice no longer exists.
	Missing bool `json:"missing,omitempty"`
}

// ReturnVoiceAliases lists the aliases of the box, the operator's first.
type ReturnVoiceAliases struct {
	Aliases []ReturnVoiceAlias `json:"aliases"`
}

// PostedVoiceAlias names the voice that stands in for a name.
type PostedVoiceAlias struct {
	// The name or id of a voice of the library or of one that an account has
	// saved; the latter stands in for the accounts that have a voice of its name.
	Voice string `json:"voice"`
}

func (PostedVoiceAlias) read(o object) PostedVoiceAlias {
	o.require("voice")
	return PostedVoiceAlias{o.nonBlank("voice", MaxModelResourceChars)}
}

// CheckAliasedName returns an ErrInvalid about the field name unless a voice can
// stand in for the name.
func CheckAliasedName(name string) error {
	if strings.TrimSpace(name) == "" {
		return ErrInvalid{Field: "name", Why: "it is empty; give the name or id that programs ask for"}
	}
	return checkKeyName("name", name)
}
