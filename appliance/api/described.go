package api

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"net/http"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
)

// source is where the types of this package are that go over the wire.
//
//go:embed errors.go token.go versioned.go status.go
var source embed.FS

// document is a description as it is served.
type document struct {
	kind   string // its media type
	policy string // what a browser may do with it
	text   []byte
	tag    string // changes with the text
}

func newDocument(kind, policy string, text []byte) document {
	sum := sha256.Sum256(text)
	return document{kind, policy, text, `"` + hex.EncodeToString(sum[:8]) + `"`}
}

// nothing is what a browser may do with JSON.
const nothing = "default-src 'none'"

// documents are the descriptions of all that is served.
type documents struct{ openAPI, asyncAPI, page document }

// described is what the routes say of themselves.
func (a *API) described() describe.Box {
	box := describe.Box{
		Info: describe.Info{
			Title: "Parley", Version: a.Version,
			Description: "A voice service on one box: it listens, thinks and speaks by itself. Field names are snake_case JSON; unknown fields are ignored, and null is the same as absent. Times are Unix milliseconds unless they say otherwise. Every answer has an X-Request-Id, which the box's log has too.",
		},
		Sources: []fs.FS{contract.Source, source},
		Problem: problem{}, Invalid: malformed{},
	}
	box.Info.License.Name, box.Info.License.URL = "Apache License 2.0", "https://www.apache.org/licenses/LICENSE-2.0"
	for _, rt := range a.routes() {
		box.Routes = append(box.Routes, describe.Route{Method: rt.method, Path: rt.path, Operation: rt.says})
	}
	return box
}

// makeDocuments writes the descriptions: once, when they are first asked for.
func (a *API) makeDocuments() (documents, error) {
	box := a.described()
	openAPI, err := box.OpenAPI()
	if err != nil {
		return documents{}, err
	}
	asyncAPI, err := box.AsyncAPI()
	if err != nil {
		return documents{}, err
	}
	page, policy, err := describe.Page(openAPI, asyncAPI)
	if err != nil {
		return documents{}, err
	}
	paths, err := json.MarshalIndent(openAPI, "", " ")
	if err != nil {
		return documents{}, err
	}
	sockets, err := json.MarshalIndent(asyncAPI, "", " ")
	if err != nil {
		return documents{}, err
	}
	return documents{
		newDocument("application/json", nothing, paths), newDocument("application/json", nothing, sockets),
		newDocument("text/html; charset=utf-8", policy, page),
	}, nil
}

// document answers with one of the descriptions.
func (a *API) document(which func(documents) document) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		all, err := a.documents()
		if err != nil {
			return err
		}
		d := which(all)
		h := w.Header()
		h.Set("Content-Type", d.kind)
		h.Set("ETag", d.tag)
		h.Set("Cache-Control", "no-cache") // kept, and asked about: the box may be of another version by then
		h.Set("Content-Security-Policy", d.policy)
		if r.Header.Get("If-None-Match") == d.tag {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
		_, err = w.Write(d.text)
		return err
	}
}
