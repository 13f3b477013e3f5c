package abridge

import (
	"regexp"
	"strings"
)

var (
	hidden = regexp.MustCompile(
		`(?is)<!--.*?(?:-->|$)|<(script|style|svg|head)\b.*?(?:</(?:script|style|svg|head)\s*>|$)`)
	tag = regexp.MustCompile(`<(/?)([A-Za-z][\w:.-]*)[^<>]*>|<[?!][^<>]*>`)
	// known are the tags of HTML, which say nothing about their content; XML tags do.
	known = set(`
a abbr address article aside b blockquote body br button caption center cite code dd details div dl dt em
figure font footer form h1 h2 h3 h4 h5 h6 header hr html i iframe img input label li link main meta nav ol
option p pre q s section select small span strong sub summary sup table tbody td tfoot th thead title tr u ul`)
	inline = set("a abbr b cite code em font i q s small span strong sub sup td th u")
)

// withoutTags returns the text of HTML or XML, a line for each block. The names of XML elements
// precede their content.
func withoutTags(text string) string {
	if !tag.MatchString(text) {
		return text
	}
	text = hidden.ReplaceAllString(text, "\n")
	var b strings.Builder
	name, at := "", 0
	for _, m := range tag.FindAllStringSubmatchIndex(text, -1) {
		held := strings.TrimSpace(text[at:m[0]])
		at = m[1]
		if held != "" {
			if name != "" {
				b.WriteString(name + ": ")
			}
			b.WriteString(held)
		}
		closes, this := m[2] >= 0 && m[2] < m[3], ""
		if m[4] >= 0 {
			this = strings.ToLower(text[m[4]:m[5]])
		}
		name = ""
		switch {
		case inline[this]:
			b.WriteString(" ")
		case known[this] || this == "":
			b.WriteString("\n")
		case !closes:
			name = this
		case held != "":
			b.WriteString("; ")
		default:
			b.WriteString("\n")
		}
	}
	b.WriteString(text[at:])
	return entities.Replace(b.String())
}

var entities = strings.NewReplacer("&nbsp;", " ", "&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#39;", "'", "&amp;", "&")
