package ws

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// version is that of a client library, without the patch.
type version [2]int

// before reports whether v came before w. They are numbers: 0.9 came before 0.11.
func (v version) before(w version) bool { return slices.Compare(v[:], w[:]) < 0 }

// later are the types of messages that came later than some of the published client
// libraries, or whose fields did, and the first version of each library that takes
// them. An older one ends its conversation at a message that it does not know.
var later = []struct {
	kind               string
	javascript, python version
}{
	{"assistant_prosody", version{0, 12}, version{0, 10}},
	{"tool_error", version{0, 7}, version{}}, // @humeai/voice wants a code, which is optional
}

// unknown are the types of messages that the client of a request does not know. One
// that does not say what it is knows all of them.
func unknown(r *http.Request) (kinds []string) {
	language, v, ok := libraryOf(r)
	if !ok {
		return nil
	}
	for _, l := range later {
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

// libraryOf is what a client says of the library that it uses: JavaScript in the query,
// since browsers send no headers, and Python in headers. @humeai/voice, which came
// before hume for JavaScript, says nothing: it is known by being in a page and by how it
// spells its credential, which no page of later does without its version.
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
		v = version{0, 7} // up to 0.8.3 it says 1.0.0 of itself
	}
	return language, v, language == "python" || language == "javascript"
}
