package config

import (
	"regexp"
	"strings"
	"testing"
)

func TestSampleSetsNothing(t *testing.T) {
	text := Sample("", "")
	bare, sample := load(t, newSources(t, "")), load(t, newSources(t, text))
	for _, cfg := range []*Config{&bare, &sample} { // each has a home of its own
		cfg.Data, cfg.Packs, cfg.File = "", "", ""
	}
	if !equal(bare, sample) || len(sample.Notes) > 0 {
		t.Errorf("it sets something: %+v", sample)
	}
	line := regexp.MustCompile(`(?m)^( *)#([a-z_]+: .*)$`)
	if n := len(line.FindAllString(text, -1)); n != 18 {
		t.Errorf("%d settings, want 18:\n%s", n, text)
	}
	if c := load(t, newSources(t, Sample("/srv/a b", "/srv/packs"))); c.Data != "/srv/a b" || c.Packs != "/srv/packs" {
		t.Errorf("the folders are %s, %s", c.Data, c.Packs)
	}
	c := load(t, newSources(t, line.ReplaceAllString(text, "$1$2")))
	for _, e := range c.Effective() {
		for _, s := range sampleSettings() {
			if s[0] == e.Key && !strings.Contains(e.From, FileName+":") {
				t.Errorf("%s is from %s:\n%s", e.Key, e.From, text)
			}
		}
	}
}
