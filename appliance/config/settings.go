package config

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"parley/firmware/packs"
)

// A setting is one thing an operator may set. It has one name in a file, one
// as a flag, one in the environment, and one function that understands its
// value wherever it came from.
type setting struct {
	key  string // in parley.yaml, with dots between levels
	flag string
	set  func(c *Config, g given) error
}

// env is the setting's environment variable.
func (s setting) env() string {
	return "PARLEY_" + strings.ToUpper(strings.ReplaceAll(s.flag, "-", "_"))
}

// given is a value somebody gave for a setting.
type given struct {
	setting
	value string
	where string // parley.yaml:3, PARLEY_DATA, --data
	dir   string // where relative paths start
	home  string
}

func (g given) path() string { return absolute(g.value, g.dir, g.home) }

// SettingNames are the names under which one setting is known.
type SettingNames struct{ Key, Flag, Env string }

// Settings lists all settings, in the order in which they are documented.
func Settings() []SettingNames {
	var list []SettingNames
	for _, s := range settings {
		list = append(list, SettingNames{Key: s.key, Flag: s.flag, Env: s.env()})
	}
	return list
}

var settings = []setting{
	{"data", "data", func(c *Config, g given) error { c.Data = g.path(); return nil }},
	{"listen", "listen", setListen},
	{"tls", "tls", setTLS},
	{"tls.cert", "tls-cert", setTLSCert},
	{"tls.key", "tls-key", setTLSKey},
	{"tls.names", "tls-names", setTLSNames},
	{"tls.acme", "tls-acme", setTLSACME},
	{"tls.email", "tls-email", setTLSEmail},
	{"tls.roots", "tls-roots", func(c *Config, g given) error { c.TLS.Roots = g.path(); return nil }},
	{"origins", "origins", setOrigins},
	{"packs", "packs", func(c *Config, g given) error { c.Packs = g.path(); return nil }},
	{"profile", "profile", func(c *Config, g given) error {
		return oneOf(&c.Profile, g, packs.Profiles()...)
	}},
	{"engines.transcriber", "transcriber", func(c *Config, g given) error {
		return oneOf(&c.Engines.Transcriber, g, "moonshine", "whisper")
	}},
	{"engines.language_model", "language-model", func(c *Config, g given) error {
		c.Engines.LanguageModel = LanguageModel{}
		return packName(&c.Engines.LanguageModel.Pack, g, "llm-qwen")
	}},
	{"engines.language_model.openai", "openai", setOpenAI},
	{"engines.language_model.model", "openai-model", func(c *Config, g given) error {
		c.Engines.LanguageModel.Model = g.value
		return nil
	}},
	{"engines.language_model.key_env", "openai-key-env", setKeyEnv},
	{"engines.voice", "voice", func(c *Config, g given) error {
		return packName(&c.Engines.Voice, g, "voice-joe")
	}},
	{"engines.threads", "threads", func(c *Config, g given) error {
		return number(&c.Engines.Threads, g, 0, 256)
	}},
	{"routes", "routes", setRoutes},
	{"strict_models", "strict-models", func(c *Config, g given) error { return boolean(&c.StrictModels, g) }},
	{"chat.max_chats", "max-chats", func(c *Config, g given) error {
		return number(&c.Chat.MaxChats, g, 0, 1000)
	}},
	{"retention.days", "retention-days", func(c *Config, g given) error {
		return number(&c.Retention.Days, g, 0, 36500)
	}},
	{"retention.audio", "retention-audio", func(c *Config, g given) error { return onOff(&c.Retention.Audio, g) }},
	{"retention.history", "retention-history", func(c *Config, g given) error { return onOff(&c.Retention.History, g) }},
	{"log.level", "log-level", setLogLevel},
	{"log.format", "log-format", func(c *Config, g given) error {
		return oneOf(&c.Log.Format, g, "auto", "text", "json")
	}},
}

// apply sets what one source gave.
func apply(c *Config, list []given) error {
	embedded, server := given{}, given{}
	for _, g := range list {
		if err := g.set(c, g); err != nil {
			return fmt.Errorf("%s (%s): %w", g.key, g.where, err)
		}
		switch g.key {
		case "engines.language_model":
			embedded = g
		case "engines.language_model.openai":
			server = g
		}
	}
	if embedded.key != "" && server.key != "" {
		return fmt.Errorf("engines.language_model: %s names an embedded model and %s a server: set one of them", embedded.where, server.where)
	}
	return nil
}

func setListen(c *Config, g given) error {
	_, port, err := net.SplitHostPort(g.value)
	if n, e := strconv.Atoi(port); err != nil || e != nil || n < 0 || n > 65535 {
		return fmt.Errorf("%q is not an address: use host:port, such as 127.0.0.1:8080, with a port from 0 to 65535", g.value)
	}
	c.Listen = g.value
	return nil
}

func setOrigins(c *Config, g given) error {
	c.Origins = nil
	for origin := range strings.SplitSeq(g.value, ",") {
		origin = strings.TrimSpace(origin)
		if origin == "" {
			continue
		}
		u, err := url.Parse(origin)
		if origin != "*" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Path != "") {
			return fmt.Errorf("%q is not an origin: use scheme and host, such as https://kiosk.example, or *", origin)
		}
		c.Origins = append(c.Origins, origin)
	}
	return nil
}

func setOpenAI(c *Config, g given) error {
	u, err := url.Parse(g.value)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%q is not a base URL: use http://HOST:PORT/v1 or https://HOST/v1", g.value)
	}
	c.Engines.LanguageModel.Pack = ""
	c.Engines.LanguageModel.OpenAI = strings.TrimRight(g.value, "/")
	return nil
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func setKeyEnv(c *Config, g given) error {
	if !variableName.MatchString(g.value) {
		// The value is not repeated: people put the key itself here.
		return fmt.Errorf("this is not the name of an environment variable: put the key in one, and its name here, such as OPENAI_API_KEY")
	}
	c.Engines.LanguageModel.KeyEnv = g.value
	return nil
}

func setLogLevel(c *Config, g given) error {
	var name string
	if err := oneOf(&name, g, "debug", "info", "warn", "error"); err != nil {
		return err
	}
	return c.Log.Level.UnmarshalText([]byte(name))
}

func oneOf(dst *string, g given, allowed ...string) error {
	if !slices.Contains(allowed, g.value) {
		return fmt.Errorf("%q is not allowed: use one of %s", g.value, strings.Join(allowed, ", "))
	}
	*dst = g.value
	return nil
}

// onOff takes what YAML may have made of the two words.
func onOff(dst *bool, g given) error {
	var word string
	if err := oneOf(&word, g, "on", "off", "true", "false"); err != nil {
		return fmt.Errorf("%q is not allowed: use on or off", g.value)
	}
	*dst = word == "on" || word == "true"
	return nil
}

func number(dst *int, g given, low, high int) error {
	n, err := strconv.Atoi(g.value)
	if err != nil || n < low || n > high {
		return fmt.Errorf("%q is not allowed: use a whole number from %d to %d", g.value, low, high)
	}
	*dst = n
	return nil
}

func boolean(dst *bool, g given) error {
	switch g.value {
	case "true":
		*dst = true
	case "false":
		*dst = false
	default:
		return fmt.Errorf("%.80q is not allowed: use true or false", g.value)
	}
	return nil
}

var packNames = regexp.MustCompile(`^[a-z0-9-]{1,40}$`)

func packName(dst *string, g given, example string) error {
	if !packNames.MatchString(g.value) {
		return fmt.Errorf("%q is not the name of a pack: use 1 to 40 of a-z, 0-9 and -, such as %s", g.value, example)
	}
	*dst = g.value
	return nil
}
