package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// mapKeyName describes a key of the maps in a list.
type mapKeyName struct {
	name, help string
	isList     bool // the value may be a list; as text it has commas
	secret     bool // the value is not shown
}

// mapKey is a key of maps that are parsed into a T.
type mapKey[T any] struct {
	mapKeyName
	set func(*T, assignment) error
}

// parsedText returns how a text is set. at returns its field; parse checks a text and
// returns what is stored.
func parsedText[T any](at func(*T) *string, parse func(string) (string, error)) func(*T, assignment) error {
	return func(one *T, g assignment) (err error) {
		*at(one), err = parse(g.value)
		return err
	}
}

// maxMaps limits the maps of one list. A box has a handful of trunks and a few dozen
// extensions.
const maxMaps = 1000

// listOfMaps returns the kind of lists of maps, which only a file can hold. check returns
// what is wrong with one that comes after others; its fields were checked before.
func listOfMaps[T any](at func(*Config) *[]T, check func(one T, others []T) error, keys []mapKey[T]) kind {
	k := custom("a list of maps", func(c *Config, g assignment) error {
		if len(g.maps) > maxMaps {
			return fmt.Errorf("it has %d maps: use at most %d", len(g.maps), maxMaps)
		}
		all := make([]T, 0, len(g.maps))
		for i, m := range g.maps {
			one, err := parseMap(m, keys)
			if err == nil {
				if err = check(one, all); err != nil {
					err = mapError{source: m.source, error: err}
				}
			}
			if err != nil {
				return fmt.Errorf("entry %d: %w", i+1, err)
			}
			all = append(all, one)
		}
		*at(c) = all
		return nil
	})
	k.placeholder = "MAPS"
	for _, key := range keys {
		k.keys = append(k.keys, key.mapKeyName)
	}
	return k
}

func parseMap[T any](m fileMap, keys []mapKey[T]) (one T, err error) {
	for _, g := range m.values {
		i := slices.IndexFunc(keys, func(k mapKey[T]) bool { return k.name == g.Key })
		if err := keys[i].set(&one, g); err != nil { // the reader has checked the key
			return one, mapError{source: g.source, error: fmt.Errorf("%s: %w", g.Key, err)}
		}
	}
	return one, nil
}

// fileMap is a map in a list. The Key of each of its values is that in the map.
type fileMap struct {
	source string
	values []assignment
}

// mapError is an error of a map in a list, with where it was set.
type mapError struct {
	source string
	error
}

func (e mapError) Unwrap() error { return e.error }

// text returns the map as it is shown, without secrets.
func (m fileMap) text(keys []mapKeyName) string {
	var fields []string
	for _, g := range m.values {
		if slices.ContainsFunc(keys, func(k mapKeyName) bool { return k.name == g.Key && k.secret }) {
			g.value = hiddenSecret
		}
		fields = append(fields, g.Key+": "+g.value)
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// hiddenSecret is shown in place of a secret.
const hiddenSecret = "xxxxx"

// secret returns a kind whose value is not shown.
func secret(k kind) kind {
	set := k.set
	k.secret = true
	k.set = func(c *Config, g assignment) error {
		if set(c, g) != nil { // its error repeats the value
			return errors.New("the value is not allowed: use one line, or leave it out")
		}
		return nil
	}
	return k
}

// maps reads a list of maps.
func (r *fileReader) maps(s Setting, at, value ast.Node) error {
	list, ok := value.(*ast.SequenceNode)
	if !ok {
		return r.errorf(value, "%s takes a list of maps: write - %s: … below it", s.Key, s.keys[0].name)
	}
	maps, shown := []fileMap{}, []string{}
	for i, n := range list.Values {
		m, ok := n.(ast.MapNode)
		if !ok {
			return r.errorf(n, "%s: entry %d is not a map: write - %s: …", s.Key, i+1, s.keys[0].name)
		}
		read, err := r.oneMap(s, m)
		if err != nil {
			return err
		}
		read.source = r.position(n)
		maps, shown = append(maps, read), append(shown, read.text(s.keys))
	}
	r.assign(s, strings.Join(shown, ", "), at)
	r.assignments[len(r.assignments)-1].maps = maps
	return nil
}

func (r *fileReader) oneMap(s Setting, m ast.MapNode) (read fileMap, err error) {
	for entry := m.MapRange(); entry.Next(); {
		name, value := entry.Key().GetToken().Value, entry.Value()
		i := slices.IndexFunc(s.keys, func(k mapKeyName) bool { return k.name == name })
		if i < 0 {
			return read, r.unknownInMap(s, entry.Key(), name)
		}
		if value == nil || value.Type() == ast.NullType {
			continue
		}
		text, err := r.valueInMap(s, s.keys[i], value)
		if err != nil {
			return read, err
		}
		read.values = append(read.values, assignment{
			Setting: Setting{Key: name},
			value:   text,
			source:  r.position(entry.Key()),
			dir:     filepath.Dir(r.path),
			home:    r.home,
			inFile:  true,
		})
	}
	return read, nil
}

func (r *fileReader) valueInMap(s Setting, k mapKeyName, value ast.Node) (string, error) {
	list, isList := value.(*ast.SequenceNode)
	if _, isMap := value.(ast.MapNode); isMap || isList && !k.isList {
		return "", r.errorf(value, "%s: %s takes one value", s.Key, k.name)
	}
	if !isList {
		return r.scalar(s.Key, value)
	}
	var items []string
	for _, v := range list.Values {
		item, err := r.scalar(s.Key, v)
		if err != nil {
			return "", err
		}
		items = append(items, item)
	}
	return strings.Join(items, ","), nil
}

// unknownInMap returns the error for an unknown key of a map, with a suggestion.
func (r *fileReader) unknownInMap(s Setting, at ast.Node, name string) error {
	var allowed []string
	for _, k := range s.keys {
		allowed = append(allowed, k.name)
	}
	if near := Nearest(name, allowed); near != "" {
		return r.errorf(at, "%s: unknown key %s: did you mean %s?", s.Key, name, near)
	}
	return r.errorf(at, "%s: unknown key %s: allowed here are %s", s.Key, name, strings.Join(allowed, ", "))
}
