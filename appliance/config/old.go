package config

import (
	"fmt"
	"strings"
)

// Old lists the names that settings had before several became one. They are read
// wherever settings are: each sets its part of the setting that Into names.
func Old() []Setting {
	return []Setting{
		old("webrtc.servers", "webrtc.username", "webrtc-username",
			words(func(c *Config) *string { return &c.WebRTC.Username })),
		old("webrtc.servers", "webrtc.password_env", "webrtc-password-env",
			one("", func(c *Config) *string { return &c.WebRTC.PasswordEnv }, variable)),
		old("tls", "tls.cert", "tls-cert", custom("", setTLSCert)),
		old("tls", "tls.key", "tls-key", custom("", setTLSKey)),
		old("tls", "tls.acme", "tls-acme", custom("", setTLSACME)),
		old("tls", "tls.email", "tls-email", one("", func(c *Config) *string { return &c.TLS.Email }, email)),
		old("tls", "tls.roots", "tls-roots", path(func(c *Config) *string { return &c.TLS.Roots })),
		old("kiosk.devices", "kiosk.input", "kiosk-input",
			words(func(c *Config) *string { return &c.Kiosk.Input })),
		old("kiosk.devices", "kiosk.output", "kiosk-output",
			words(func(c *Config) *string { return &c.Kiosk.Output })),
		old("kiosk.button", "kiosk.keyboard", "kiosk-keyboard",
			one("", func(c *Config) *string { return &c.Kiosk.Keyboard }, inputDevice)),
		old("kiosk.button", "kiosk.gpio", "kiosk-gpio", custom("", setGPIO)),
		old(languageModel, languageModel+".openai", "openai", custom("", setOpenAI)),
		old(languageModel, languageModel+".model", "openai-model",
			words(func(c *Config) *string { return &c.Engines.LanguageModel.Model })),
		old(languageModel, languageModel+".key_env", "openai-key-env",
			one("", func(c *Config) *string { return &c.Engines.LanguageModel.KeyEnv }, variable)),
		old("answers.rules", "answers.check", "answer-check",
			oneOf(func(c *Config) *string { return &c.Answers.Check }, ForEmbedded, ForAll, ForNone)),
		// The flag and the variable of expression.measured are those of expression now.
		old("expression", "expression.measured", "",
			boolean(func(c *Config) *bool { return &c.Expression.Measured })),
		old("expression", "expression.told", "tell-feelings",
			oneOf(func(c *Config) *string { return &c.Expression.Told }, ForServers, ForAll, ForNone)),
		old("retention.keep", "retention.days", "retention-days",
			number(func(c *Config) *int { return &c.Retention.Days }, 0, mostDays)),
		old("retention.keep", "retention.audio", "retention-audio",
			boolean(func(c *Config) *bool { return &c.Retention.Audio })),
		old("retention.keep", "retention.history", "retention-history",
			boolean(func(c *Config) *bool { return &c.Retention.History })),
		old("speech.keep", "speech.keep_days", "speech-keep-days",
			number(func(c *Config) *int { return &c.Speech.KeepDays }, 0, mostDays)),
		old("limits.recordings", "limits.recordings_days", "recordings-days",
			number(func(c *Config) *int { return &c.Limits.RecordingsDays }, 0, mostDays)),
	}
}

func old(into, key, flag string, k kind) Setting {
	return Setting{
		Key:   key,
		Flag:  flag,
		Into:  into,
		Takes: "VALUE",
		Help:  "Now " + into + ".",
		kind:  k,
	}
}

// every lists the settings and their old names.
func every() []Setting { return append(Settings(), Old()...) }

// inMap tells whether an old name is a key of the map that its setting may be in a file.
func (s Setting) inMap() bool { return strings.HasPrefix(s.Key, s.Into+".") }

// renamed notes that old names were used.
func renamed(list []given) (notes []string) {
	for _, g := range list {
		if g.Into != "" && !(g.inMap() && g.inFile) {
			notes = append(notes, fmt.Sprintf("%s (%s) is a part of %s now, and still read: see docs/configuration.md",
				g.Key, g.where, g.Into))
		}
	}
	return notes
}
