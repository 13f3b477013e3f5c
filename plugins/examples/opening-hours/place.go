package main

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// place is one file of the folder.
type place struct {
	Name   string            `yaml:"name"`
	Also   []string          `yaml:"also"` // other names
	Floor  string            `yaml:"floor"`
	Way    string            `yaml:"way"`
	Hours  map[string]string `yaml:"hours"`  // hours by days, such as "tue-fri"
	Closed map[string]string `yaml:"closed"` // reasons by date
	week   [7][]span         // by time.Weekday
}

// load reads all places, in the order of their files.
func load(folder fs.FS) ([]place, error) {
	files, err := fs.Glob(folder, "*.yaml")
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("the folder of the building has no .yaml file")
	}
	var places []place
	for _, file := range files {
		text, err := fs.ReadFile(folder, file)
		if err != nil {
			return nil, err
		}
		var p place
		if err := yaml.UnmarshalWithOptions(text, &p, yaml.DisallowUnknownField()); err != nil {
			return nil, fmt.Errorf("%s: %s", path.Base(file), yaml.FormatError(err, false, false))
		}
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", path.Base(file), err)
		}
		places = append(places, p)
	}
	return places, nil
}

func (p *place) check() error {
	if p.Name == "" || p.Floor == "" {
		return fmt.Errorf("name and floor have to be there")
	}
	for days, hours := range p.Hours {
		at, err := weekdays(days)
		if err != nil {
			return err
		}
		open, err := spans(hours)
		if err != nil {
			return fmt.Errorf("hours of %s: %w", days, err)
		}
		for _, d := range at {
			if p.week[d] != nil {
				return fmt.Errorf("hours has %s twice", d)
			}
			p.week[d] = open
		}
	}
	for date := range p.Closed {
		if _, err := time.Parse(time.DateOnly, date); err != nil {
			return fmt.Errorf("closed: %q is no date like 2026-12-25", date)
		}
	}
	return nil
}

// find returns the place with a name, with another name, or with a part of those.
func find(places []place, asked string) (place, bool) {
	asked = plain(asked)
	for _, fits := range []func(string) bool{
		func(name string) bool { return name == asked },
		func(name string) bool { return asked != "" && strings.Contains(" "+asked+" ", " "+name+" ") },
		func(name string) bool { return asked != "" && strings.Contains(name, asked) },
	} {
		for _, p := range places {
			for _, name := range append([]string{p.Name}, p.Also...) {
				if fits(plain(name)) {
					return p, true
				}
			}
		}
	}
	return place{}, false
}

// plain normalises a name for comparison.
func plain(name string) string {
	words := strings.Fields(strings.ToLower(strings.Trim(name, " .?!")))
	if len(words) > 1 && slices.Contains([]string{"the", "a", "your"}, words[0]) {
		words = words[1:]
	}
	return strings.Join(words, " ")
}
