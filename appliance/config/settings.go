package config

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"parley/appliance/contract"
	"parley/appliance/text"
	"parley/internal/addresses"
)

// apply sets what one source gave: by old names first, which set parts, so that a
// setting's own name has the last word. Where that takes back what an old one said, the
// source contradicts itself.
func apply(c *Config, list []assignment) error {
	var old, own []assignment
	for _, g := range list {
		if g.PartOf != "" {
			old = append(old, g)
		} else {
			own = append(own, g)
		}
	}
	for _, g := range slices.Concat(old, own) {
		if err := g.set(c, g); err != nil {
			return fmt.Errorf("%s (%s): %w", g.Key, g.sourceOf(err), err)
		}
		c.record(g)
	}
	for _, o := range old {
		again := *c
		err := o.set(&again, o)
		for _, g := range own {
			if g.Key == o.PartOf && (err != nil || !reflect.DeepEqual(again, *c)) {
				return fmt.Errorf("%s (%s) and %s (%s) differ: keep %s alone", o.Key, o.source, g.Key, g.source, g.Key)
			}
		}
	}
	c.Notes = append(c.Notes, renamed(old)...)
	return nil
}

// record notes what a setting was given by. Of old names it notes what each said, too,
// since each says a part.
func (c *Config) record(g assignment) {
	if g.PartOf != "" {
		before, part := c.assigned[g.PartOf], g.Key[strings.LastIndex(g.Key, ".")+1:]
		switch g.Key = g.PartOf; {
		case before.show != nil:
			g.value = before.show(c)
		case before.days != nil: // they are shown as they are in the end
			g.value = before.value
		case before.source == "" || before.source == fromDefault:
			g.value = part + ": " + g.value
		default:
			g.value = before.value + "; " + part + ": " + g.value
		}
		g.kind = before.kind
	}
	c.assigned[g.Key] = g
}

// hostPort reads an address to listen on.
func hostPort(text string) (string, error) {
	_, port, err := net.SplitHostPort(text)
	if n, e := strconv.Atoi(port); err != nil || e != nil || n < 0 || n > 65535 {
		return "", fmt.Errorf("%.80q is not an address: use host:port, such as 127.0.0.1:8080, with a port from 0 to "+
			"65535", text)
	}
	return text, nil
}

// webOrigin reads the origin of web pages.
func webOrigin(text string) (string, error) {
	u, err := url.Parse(text)
	if text != "*" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Path != "") {
		return "", fmt.Errorf("%q is not an origin: use scheme and host, such as https://kiosk.example, or *", text)
	}
	return text, nil
}

func setModelsAllow(c *Config, g assignment) (err error) {
	c.CustomModels.Allow, err = addresses.ParseAllowed(slices.Collect(splitList(g.value)))
	return err
}

var pluginName = matching(`^[a-z0-9-]{1,64}$`, "is not the name of a plugin: a to z, 0 to 9 and - are allowed, at "+
	"most 64 of them; parley plugin list shows the names")

func pluginKey(text string) (string, error) {
	coded, ok := strings.CutPrefix(text, "ed25519:")
	raw, err := base64.StdEncoding.Strict().DecodeString(coded)
	if !ok || err != nil || len(raw) != ed25519.PublicKeySize {
		return "", fmt.Errorf("%.80q is no key: write ed25519: and the 32 bytes of the public key in base64, as "+
			"parley plugin sign prints it", text)
	}
	return text, nil
}

// setLexicon reads WORD=SAID.
func setLexicon(c *Config, g assignment) error {
	entries, err := parsePairs(g.value, "each word once, as WORD=SAID, such as Nguyen=/wɪn/")
	if err != nil {
		return err
	}
	c.Lexicon, err = text.NewLexicon(entries)
	return err
}

// setVoiceAliases reads OLD=NEW.
func setVoiceAliases(c *Config, g assignment) (err error) {
	c.VoiceAliases, err = parsePairs(g.value, "each name once, as OLD=NEW, such as Ava Song=jenny")
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

// parsePairs reads KEY=VALUE, with commas or, as a file has it, lines between them. write
// says how they are written.
func parsePairs(value, write string) (map[string]string, error) {
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

func setLanguageModel(c *Config, g assignment) (err error) {
	c.Engines.LanguageModel, err = parseModel(g.value)
	return err
}

// setOpenAI is the old name of a server's URL, which takes the place of a pack.
func setOpenAI(c *Config, g assignment) (err error) {
	c.Engines.LanguageModel.Pack = ""
	c.Engines.LanguageModel.OpenAI, err = baseURL(g.value)
	return err
}

// baseURL reads the URL of a server to which paths are added.
func baseURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.RawQuery != "" ||
		u.ForceQuery || u.Fragment != "" {
		return "", fmt.Errorf("%.80q is not a base URL, to which a path can be added: use such as "+
			"http://127.0.0.1:8000/v1 or https://HOST", text)
	}
	return strings.TrimRight(text, "/"), nil
}

var variablePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// variable reads the name of an environment variable.
func variable(name string) (string, error) {
	if !variablePattern.MatchString(name) {
		// The value is not repeated: people put the secret itself here.
		return "", errors.New("this is not the name of an environment variable: put the key or the password in one, " +
			"and its name here, such as OPENAI_API_KEY")
	}
	return name, nil
}

var packName = matching(`^[a-z0-9-]{1,40}$`, "is not the name of a pack: use 1 to 40 of a-z, 0-9 and -, such as "+
	"llm-qwen or voice-joe")

// What is kept of chats.
const (
	retainAll     = "all"
	retainText    = "text"
	retainNothing = "nothing"
)

func setRetention(c *Config, g assignment) error {
	var what string
	err := choose(&what, g.value, retainAll, retainText, retainNothing)
	c.Retention.Audio, c.Retention.History = what == retainAll, what != retainNothing
	return err
}

// showRetention writes what holds, which old names may have set in part.
func showRetention(c *Config) string {
	switch {
	case !c.Retention.History:
		return retainNothing
	case !c.Retention.Audio:
		return retainText
	}
	return retainAll
}

// setExpression reads which models are told of feelings, or whether they are measured.
func setExpression(c *Config, g assignment) error {
	e := &c.Expression
	if boolean(func(*Config) *bool { return &e.Measured }).set(c, g) == nil { // off; older files have on, too
		return nil
	}
	e.Measured = true
	return choose(&e.Models, g.value, ForServers, ForAll, ForNone, Off)
}
