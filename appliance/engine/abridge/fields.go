package abridge

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

const (
	// minCodeLength is the shortest word that may be an unspeakable code. maxSpokenCode is the
	// longest code that is read out to a user who asks for it.
	minCodeLength = 16
	maxSpokenCode = 24
	// maxShortText is the most bytes of a text that is a fact; a longer one is prose.
	maxShortText = 60
)

// Words in the names of fields.
var (
	// names identify an entry of a list.
	names = set("name title label subject heading dish product item station summary")
	// moments identify an entry that has no name.
	moments = set("time date weekday day hour from number code")
	// facts are asked for most.
	facts = set(`
status state price total amount date time weekday day description temp temperature count quantity address city
snippet text content answer result eta message error`)
	// dull ones are asked for least.
	dull = set(`
created updated modified version rev revision lat lon lng latitude longitude coord timezone timestamp dt took
ms page per pagination meta position score sort locale lang icon etag cod currency tags pod deg gust pressure`)
	// codes are only for programs.
	codes = set(`
id ids uuid guid hash sha md5 checksum etag token key cursor signature fingerprint trace sku geohash`)
	// links are URLs.
	links = set(`
url uri href link links image images img icon avatar photo thumbnail logo favicon self next prev previous`)
)

var uuid = regexp.MustCompile(`(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$`)

func isLink(text string) bool {
	return strings.Contains(text, "://") || strings.HasPrefix(text, "www.") || strings.HasPrefix(text, "data:")
}

// isOpaque reports whether a word is one that nobody would say: a link, or letters and digits
// without order.
func isOpaque(text string) bool {
	if isLink(text) || uuid.MatchString(text) {
		return true
	}
	digits, letters, turns, previous := 0, 0, 0, 0
	for _, r := range text {
		kind := 0
		switch {
		case r > unicode.MaxASCII || unicode.IsSpace(r) || r == '@':
			return false
		case unicode.IsDigit(r):
			digits++
			kind = 1
		case unicode.IsLetter(r):
			letters++
			if kind = 2; unicode.IsUpper(r) {
				kind = 3
			}
		}
		if kind != previous && previous != 0 && kind != 0 {
			turns++
		}
		previous = kind
	}
	mixed := turns >= 4 && digits > 0 || turns >= len(text)/4
	return len(text) >= minCodeLength && (mixed || digits >= minCodeLength && letters == 0)
}

// isNoise reports whether a leaf is something that nobody would say or ask for.
func isNoise(n *node, a query) bool {
	if n.kind == null || n.kind == words && strings.TrimSpace(n.text) == "" {
		return true
	}
	key := wordsOf(n.key)
	last := lastOf(key)
	asksFor := func(w string) bool { return a.match(w) >= 0 }
	unlike := func(w string) bool { return !slices.Contains(a.argumentWords, w) }
	if asksFor(last) || len(key) > 0 && !slices.ContainsFunc(key, unlike) {
		return false
	}
	code := slices.ContainsFunc(key, func(w string) bool { return codes[w] }) && !strings.Contains(n.text, " ") &&
		strings.ContainsAny(n.text, "0123456789")
	switch {
	case n.kind == words && (isLink(n.text) || links[last] && !strings.Contains(n.text, " ")):
		return !a.wantsLink
	case code || n.kind == words && len(n.text) >= minCodeLength && isOpaque(n.text):
		return !a.wantsID || len(n.text) > 2*maxSpokenCode || isOpaque(n.text) && !slices.ContainsFunc(key, asksFor)
	}
	return false
}

func lastOf(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}
