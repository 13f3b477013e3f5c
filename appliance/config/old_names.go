package config

import (
	"fmt"
	"strings"
)

// OldSettings lists settings that are now parts of others (PartOf). Their old names still
// work in all sources, and each sets its part.
func OldSettings() []Setting {
	return []Setting{
		oldSetting("webrtc.servers", "webrtc.username", "webrtc-username",
			lineKind(func(c *Config) *string { return &c.WebRTC.Username })),
		oldSetting("webrtc.servers", "webrtc.password_env", "webrtc-password-env",
			textKind("", func(c *Config) *string { return &c.WebRTC.PasswordEnv }, variable)),
		oldSetting("tls", "tls.cert", "tls-cert", custom("", setTLSCert)),
		oldSetting("tls", "tls.key", "tls-key", custom("", setTLSKey)),
		oldSetting("tls", "tls.acme", "tls-acme", custom("", setTLSACME)),
		oldSetting("tls", "tls.email", "tls-email",
			textKind("", func(c *Config) *string { return &c.TLS.Email }, email)),
		oldSetting("tls", "tls.roots", "tls-roots", path(func(c *Config) *string { return &c.TLS.Roots })),
		oldSetting("kiosk.devices", "kiosk.input", "kiosk-input",
			lineKind(func(c *Config) *string { return &c.Kiosk.Input })),
		oldSetting("kiosk.devices", "kiosk.output", "kiosk-output",
			lineKind(func(c *Config) *string { return &c.Kiosk.Output })),
		oldSetting("kiosk.button", "kiosk.keyboard", "kiosk-keyboard",
			textKind("", func(c *Config) *string { return &c.Kiosk.Keyboard }, inputDevice)),
		oldSetting("kiosk.button", "kiosk.gpio", "kiosk-gpio", custom("", setGPIO)),
		oldSetting(languageModel, languageModel+".openai", "openai", custom("", setOpenAI)),
		oldSetting(languageModel, languageModel+".model", "openai-model",
			lineKind(func(c *Config) *string { return &c.Engines.LanguageModel.Model })),
		oldSetting(languageModel, languageModel+".key_env", "openai-key-env",
			textKind("", func(c *Config) *string { return &c.Engines.LanguageModel.KeyEnv }, variable)),
		oldSetting("answers.rules", "answers.check", "answer-check",
			oneOf(func(c *Config) *string { return &c.Answers.Check }, ForEmbedded, ForAll, ForNone)),
		// The flag and the variable of expression.measured are now those of expression.
		oldSetting("expression", "expression.measured", "",
			boolean(func(c *Config) *bool { return &c.Expression.Measured })),
		oldSetting("expression", "expression.told", "tell-feelings",
			oneOf(func(c *Config) *string { return &c.Expression.Models }, ForServers, ForAll, ForNone)),
		oldSetting("retention.keep", "retention.days", "retention-days",
			number(func(c *Config) *int { return &c.Retention.Days }, 0, maxDays)),
		oldSetting("retention.keep", "retention.audio", "retention-audio",
			boolean(func(c *Config) *bool { return &c.Retention.Audio })),
		oldSetting("retention.keep", "retention.history", "retention-history",
			boolean(func(c *Config) *bool { return &c.Retention.History })),
		oldSetting("speech.keep", "speech.keep_days", "speech-keep-days",
			number(func(c *Config) *int { return &c.Speech.GenerationDays }, 0, maxDays)),
		oldSetting("limits.recordings", "limits.recordings_days", "recordings-days",
			number(func(c *Config) *int { return &c.Limits.RecordingsDays }, 0, maxDays)),
	}
}

func oldSetting(into, key, flag string, k kind) Setting {
	return Setting{
		Key:         key,
		Flag:        flag,
		PartOf:      into,
		Placeholder: "VALUE",
		Help:        "Now a part of " + into + ".",
		kind:        k,
	}
}

// allSettings lists the settings and the old names.
func allSettings() []Setting { return append(Settings(), OldSettings()...) }

// inFileMap reports whether the old name is a key of the map that its setting may be in a
// file.
func (s Setting) inFileMap() bool { return strings.HasPrefix(s.Key, s.PartOf+".") }

// renamed returns notes about old names that were used.
func renamed(list []assignment) (notes []string) {
	for _, g := range list {
		if g.PartOf != "" && !(g.inFileMap() && g.inFile) {
			notes = append(notes, fmt.Sprintf("%s (%s) is now a part of %s; the old name still works: see "+
				"docs/configuration.md",
				g.Key, g.source, g.PartOf))
		}
	}
	return notes
}
