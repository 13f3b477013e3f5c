package config

import (
	"regexp"
	"strings"
)

// Effective is a setting with its effective value.
type Effective struct {
	Setting
	Value string // as it was written, without passwords; empty if nothing set it
	From  string // where it was set: default, parley.yaml:3, PARLEY_DATA, --data
}

// password matches the password in a URL.
var password = regexp.MustCompile(`(//[^/@\s:]*):[^/@\s]*@`)

// Given reports whether the setting with a key has a value that is not its default.
func (c Config) Given(key string) bool {
	a, ok := c.assigned[key]
	return ok && a.source != fromDefault
}

// Effective returns all settings with their values, in the order of the table.
func (c Config) Effective() []Effective {
	all := make([]Effective, 0, len(c.assigned))
	for _, s := range Settings() {
		e := Effective{Setting: s}
		if g, ok := c.assigned[s.Key]; ok {
			if s.days != nil {
				g.value, _, _ = strings.Cut(g.value, " for ")
				g.value += daysInWords(*s.days(&c))
			}
			if s.secret && g.value != "" {
				g.value = hiddenSecret
			}
			e.Value, e.From = password.ReplaceAllString(g.value, "$1:xxxxx@"), g.source
		}
		all = append(all, e)
	}
	return all
}
