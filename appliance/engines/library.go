package engines

import (
	"cmp"
	"slices"
	"strings"

	"parley/appliance/config"
	"parley/appliance/engine/onnx"
	"parley/appliance/voice"
)

// Library returns the voices of all installed packs, and those on servers. A voice on a server that has
// the name of an installed one is that voice.
func Library(cfg config.Config) []voice.Base {
	all := installedVoices(cfg)
	for _, s := range cfg.Engines.VoiceServers {
		for _, name := range s.Voices {
			b, found := voice.Find(all, name)
			if !found {
				all = append(all, voice.BaseOnServer(name, s.Model, s.Language))
				continue
			}
			i := slices.IndexFunc(all, func(o voice.Base) bool { return o.ID == b.ID })
			all[i].Served = cmp.Or(b.Served, name)
		}
	}
	return all
}

func installedVoices(cfg config.Config) []voice.Base {
	var all []voice.Base
	for _, pack := range cfg.Voices() {
		b := voice.BaseOfPack(pack)
		if b.Language == "" {
			b.Language = onnx.VoiceLanguage(cfg.Pack(pack))
		}
		if slices.ContainsFunc(all, func(o voice.Base) bool { return strings.EqualFold(o.Name, b.Name) }) {
			b.Name = pack // for two packs such as grandma and voice-grandma
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
