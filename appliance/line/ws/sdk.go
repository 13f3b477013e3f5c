package ws

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// version is the version of a client library, without the patch number.
type version [2]int

// before reports whether v precedes w. The parts are numbers: 0.9 precedes 0.11.
func (v version) before(w version) bool { return slices.Compare(v[:], w[:]) < 0 }

// laterMessages lists the types of messages that are newer than some of the published
// client libraries, or got new fields, and the first version of each library that accepts
// them. An older library ends the chat at an unknown message.
var laterMessages = []struct {
	kind               string
	javascript, python version
}{
	{"assistant_prosody", version{0, 12}, version{0, 10}},
	{"tool_error", version{0, 7}, version{}}, // @humeai/voice requires the code, which is optional
}

// unknownMessages returns the types of messages that the client of a request does not know.
// A client of unknown library knows all of them.
func unknownMessages(r *http.Request) (kinds []string) {
	language, v, ok := libraryOf(r)
	if !ok {
		return nil
	}
	for _, l := range laterMessages {
		first := l.javascript
		if language == "python" {
			first = l.python
		}
		if v.before(first) {
			kinds = append(kinds, l.kind)
		}
	}
	return kinds
}

// libraryOf returns the library that a client names: JavaScript in the query, since
// browsers cannot send headers, and Python in headers. @humeai/voice, the predecessor of
// hume for JavaScript, names nothing. It is recognised by the Origin header and the
// spelling of its credential, which later libraries never use without their version.
func libraryOf(r *http.Request) (language string, v version, ok bool) {
	q := r.URL.Query()
	language = strings.ToLower(cmp.Or(q.Get("fernSdkLanguage"), r.Header.Get("X-Fern-Language")))
	said := cmp.Or(q.Get("fernSdkVersion"), r.Header.Get("X-Fern-SDK-Version"))
	if language+said == "" {
		return "javascript", version{0, 1}, r.Header.Get("Origin") != "" && (q.Has("apiKey") || q.Has("accessToken"))
	}
	if n, _ := fmt.Sscanf(said, "%d.%d", &v[0], &v[1]); n < 2 || v[0] < 0 || v[1] < 0 {
		return language, v, false
	}
	if language == "python" && v == (version{1, 0}) {
		v = version{0, 7} // versions up to 0.8.3 report 1.0.0
	}
	return language, v, language == "python" || language == "javascript"
}
