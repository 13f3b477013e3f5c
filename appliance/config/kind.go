package config

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"parley/appliance/text"
)

// kind is the type of a setting: which values it may have, and how they are parsed.
type kind struct {
	allowed     string // the allowed values, in Markdown
	set         func(c *Config, g assignment) error
	isList      bool                   // in YAML the value may be a list; as text it has commas
	isMap       bool                   // in YAML the value is a map; as text it has a line KEY=VALUE for each entry
	secret      bool                   // the value is not shown
	keys        []mapKeyName           // in YAML the value is a list of maps with these keys; only a file can hold it
	placeholder string                 // stands for the value in help
	days        func(c *Config) *int   // field of the N in "VALUE for N days"; nil if there is none
	show        func(c *Config) string // returns the effective value, if old names can set parts of it
}

// custom returns the kind of one particular setting.
func custom(allowed string, set func(*Config, assignment) error) kind {
	return kind{allowed: allowed, set: set}
}

// textKind returns a kind of text. parse checks a value and returns what is stored.
func textKind(allowed string, at func(*Config) *string, parse func(string) (string, error)) kind {
	return custom(allowed, func(c *Config, g assignment) (err error) {
		*at(c), err = parse(g.value)
		return err
	})
}

// matching returns a parser of text that the pattern matches; wrong says what is wrong with
// other text, and what is allowed.
func matching(pattern, wrong string) func(string) (string, error) {
	p := regexp.MustCompile(pattern)
	return func(text string) (string, error) {
		if !p.MatchString(text) {
			return "", fmt.Errorf("%.80q %s", text, wrong)
		}
		return text, nil
	}
}

// textListKind returns a kind of lists of text. parse checks an item and returns what is
// stored.
func textListKind(allowed string, at func(*Config) *[]string, parse func(item string) (string, error)) kind {
	return listKind(allowed, func(c *Config, g assignment) error {
		*at(c) = nil
		for item := range splitList(g.value) {
			text, err := parse(item)
			if err != nil {
				return err
			}
			if !slices.Contains(*at(c), text) {
				*at(c) = append(*at(c), text)
			}
		}
		return nil
	})
}

// listKind returns a custom kind that may be a list in YAML.
func listKind(allowed string, set func(*Config, assignment) error) kind {
	return kind{
		allowed:     allowed,
		set:         set,
		isList:      true,
		placeholder: "LIST",
	}
}

// splitList yields the items of a list that is written as one text, with commas.
func splitList(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for item := range strings.SplitSeq(text, ",") {
			if item = strings.TrimSpace(item); item != "" && !yield(item) {
				return
			}
		}
	}
}

// mapKind returns a custom kind that is a map with arbitrary keys in YAML.
func mapKind(allowed string, set func(*Config, assignment) error) kind {
	return kind{allowed: allowed, set: set, isMap: true}
}

// assignment is a value that a source assigns to a setting.
type assignment struct {
	Setting
	value        string
	source       string // parley.yaml:3, PARLEY_DATA, --data
	dir          string // the base of relative paths
	home         string
	entrySources map[string]string // where each entry of a map was set
	maps         []fileMap         // the value of a list of maps
	inFile       bool              // the source is the file
}

// sourceOf returns where the cause of an error was set.
func (a assignment) sourceOf(err error) string {
	if entry, ok := errors.AsType[text.ErrEntry](err); ok {
		return cmp.Or(a.entrySources[entry.Word], a.source)
	}
	if m, ok := errors.AsType[mapError](err); ok {
		return m.source
	}
	return a.source
}

func (a assignment) path() string { return absolute(a.value, a.dir, a.home) }

// path returns the kind of paths. at returns the field for the value, here and in the kinds
// below.
func path(at func(*Config) *string) kind {
	k := custom("a path", func(c *Config, g assignment) error {
		if strings.TrimSpace(g.value) == "" { // would be the working folder, which is never meant
			return errors.New("the path is empty: name one, or leave it out")
		}
		*at(c) = g.path()
		return nil
	})
	k.placeholder = "DIR"
	return k
}

// oneOf returns the kind of a choice between words.
func oneOf(at func(*Config) *string, allowed ...string) kind {
	return custom("`"+strings.Join(allowed, "`, `")+"`", func(c *Config, g assignment) error {
		return choose(at(c), g.value, allowed...)
	})
}

func choose(dst *string, word string, allowed ...string) error {
	if !slices.Contains(allowed, word) {
		return fmt.Errorf("%.80q is not allowed: use one of %s", word, strings.Join(allowed, ", "))
	}
	*dst = word
	return nil
}

// number returns the kind of whole numbers from low to high.
func number(at func(*Config) *int, low, high int) kind {
	k := custom(fmt.Sprintf("%d to %d", low, high), func(c *Config, g assignment) error {
		n, err := strconv.Atoi(g.value)
		if err != nil || n < low || n > high {
			return fmt.Errorf("%.80q is not allowed: use a whole number from %d to %d", g.value, low, high)
		}
		*at(c) = n
		return nil
	})
	k.placeholder = "N"
	return k
}

// daysInWords returns " for N days", or " for ever" for 0.
func daysInWords(days int) string {
	if days == 0 {
		return " for ever"
	}
	return fmt.Sprintf(" for %d days", days)
}

// boolean returns the kind of switches. Older files use on, off, yes and no.
func boolean(at func(*Config) *bool) kind {
	k := custom("`true`, `false`", func(c *Config, g assignment) error {
		switch strings.ToLower(g.value) {
		case "true", "on", "yes":
			*at(c) = true
		case "false", "off", "no":
			*at(c) = false
		default:
			return fmt.Errorf("%.80q is not allowed: use true or false", g.value)
		}
		return nil
	})
	k.placeholder = "BOOL"
	return k
}

// maxDays is a century; longer is " for ever".
const maxDays = 36500

// withDays extends a kind by " for N days" or " for ever" after the value. A value without
// it leaves the days unchanged.
func withDays(of kind, days func(*Config) *int) kind {
	k := of
	k.allowed += ", with for N days or for ever behind it"
	k.set = func(c *Config, g assignment) error {
		value, length, has := strings.Cut(g.value, " for ")
		if has && length != "ever" {
			number, unit, _ := strings.Cut(length, " ")
			n, err := strconv.Atoi(number)
			if err != nil || n < 1 || n > maxDays || unit != "days" && unit != "day" {
				return fmt.Errorf("%.80q is not a time: use 1 to %d days, such as %s for 30 days, or %s for ever",
					length, maxDays, value, value)
			}
			*days(c) = n
		} else if has {
			*days(c) = 0
		}
		g.value = value
		return of.set(c, g)
	}
	k.days = days
	return k
}

// level returns the kind of log levels.
func level(at func(*Config) *slog.Level) kind {
	v := oneOf(nil, "debug", "info", "warn", "error")
	v.set = func(c *Config, g assignment) error {
		var name string
		if err := choose(&name, g.value, "debug", "info", "warn", "error"); err != nil {
			return err
		}
		return at(c).UnmarshalText([]byte(name))
	}
	return v
}

// Size is an amount of disk space: a number of bytes, or a percentage of the disk. The zero
// Size means no limit.
type Size struct {
	Bytes   int64
	Percent int // of the size of the file system; 0 if Bytes counts
}

// Of returns the size in bytes on a file system of disk bytes; 0 means no limit.
func (s Size) Of(disk int64) int64 {
	if s.Percent > 0 {
		return disk / 100 * int64(s.Percent)
	}
	return s.Bytes
}

// size returns the kind of sizes: 0, 500MB, 20GB or 25%. Units are decimal, as disks are
// sold.
func size(at func(*Config) *Size) kind {
	k := custom("a size such as `500MB` or `20GB`, a part of the disk such as `25%`, or 0 for no limit",
		func(c *Config, g assignment) error {
			s, ok := parseSize(g.value)
			if !ok {
				return fmt.Errorf("%.80q is not a size: use for example 500MB, 20GB, 25%% (of the disk), or 0 for no "+
					"limit",
					g.value)
			}
			*at(c) = s
			return nil
		})
	k.placeholder = "SIZE"
	return k
}

func parseSize(text string) (Size, bool) {
	text = strings.ToUpper(strings.TrimSpace(text))
	if number, ok := strings.CutSuffix(text, "%"); ok {
		n, err := strconv.Atoi(strings.TrimSpace(number))
		return Size{Percent: n}, err == nil && n >= 1 && n <= 100
	}
	for _, unit := range []struct {
		name  string
		bytes float64
	}{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}} {
		if number, ok := strings.CutSuffix(text, unit.name); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			return Size{Bytes: int64(n * unit.bytes)}, err == nil && n >= 0 && n < 1e6
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return Size{Bytes: n}, err == nil && n >= 0
}
