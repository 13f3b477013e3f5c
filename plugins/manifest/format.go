package manifest

import (
	"errors"
	"fmt"
	"net/netip"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var (
	namePattern     = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$`)
	toolPattern     = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	settingPattern  = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]{0,63}$`)
	variablePattern = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]{0,127}$`)
	// versionPattern is the pattern of https://semver.org, with one to three numbers.
	versionPattern = regexp.MustCompile(
		`^(0|[1-9][0-9]{0,8})(\.(0|[1-9][0-9]{0,8})){0,2}(-[0-9A-Za-z.-]{1,64})?(\+[0-9A-Za-z.-]{1,64})?$`)
	hostPattern = regexp.MustCompile(
		`^(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$`)
	sizePattern = regexp.MustCompile(`^([0-9]{1,12})\s*(|B|KiB|MiB|GiB)$`)
)

// compiled compiles a schema with custom formats. It loads nothing from elsewhere.
func compiled(doc any, formats map[string]func(any) error) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	for name, check := range formats {
		c.AssertFormat()
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: check})
	}
	const here = "schema.json"
	if err := c.AddResource(here, doc); err != nil {
		return nil, err
	}
	return c.Compile(here)
}

// formats returns the formats of the manifest schema. Each returns an error that says what
// is wrong with a value and what is allowed.
func formats() map[string]func(any) error {
	all := map[string]func(any) error{"parameters": checkParameters}
	for name, check := range map[string]func(text string) error{
		"name":    fits(namePattern, "write at most 64 of a-z, 0-9 and -, without - at either end"),
		"version": fits(versionPattern, "write it like 1.2.0"),
		"file":    checkFile,
		"tool":    checkTool,
		"timeout": checkTimeout,
		"setting": fits(settingPattern,
			"write a letter, then letters, digits and _, at most 64 in all"),
		"host":     checkHost,
		"folder":   checkFolder,
		"variable": checkVariable,
		"storage":  func(text string) error { _, err := bytesOf(text, 0, MaxStorage); return err },
		"memory":   func(text string) error { _, err := bytesOf(text, minMemory, MaxMemory); return err },
	} {
		all[name] = func(value any) error {
			text, isText := value.(string)
			if !isText {
				return nil
			}
			return check(text)
		}
	}
	return all
}

func fits(pattern *regexp.Regexp, rule string) func(string) error {
	return func(text string) error {
		if !pattern.MatchString(text) {
			return fmt.Errorf("invalid value (%.80q): %s", text, rule)
		}
		return nil
	}
}

func checkFile(text string) error {
	if !filepath.IsLocal(text) || filepath.Base(text) != text || len(text) > 200 {
		return fmt.Errorf("invalid file name (%.80q): name a file in the folder of the manifest", text)
	}
	return nil
}

// checkTool refuses names that language runtimes export.
func checkTool(text string) error {
	reserved := []string{OnTurn, OnChatEnd, "memory", "malloc", "free", "main", "hs_init", "hs_exit"}
	if strings.HasPrefix(text, "_") || slices.Contains(reserved, text) {
		return fmt.Errorf("reserved name (%q): choose another", text)
	}
	return fits(toolPattern, "write at most 64 letters, digits, _ and -")(text)
}

func checkTimeout(text string) error {
	if limit, err := time.ParseDuration(text); err != nil || limit < minTimeout || limit > MaxTimeout {
		return fmt.Errorf("invalid duration (%.40q): write it like 2s or 500ms, from %v to %v", text, minTimeout,
			MaxTimeout)
	}
	return nil
}

// checkParameters returns an error if a value is no JSON schema of an object.
func checkParameters(value any) error {
	if o, ok := value.(map[string]any); !ok || o["type"] != "object" {
		return errors.New("not the schema of an object: write {type: object, properties: {…}}")
	}
	if _, err := compiled(value, nil); err != nil {
		text := strings.Join(strings.Fields(err.Error()), " ")
		return fmt.Errorf("not a JSON schema: %s", strings.ToValidUTF8(text[:min(len(text), 300)], ""))
	}
	return nil
}

func checkVariable(text string) error {
	if !variablePattern.MatchString(text) || strings.HasPrefix(strings.ToUpper(text), "SETTING_") {
		return fmt.Errorf("invalid variable name (%.80q): write letters, digits and _, without SETTING_ at the "+
			"beginning", text)
	}
	return nil
}

func checkFolder(text string) error {
	if !path.IsAbs(text) || path.Clean(text) != text {
		return fmt.Errorf("invalid folder (%.80q): write an absolute path without .., like /srv/menu", text)
	}
	return nil
}

func checkHost(host string) error {
	name, port := SplitHost(host)
	no := func(what, allowed string) error { return fmt.Errorf("%s (%.80q): %s", what, host, allowed) }
	const what, allowed = "not a host", "write api.example.org, *.example.org or 192.168.1.20, in lower case, " +
		"international names in their xn-- form, and with :8443 at the end for another port"
	if strings.ContainsAny(host, "/@?# ") {
		return no(what, allowed)
	}
	if port != "" {
		if p, err := strconv.Atoi(port); err != nil || p < 1 || p > 65535 || port != strconv.Itoa(p) {
			return no("invalid port", "write a number from 1 to 65535 after the colon")
		}
	}
	if a, err := netip.ParseAddr(name); err == nil {
		switch {
		case a.Zone() != "" || a.Is4In6() || a.String() != name:
			return no("unusual form of an address", "write "+a.WithZone("").Unmap().String())
		case a.IsUnspecified() || a.IsMulticast():
			return no("not the address of one machine", "unspecified and multicast addresses are not allowed")
		}
		return nil
	}
	if len(name) > 253 || !hostPattern.MatchString(name) {
		return no(what, allowed)
	}
	if last := name[strings.LastIndexByte(name, '.')+1:]; strings.Trim(last, "0123456789") == "" {
		return no("invalid address", "write one such as 192.168.1.20")
	}
	if strings.HasPrefix(name, "*.") && !strings.Contains(name[2:], ".") {
		return no("too many hosts", "write at least two parts after *., like *.example.org")
	}
	return nil
}

// bytesOf parses a number of bytes such as 64MiB; an empty text is 0.
func bytesOf(text string, least, most int64) (int64, error) {
	parts := sizePattern.FindStringSubmatch(text)
	if parts != nil {
		n, _ := strconv.ParseInt(parts[1], 10, 64)
		n <<= map[string]int{"": 0, "B": 0, "KiB": 10, "MiB": 20, "GiB": 30}[parts[2]]
		if n >= least && n <= most {
			return n, nil
		}
	}
	return 0, fmt.Errorf("invalid size (%.40q): write it like 512KiB or 64MiB, from %s to %s", text, Size(least),
		Size(most))
}
