package config

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"parley/appliance/contract"
	"parley/appliance/text"
	"parley/internal/addresses"
)

// apply sets what one source gave.
func apply(c *Config, list []given) error {
	embedded, server := given{}, given{}
	for _, g := range list {
		if err := g.set(c, g); err != nil {
			return fmt.Errorf("%s (%s): %w", g.Key, g.placeOf(err), err)
		}
		if c.given != nil {
			c.given[g.Key] = g
		}
		switch g.Key {
		case languageModel:
			embedded = g
		case languageModel + ".openai":
			server = g
		}
	}
	if embedded.Key != "" && server.Key != "" {
		return fmt.Errorf("engines.language_model: %s names an embedded model and %s a server: set one of them",
			embedded.where, server.where)
	}
	return nil
}

func setListen(c *Config, g given) error {
	_, port, err := net.SplitHostPort(g.value)
	if n, e := strconv.Atoi(port); err != nil || e != nil || n < 0 || n > 65535 {
		return fmt.Errorf("%q is not an address: use host:port, such as 127.0.0.1:8080, with a port from 0 to 65535",
			g.value)
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

func setModelsAllow(c *Config, g given) (err error) {
	var entries []string
	for entry := range strings.SplitSeq(g.value, ",") {
		if entry = strings.TrimSpace(entry); entry != "" {
			entries = append(entries, entry)
		}
	}
	c.CustomModels.Allow, err = addresses.ParseAllowed(entries)
	return err
}

func setPlugins(c *Config, g given) error {
	c.Plugins = nil
	for name := range strings.SplitSeq(g.value, ",") {
		name = strings.TrimSpace(name)
		switch {
		case name == "" || slices.Contains(c.Plugins, name):
			continue
		case len(name) > 64 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
			return fmt.Errorf("%q is not the name of a plugin: a to z, 0 to 9 and - are allowed, at most 64 of them; "+
				"parley plugin list shows the names", name)
		}
		c.Plugins = append(c.Plugins, name)
	}
	return nil
}

func setPluginKeys(c *Config, g given) error {
	c.PluginSignatures.Keys = nil
	for key := range strings.SplitSeq(g.value, ",") {
		if key = strings.TrimSpace(key); key == "" {
			continue
		}
		coded, ok := strings.CutPrefix(key, "ed25519:")
		raw, err := base64.StdEncoding.Strict().DecodeString(coded)
		if !ok || err != nil || len(raw) != ed25519.PublicKeySize {
			return fmt.Errorf("%.80q is no key: write ed25519: and the 32 bytes of the public key in base64, as "+
				"parley plugin sign prints it", key)
		}
		c.PluginSignatures.Keys = append(c.PluginSignatures.Keys, key)
	}
	return nil
}

// setLexicon reads WORD=SAID.
func setLexicon(c *Config, g given) error {
	entries, err := pairsOf(g.value, "each word once, as WORD=SAID, such as Nguyen=/wɪn/")
	if err != nil {
		return err
	}
	c.Lexicon, err = text.NewLexicon(entries)
	return err
}

// setVoiceAliases reads OLD=NEW.
func setVoiceAliases(c *Config, g given) (err error) {
	c.VoiceAliases, err = pairsOf(g.value, "each name once, as OLD=NEW, such as Ava Song=jenny")
	folded := map[string]bool{}
	for name, voice := range c.VoiceAliases {
		if err := contract.CheckAliasedName(name); err != nil {
			return fmt.Errorf("%.80q is not allowed: %w", name, err)
		}
		if folded[strings.ToLower(name)] {
			return fmt.Errorf("%.80q stands there twice, but for capitals", name)
		}
		folded[strings.ToLower(name)] = true
		if c.VoiceAliases[name] = strings.TrimSpace(voice); c.VoiceAliases[name] == "" {
			return fmt.Errorf("%.80q stands for no voice: write the name or id of one", name)
		}
	}
	return err
}

// pairsOf reads KEY=VALUE, with commas or, as a file has it, lines between them. write
// says how they are written.
func pairsOf(value, write string) (map[string]string, error) {
	between := ","
	if strings.Contains(value, "\n") {
		between = "\n"
	}
	entries := map[string]string{}
	for entry := range strings.SplitSeq(value, between) {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		key, said, ok := strings.Cut(entry, "=")
		key = strings.TrimSpace(key)
		if _, twice := entries[key]; !ok || twice {
			return nil, fmt.Errorf("%.80q is not allowed: write %s", entry, write)
		}
		entries[key] = said
	}
	return entries, nil
}

func setLanguageModel(c *Config, g given) error {
	c.Engines.LanguageModel = LanguageModel{}
	return packName(&c.Engines.LanguageModel.Pack, g, "llm-qwen")
}

func setVoice(c *Config, g given) error { return packName(&c.Engines.Voice, g, "voice-joe") }

func setServerModel(c *Config, g given) error {
	c.Engines.LanguageModel.Model = g.value
	return nil
}

func setOpenAI(c *Config, g given) (err error) {
	if c.Engines.LanguageModel.OpenAI, err = baseURL(g.value, "http://HOST:PORT/v1 or https://HOST/v1"); err == nil {
		c.Engines.LanguageModel.Pack = ""
	}
	return err
}

func setWebSearch(c *Config, g given) (err error) {
	c.WebSearch, err = baseURL(g.value, "such as http://127.0.0.1:8888")
	return err
}

// baseURL is the URL of a server to which paths are added.
func baseURL(text, example string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.RawQuery != "" ||
		u.ForceQuery || u.Fragment != "" {
		return "", fmt.Errorf("%.80q is not a base URL, to which a path can be added: use %s", text, example)
	}
	return strings.TrimRight(text, "/"), nil
}

func setKeyEnv(c *Config, g given) error {
	if !isVariable(g.value) {
		// The value is not repeated: people put the key itself here.
		return fmt.Errorf("this is not the name of an environment variable: put the key in one, and its name here, " +
			"such as OPENAI_API_KEY")
	}
	c.Engines.LanguageModel.KeyEnv = g.value
	return nil
}

// isVariable tells whether name may be that of an environment variable: letters,
// digits and _, not beginning with a digit.
func isVariable(name string) bool {
	return name != "" && madeOf(name, lower+upper+digits+"_") && !strings.Contains(digits, name[:1])
}

// isPackName tells whether name may be that of a pack.
func isPackName(name string) bool {
	return name != "" && len(name) <= 40 && madeOf(name, lower+digits+"-")
}

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
)

// madeOf tells whether text has no characters but those.
func madeOf(text, characters string) bool { return strings.Trim(text, characters) == "" }

func packName(dst *string, g given, example string) error {
	if !isPackName(g.value) {
		return fmt.Errorf("%q is not the name of a pack: use 1 to 40 of a-z, 0-9 and -, such as %s", g.value, example)
	}
	*dst = g.value
	return nil
}
