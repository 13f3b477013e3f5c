package config

import (
	"strings"
	"testing"
)

func TestOldNamesSetTheirPart(t *testing.T) {
	for _, c := range []struct{ was, is string }{
		{"webrtc: {servers: 'turn:a.example:1', username: box, password_env: TURN}",
			"webrtc: {servers: ['turn:a.example:1|box|TURN']}"},
		{"tls: {cert: /c, key: /k}", "tls: /c,/k"},
		{"kiosk: {input: usb mic, output: hdmi}", "kiosk: {devices: usb mic|hdmi}"},
		{"kiosk: {input: puck, output: puck}", "kiosk: {devices: puck}"},
		{"kiosk: {keyboard: /dev/input/event3, gpio: 'gpiochip0:17:high'}",
			"kiosk: {button: [/dev/input/event3, 'gpiochip0:17:high']}"},
		{"engines: {language_model: {openai: http://h/v1, model: m, key_env: KEY}}",
			"engines: {language_model: http://h/v1|m|KEY}"},
		{"engines: {language_model: {openai: http://h/v1, model: m}}", "engines: {language_model: http://h/v1|m}"},
		{"answers: {rules: never, check: never}", "answers: {rules: never}"},
		{"expression: {measured: on, told: never}", "expression: never"},
		{"expression: {measured: off}", "expression: off"},
		{"expression: {measured: off}", "expression: false"},
		{"retention: {days: 30, audio: off}", "retention: {keep: text for 30 days}"},
		{"retention: {history: off, audio: off}", "retention: {keep: nothing}"},
		{"retention: {audio: on, history: yes}", "retention: {keep: all for ever}"},
		{"speech: {keep: 9, keep_days: 1}", "speech: {keep: 9 for 1 day}"},
		{"speech: {keep_days: 0}", "speech: {keep: 1000 for ever}"},
		{"limits: {recordings: 20GB, recordings_days: 7}", "limits: {recordings: 20GB for 7 days}"},
	} {
		was, is := load(t, newSources(t, c.was)), load(t, newSources(t, c.is))
		for _, cfg := range []*Config{&was, &is} { // their home folders differ
			cfg.Data, cfg.Packs = "", ""
		}
		if !equal(was, is) {
			t.Errorf("%s\n%+v\n%s\n%+v", c.was, was, c.is, is)
		}
	}
}

// A source with higher precedence wins with old and current names, and leaves the other
// parts unchanged.
func TestPrecedenceHoldsForOldNames(t *testing.T) {
	s := newSources(t, "retention: {keep: all for 30 days}\nspeech: {keep: 5, keep_days: 6}\n")
	s.Environ = []string{"PARLEY_RETENTION_AUDIO=off", "PARLEY_SPEECH_KEEP=7 for 8 days"}
	c := load(t, s)
	if c.Retention != (Retention{Days: 30, History: true}) || c.Speech.Generations != 7 ||
		c.Speech.GenerationDays != 8 {
		t.Errorf("the environment: %+v, %+v", c.Retention, c.Speech)
	}
	s.Flags["retention.keep"], s.Flags["speech.keep_days"] = "all", "9"
	c = load(t, s)
	if c.Retention != (Retention{Days: 30, History: true, Audio: true}) || c.Speech.Generations != 7 ||
		c.Speech.GenerationDays != 9 {
		t.Errorf("the flags: %+v, %+v", c.Retention, c.Speech)
	}
	for _, e := range c.Effective() {
		switch e.Key {
		case "retention.keep":
			if e.Value != "all for 30 days" || e.From != "--retention-keep" {
				t.Errorf("%q from %s", e.Value, e.From)
			}
		case "speech.keep":
			if e.Value != "7 for 9 days" || e.From != "--speech-keep-days" {
				t.Errorf("%q from %s", e.Value, e.From)
			}
		}
	}
}

func TestContradictingNamesAreRefused(t *testing.T) {
	for text, names := range map[string][]string{
		"retention: {keep: text, audio: on}": {"retention.audio (", "retention.keep (",
			FileName + ":1"},
		"retention: {keep: all for 7 days, days: 8}":           {"retention.days", "retention.keep"},
		"speech: {keep: 9 for 9 days, keep_days: 8}":           {"speech.keep_days", "speech.keep ("},
		"kiosk: {devices: a|b, output: c}":                     {"kiosk.output", "kiosk.devices"},
		"webrtc: {servers: 'turn:a|b|C', username: d}":         {"webrtc.username", "webrtc.servers"},
		"limits: {recordings: 1 for ever, recordings_days: 1}": {"limits.recordings_days", "limits.recordings ("},
	} {
		_, err := Load(newSources(t, text))
		for _, name := range names {
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v; want %q", text, err, name)
			}
		}
	}
	for _, text := range []string{"retention: {keep: text, audio: off, days: 8}", "speech: {keep: 9, keep_days: 8}",
		"kiosk: {devices: a|b, output: b}"} {
		load(t, newSources(t, text)) // they agree
	}
	s := newSources(t, "")
	s.Environ = []string{"PARLEY_LANGUAGE_MODEL=llm-qwen", "PARLEY_OPENAI=http://h/v1", "PARLEY_OPENAI_MODEL=m"}
	if _, err := Load(s); err == nil || !strings.Contains(err.Error(), "PARLEY_OPENAI") ||
		!strings.Contains(err.Error(), "PARLEY_LANGUAGE_MODEL") {
		t.Errorf("two models: %v", err)
	}
}

func TestOldNamesAreNotedOnce(t *testing.T) {
	s := newSources(t, "retention: {days: 7}\ntls: {cert: /c, key: /k}\nspeech: {keep: 9}\n")
	s.Environ = []string{"PARLEY_KIOSK_INPUT=puck"}
	notes := load(t, s).Notes
	if len(notes) != 2 || !strings.Contains(notes[0], "retention.days") ||
		!strings.Contains(notes[0], "retention.keep") || !strings.Contains(notes[1], "PARLEY_KIOSK_INPUT") ||
		!strings.Contains(notes[1], "kiosk.devices") {
		t.Errorf("%q", notes)
	}
}

func TestSwitchesAreTrueOrFalseInEveryWord(t *testing.T) {
	for word, want := range map[string]bool{"true": true, "on": true, "yes": true, "True": true, "false": false,
		"off": false, "no": false} {
		for _, text := range []string{"strict_models: " + word, "strict_models: '" + word + "'"} {
			if c := load(t, newSources(t, text)); c.StrictModels != want {
				t.Errorf("%s is %v", text, c.StrictModels)
			}
		}
	}
}

func TestInvalidMergedValuesAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"retention: {keep: some}":                             "all, text, nothing",
		"retention: {keep: all for 30}":                       "all for 30 days",
		"retention: {keep: all for 0 days}":                   "for ever",
		"retention: {keep: all for 99999 days}":               "1 to 36500 days",
		"speech: {keep: many for 3 days}":                     "0 to 100000",
		"expression: loud":                                    "servers, always, never, off",
		"webrtc: {servers: ['turn:a|b|C', 'turn:d|e|F']}":     "all TURN servers must have the same",
		"webrtc: {servers: 'turn:a|b'}":                       "environment variable",
		"webrtc: {servers: 'turn:a|'}":                        "1 to 300 characters",
		"kiosk: {button: doorbell}":                           "gpiochip0:17",
		"engines: {language_model: http://h/v1}":              "URL|MODEL",
		"engines: {language_model: http://h/v1|m|sk-se-cret}": "not the name of an environment variable",
		"tls: {acme: letsencrypt}":                            "tls.names",
		"tls: https://ca.lan/dir|me":                          "tls.names",
	} {
		if _, err := Load(newSources(t, text)); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "sk-se-cret") {
			t.Errorf("%s: %v; want %q", text, err, want)
		}
	}
}

func TestACMEServerIsSetByOneValue(t *testing.T) {
	s := newSources(t, "")
	s.Environ = []string{"PARLEY_TLS=https://ca.lan/dir|m@a.b|/r", "PARLEY_TLS_NAMES=a.b"}
	if got := load(t, s).TLS; got.Mode != TLSACME || got.Directory != "https://ca.lan/dir" || got.Email != "m@a.b" ||
		got.Roots != "/r" {
		t.Errorf("%+v", got)
	}
	s.Environ[0] = "PARLEY_TLS=acme|m@a.b"
	if got := load(t, s).TLS; got.Mode != TLSACME || got.Directory != letsEncrypt || got.Email != "m@a.b" ||
		got.Roots != "" {
		t.Errorf("%+v", got)
	}
}
