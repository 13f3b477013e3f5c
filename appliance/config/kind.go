package config

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"parley/appliance/text"
)

// kind says which values a setting may have, and has the function that reads
// them.
type kind struct {
	allowed string // in words, in Markdown
	set     func(c *Config, g given) error
	list    bool // in YAML it may be a list, whose items the text has with commas
	pairs   bool // in YAML it is a map, of which the text has a line each, KEY=VALUE
}

// custom is a kind that one setting has for itself.
func custom(allowed string, set func(*Config, given) error) kind {
	return kind{allowed: allowed, set: set}
}

// list is a custom kind that may be a list in YAML.
func list(allowed string, set func(*Config, given) error) kind {
	return kind{allowed: allowed, set: set, list: true}
}

// pairs is a custom kind that is a map with any keys in YAML.
func pairs(allowed string, set func(*Config, given) error) kind {
	return kind{allowed: allowed, set: set, pairs: true}
}

// given is a value that somebody gave for a setting.
type given struct {
	Setting
	value string
	where string // parley.yaml:3, PARLEY_DATA, --data
	dir   string // where relative paths start
	home  string
	words map[string]string // of a map with any keys: where each stands
}

// placeOf is where stands what an error is about.
func (g given) placeOf(err error) string {
	if entry, ok := errors.AsType[text.ErrEntry](err); ok {
		return cmp.Or(g.words[entry.Word], g.where)
	}
	return g.where
}

func (g given) path() string { return absolute(g.value, g.dir, g.home) }

// path is the kind of paths. at returns the field that the path is put into, as
// in all kinds below.
func path(at func(*Config) *string) kind {
	return custom("a path", func(c *Config, g given) error {
		if strings.TrimSpace(g.value) == "" { // the working folder, which nobody means by it
			return errors.New("the path is empty: name one, or leave it out")
		}
		*at(c) = g.path()
		return nil
	})
}

// oneOf is the kind of settings that are one of several words.
func oneOf(at func(*Config) *string, allowed ...string) kind {
	return custom("`"+strings.Join(allowed, "`, `")+"`", func(c *Config, g given) error {
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
	return custom(fmt.Sprintf("%d to %d", low, high), func(c *Config, g given) error {
		n, err := strconv.Atoi(g.value)
		if err != nil || n < low || n > high {
			return fmt.Errorf("%.80q is not allowed: use a whole number from %d to %d", g.value, low, high)
		}
		*at(c) = n
		return nil
	})
}

// onOff is the kind of switches: on, off, and what YAML makes of the two words.
func onOff(at func(*Config) *bool) kind {
	return custom("`on`, `off`", func(c *Config, g given) error {
		switch g.value {
		case "on", "true":
			*at(c) = true
		case "off", "false":
			*at(c) = false
		default:
			return fmt.Errorf("%.80q is not allowed: use on or off", g.value)
		}
		return nil
	})
}

// boolean is the kind of settings that are true or false.
func boolean(at func(*Config) *bool) kind {
	return custom("`true`, `false`", func(c *Config, g given) error {
		switch g.value {
		case "true":
			*at(c) = true
		case "false":
			*at(c) = false
		default:
			return fmt.Errorf("%.80q is not allowed: use true or false", g.value)
		}
		return nil
	})
}

// level is the kind of log levels.
func level(at func(*Config) *slog.Level) kind {
	v := oneOf(nil, "debug", "info", "warn", "error")
	v.set = func(c *Config, g given) error {
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
	return custom("a size such as `500MB` or `20GB`, a part of the disk such as `25%`, or 0",
		func(c *Config, g given) error {
			s, ok := parseSize(g.value)
			if !ok {
				return fmt.Errorf("%.80q is not a size: use such as 500MB, 20GB, 25%% of the disk, or 0 for no bound",
					g.value)
			}
			*at(c) = s
			return nil
		})
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
