package text

import (
	"html"
	"regexp"
	"strings"
)

// The patterns of HTML, XML and SSML.
var (
	tagHidden = regexp.MustCompile(`(?is)<!--.*?-->|<script\b[^>]*>.*?</script\s*>|<style\b[^>]*>.*?</style\s*>|` +
		`<!doctype[^>]*>|<\?xml[^>]*\?>|<!\[CDATA\[|\]\]>`)
	tagMark = regexp.MustCompile(`</?([a-zA-Z][a-zA-Z0-9:-]*)((?:\s+[a-zA-Z_:][\w:.-]*\s*=\s*(?:"[^"]*"|'[^']*'|` +
		`[^\s"'<>=]+))*)((?:\s+[a-zA-Z-]+)*)\s*/?>`)
	tagEntity = regexp.MustCompile(`&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});`)
)

// withoutTags removes the tags of HTML, XML and SSML with the content that they hide, and
// replaces entities by their characters. Text that only looks like a tag ("x <y and z> w")
// stays; inline elements may be within a word.
func withoutTags(t traced) traced {
	if !strings.ContainsAny(t.s, "<&") {
		return t
	}
	if strings.Contains(t.s, "<") {
		t = t.only(tagHidden, 0)
		t = t.replace(tagMark.FindAllStringSubmatchIndex(t.s, -1), func(m match) (string, bool) {
			name := strings.ToLower(m.group(1))
			switch closes := strings.HasPrefix(m.group(0), "</"); {
			case listed("tags", "inline").has(name):
				return "", true
			case listed("tags", "elements").has(name), closes, m.group(2) != "", strings.HasSuffix(m.group(0), "/>"):
				return " ", true
			}
			return "", false
		})
	}
	return t.replace(tagEntity.FindAllStringIndex(t.s, -1), func(m match) (string, bool) {
		said := html.UnescapeString(m.group(0))
		return said, said != m.group(0)
	})
}
