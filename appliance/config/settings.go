package config

import (
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
	"parley/internal/signing"
)

// apply sets what one source assigned: old names first, which set parts, and then the
// settings themselves, which have precedence. If a setting contradicts an old name from the
// same source, apply returns an error.
func apply(c *Config, list []assignment) error {
	var old, current []assignment
	for _, g := range list {
		if g.PartOf != "" {
			old = append(old, g)
		} else {
			current = append(current, g)
		}
	}
	for _, g := range slices.Concat(old, current) {
		if err := g.set(c, g); err != nil {
			return fmt.Errorf("%s (%s): %w", g.Key, g.sourceOf(err), err)
		}
		c.record(g)
	}
	for _, o := range old {
		again := *c
		err := o.set(&again, o)
		for _, g := range current {
			if g.Key == o.PartOf && (err != nil || !reflect.DeepEqual(again, *c)) {
				return fmt.Errorf("%s (%s) and %s (%s) differ: keep %s alone", o.Key, o.source, g.Key, g.source, g.Key)
			}
		}
	}
	c.Notes = append(c.Notes, renamed(old)...)
	return nil
}

// record stores the assignment of a setting, for Effective. For an old name it adds what
// that sets, since each sets a part.
func (c *Config) record(g assignment) {
	if g.PartOf != "" {
		before, part := c.assigned[g.PartOf], g.Key[strings.LastIndex(g.Key, ".")+1:]
		switch g.Key = g.PartOf; {
		case before.show != nil:
			g.value = before.show(c)
		case before.days != nil: // Effective shows the final days
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

// hostPort parses an address to listen on.
func hostPort(text string) (string, error) {
	_, port, err := net.SplitHostPort(text)
	if n, e := strconv.Atoi(port); err != nil || e != nil || n < 0 || n > 65535 {
		return "", fmt.Errorf("%.80q is not an address: use host:port, such as 127.0.0.1:8080, with a port from 0 to "+
			"65535", text)
	}
	return text, nil
}

// webOrigin parses the origin of web pages.
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

var pluginName = matching(`^[a-z0-9-]{1,64}$`, "is not the name of a plugin: use at most 64 of a-z, 0-9 and -; "+
	"parley plugin list shows the names")

func pluginKey(text string) (string, error) {
	key, err := signing.ParseKey(text)
	return string(key), err
}

// setLexicon parses WORD=SAID.
func setLexicon(c *Config, g assignment) error {
	entries, err := parsePairs(g.value, "each word once, as WORD=SAID, such as Nguyen=/wɪn/")
	if err != nil {
		return err
	}
	c.Lexicon, err = text.NewLexicon(entries)
	return err
}

// setVoiceAliases parses OLD=NEW.
func setVoiceAliases(c *Config, g assignment) (err error) {
	c.VoiceAliases, err = parsePairs(g.value, "each name once, as OLD=NEW, such as Ava Song=jenny")
	folded := map[string]bool{}
	for name, voice := range c.VoiceAliases {
		if err := contract.CheckAliasedName(name); err != nil {
			return fmt.Errorf("%.80q is not allowed: %w", name, err)
		}
		if folded[strings.ToLower(name)] {
			return fmt.Errorf("%.80q is there twice, apart from capitals", name)
		}
		folded[strings.ToLower(name)] = true
		if c.VoiceAliases[name] = strings.TrimSpace(voice); c.VoiceAliases[name] == "" {
			return fmt.Errorf("%.80q has no voice: write the name or id of one", name)
		}
	}
	return err
}

// parsePairs parses KEY=VALUE entries, with commas or, from a file, line breaks between
// them. form describes the entries for errors.
func parsePairs(value, form string) (map[string]string, error) {
	separator := ","
	if strings.Contains(value, "\n") {
		separator = "\n"
	}
	entries := map[string]string{}
	for entry := range strings.SplitSeq(value, separator) {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		key, text, ok := strings.Cut(entry, "=")
		key = strings.TrimSpace(key)
		if _, twice := entries[key]; !ok || twice {
			return nil, fmt.Errorf("%.80q is not allowed: write %s", entry, form)
		}
		entries[key] = text
	}
	return entries, nil
}

// setOpenAI parses the old setting of a server's URL, which replaces a pack.
func setOpenAI(c *Config, g assignment) (err error) {
	c.Engines.LanguageModel.Pack = ""
	c.Engines.LanguageModel.OpenAI, err = baseURL(g.value)
	return err
}

// baseURL parses the URL of a server to which paths are added.
func baseURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.RawQuery != "" ||
		u.ForceQuery || u.Fragment != "" {
		return "", fmt.Errorf("%.80q is not a base URL to which a path can be added: use a URL such as "+
			"http://127.0.0.1:8000/v1 or https://HOST", text)
	}
	return strings.TrimRight(text, "/"), nil
}

var variablePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// variable parses the name of an environment variable.
func variable(name string) (string, error) {
	if !variablePattern.MatchString(name) {
		// The error does not repeat the value: people put the secret itself here.
		return "", errors.New("this is not the name of an environment variable: put the key or the password in one, " +
			"and its name here, such as OPENAI_API_KEY")
	}
	return name, nil
}

var packName = matching(`^[a-z0-9-]{1,40}$`, "is not the name of a pack: use 1 to 40 of a-z, 0-9 and -, such as "+
	"llm-qwen or voice-joe")

// The values of retention.keep.
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

// showRetention returns the effective value, which old names may have set in part.
func showRetention(c *Config) string {
	switch {
	case !c.Retention.History:
		return retainNothing
	case !c.Retention.Audio:
		return retainText
	}
	return retainAll
}

// setExpression parses which models get feelings, or whether feelings are measured.
func setExpression(c *Config, g assignment) error {
	e := &c.Expression
	if boolean(func(*Config) *bool { return &e.Measured }).set(c, g) == nil { // off; older files also have on
		return nil
	}
	e.Measured = true
	return choose(&e.Models, g.value, ForServers, ForAll, ForNone, Off)
}
