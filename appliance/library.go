package appliance

import (
	"slices"
	"strings"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engine/onnx"
	"parley/appliance/voice"
)

// library is every voice of the packs that are there.
func library(cfg config.Config) []voice.Base {
	var all []voice.Base
	for _, pack := range cfg.Voices() {
		b := voice.OfPack(pack)
		if b.Language == "" {
			b.Language = onnx.VoiceLanguage(cfg.Pack(pack))
		}
		if slices.ContainsFunc(all, func(o voice.Base) bool { return strings.EqualFold(o.Name, b.Name) }) {
			b.Name = pack // two packs, grandma and voice-grandma
		}
		all = append(all, b)
	}
	styles, err := onnx.KokoroStyles(cfg.Pack(voice.KokoroPack))
	if err != nil || len(styles) == 0 {
		return all
	}
	for _, b := range voice.Kokoro() {
		if slices.ContainsFunc(styles, func(s onnx.KokoroStyle) bool { return s.Name == b.Style }) {
			all = append(all, b)
		}
	}
	return all
}

// LibraryVoices are the ids of all of them.
func LibraryVoices(cfg config.Config) []string {
	var ids []string
	for _, b := range library(cfg) {
		ids = append(ids, b.ID)
	}
	return ids
}

// libraryRecord is a voice of the library as lists have it.
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
	return contract.ReturnVoice{ID: b.ID, Name: b.Name, Provider: contract.VoiceLibrary, CompatibleOctaveModels: octaves(), Tags: tags}
}

// octaves are the versions of a request for speech; any voice serves both.
func octaves() []string { return []string{"1", "2"} }
