package voices

import (
	"parley/appliance/contract"
	"parley/appliance/voice"
)

// libraryRecord returns a voice of the library as lists have it.
func libraryRecord(b voice.Base) contract.ReturnVoice {
	tags := map[contract.VoiceTag][]string{}
	for tag, value := range map[contract.VoiceTag]string{
		contract.TagModel: b.Model, contract.TagGender: string(b.Gender), contract.TagLocale: b.Language,
		contract.TagLanguage: b.LanguageName(), contract.TagAccent: b.Accent(),
	} {
		if value != "" {
			tags[tag] = []string{value}
		}
	}
	if len(b.Sounds) > 0 {
		tags[contract.TagStyle] = b.Sounds
	}
	return contract.ReturnVoice{
		ID:                     b.ID,
		Name:                   b.Name,
		Provider:               contract.VoiceLibrary,
		CompatibleOctaveModels: octaves(),
		Tags:                   tags,
	}
}

// octaves returns the versions of speech requests; each voice serves both.
func octaves() []string { return []string{"1", "2"} }
