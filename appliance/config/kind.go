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

// kind says which values a setting may have, and has the function that reads
// them.
type kind struct {
	allowed     string // in words, in Markdown
	set         func(c *Config, g assignment) error
	isList      bool                   // in YAML it may be a list, whose items the text has with commas
	isMap       bool                   // in YAML it is a map, of which the text has a line each, KEY=VALUE
	placeholder string                 // the word that stands for its value in help
	days        func(c *Config) *int   // where for how long it holds may stand behind the value
	show        func(c *Config) string // the value that holds, where old names make it hard to tell
}

// custom is a kind that one setting has for itself.
func custom(allowed string, set func(*Config, assignment) error) kind {
	return kind{allowed: allowed, set: set}
}

// textKind is the kind of one piece of text. read makes of it what is kept.
func textKind(allowed string, at func(*Config) *string, read func(string) (string, error)) kind {
	return custom(allowed, func(c *Config, g assignment) (err error) {
		*at(c), err = read(g.value)
		return err
	})
}

// matching reads text that the pattern matches; wrong says what is wrong with any other,
// and what is allowed.
func matching(pattern, wrong string) func(string) (string, error) {
	p := regexp.MustCompile(pattern)
	return func(text string) (string, error) {
		if !p.MatchString(text) {
			return "", fmt.Errorf("%.80q %s", text, wrong)
		}
		return text, nil
	}
}

// textListKind is the kind of lists of text. read makes of an item what is kept of it.
func textListKind(allowed string, at func(*Config) *[]string, read func(item string) (string, error)) kind {
	return listKind(allowed, func(c *Config, g assignment) error {
		*at(c) = nil
		for item := range splitList(g.value) {
			text, err := read(item)
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

// listKind is a custom kind that may be a list in YAML.
func listKind(allowed string, set func(*Config, assignment) error) kind {
	return kind{
		allowed:     allowed,
		set:         set,
		isList:      true,
		placeholder: "LIST",
	}
}

// splitList yields the items of a list as one text, with commas between them.
func splitList(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for item := range strings.SplitSeq(text, ",") {
			if item = strings.TrimSpace(item); item != "" && !yield(item) {
				return
			}
		}
	}
}

// mapKind is a custom kind that is a map with any keys in YAML.
func mapKind(allowed string, set func(*Config, assignment) error) kind {
	return kind{allowed: allowed, set: set, isMap: true}
}

// assignment is a value that somebody gave for a setting.
type assignment struct {
	Setting
	value        string
	source       string // parley.yaml:3, PARLEY_DATA, --data
	dir          string // where relative paths start
	home         string
	entrySources map[string]string // of a map with any keys: where each stands
	inFile       bool              // a file has it, else a flag, a variable or the table
}

// sourceOf is where stands what an error is about.
func (g assignment) sourceOf(err error) string {
	if entry, ok := errors.AsType[text.ErrEntry](err); ok {
		return cmp.Or(g.entrySources[entry.Word], g.source)
	}
	return g.source
}

func (g assignment) path() string { return absolute(g.value, g.dir, g.home) }

// path is the kind of paths. at returns the field that the path is put into, as
// in all kinds below.
func path(at func(*Config) *string) kind {
	k := custom("a path", func(c *Config, g assignment) error {
		if strings.TrimSpace(g.value) == "" { // the working folder, which nobody means by it
			return errors.New("the path is empty: name one, or leave it out")
		}
		*at(c) = g.path()
		return nil
	})
	k.placeholder = "DIR"
	return k
}

// oneOf is the kind of settings that are one of several words.
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

// number is the kind of whole numbers from low to high.
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

// daysInWords says for how long something holds.
func daysInWords(days int) string {
	if days == 0 {
		return " for ever"
	}
	return fmt.Sprintf(" for %d days", days)
}

// boolean is the kind of switches. Older files have the other words.
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

// maxDays is a century: as good as for ever, which 0 is.
const maxDays = 36500

// withDays is a kind of values behind which may stand for how long they hold. A value
// that does not say leaves the days as they are.
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

// level is the kind of log levels.
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

// Size is room on a disk: a number of bytes, or a part of the whole disk. The
// zero Size is no bound.
type Size struct {
	Bytes   int64
	Percent int // of the file system's size; 0 where Bytes counts
}

// Of returns the size in bytes on a file system of so many bytes; 0 is no
// bound.
func (s Size) Of(disk int64) int64 {
	if s.Percent > 0 {
		return disk / 100 * int64(s.Percent)
	}
	return s.Bytes
}

// size is the kind of sizes: 0, 500MB, 20GB or 25%. Units are decimal, as disks are sold.
func size(at func(*Config) *Size) kind {
	k := custom("a size such as `500MB` or `20GB`, a part of the disk such as `25%`, or 0",
		func(c *Config, g assignment) error {
			s, ok := parseSize(g.value)
			if !ok {
				return fmt.Errorf("%.80q is not a size: use such as 500MB, 20GB, 25%% of the disk, or 0 for no bound",
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
