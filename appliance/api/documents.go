package api

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"path"
	"strings"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
)

// The descriptions are generated from the routes, the readers of bodies and the
// comments on the types. TestTheDescriptionsAreFresh fails if they are stale.
//
//go:generate go test -count=1 -run TestTheDescriptionsAreFresh . -args -update

//go:embed described
var generated embed.FS

// placeholderVersion is the placeholder for the version in the generated descriptions.
const placeholderVersion = "0.0.0-made"

// document is a description of the API as it is served.
type document struct {
	mediaType string
	policy    string // Content-Security-Policy
	text      []byte
	tag       string // ETag
}

// documents are the descriptions of the API.
type documents struct{ openAPI, asyncAPI, page document }

// description returns the description of all routes.
func (a *API) description() describe.Box {
	box := describe.Box{
		Info: describe.Info{
			Title: "Parley", Version: placeholderVersion,
			Description: "A voice service on one box that listens, thinks and speaks. Field names are snake_case. " +
				"Unknown fields are ignored, and null is the same as absent. Times are Unix milliseconds unless " +
				"stated otherwise. Every answer has an X-Request-Id, which is also in the log of the box.",
		},
		Problem: problem{}, Invalid: malformed{}, OpenAI: contract.OpenAIError{},
	}
	box.Info.License.Name, box.Info.License.URL = "Apache License 2.0", "https://www.apache.org/licenses/LICENSE-2.0"
	for _, rt := range a.routes() {
		box.Routes = append(box.Routes, describe.Route{
			Method:    rt.method,
			Path:      rt.path,
			Access:    rt.access,
			MaxBody:   rt.body,
			Operation: rt.about,
		})
	}
	return box
}

// readDocuments reads the generated descriptions and inserts the version of the
// box.
func readDocuments(version string) (d documents, err error) {
	quoted, err := json.Marshal(version)
	if err != nil {
		return d, err
	}
	bare := strings.Trim(string(quoted), `"`)
	if d.openAPI, err = readDocument("openapi.json", "application/json", describe.NoPolicy, bare); err != nil {
		return d, err
	}
	if d.asyncAPI, err = readDocument("asyncapi.json", "application/json", describe.NoPolicy, bare); err != nil {
		return d, err
	}
	policy, err := generated.ReadFile("described/docs.policy")
	if err != nil {
		return d, err
	}
	d.page, err = readDocument("docs.html", "text/html; charset=utf-8", strings.TrimSpace(string(policy)),
		html.EscapeString(version))
	return d, err
}

func readDocument(name, mediaType, policy, version string) (document, error) {
	text, err := generated.ReadFile(path.Join("described", name))
	if err != nil {
		return document{}, fmt.Errorf("a description of the API: %w", err)
	}
	text = []byte(strings.ReplaceAll(string(text), placeholderVersion, version))
	sum := sha256.Sum256(text)
	return document{mediaType, policy, text, `"` + hex.EncodeToString(sum[:8]) + `"`}, nil
}

func (a *API) docsPage(w http.ResponseWriter, r *http.Request, _ caller) error {
	return a.document(w, r, func(d documents) document { return d.page })
}

func (a *API) openAPI(w http.ResponseWriter, r *http.Request, _ caller) error {
	return a.document(w, r, func(d documents) document { return d.openAPI })
}

func (a *API) asyncAPI(w http.ResponseWriter, r *http.Request, _ caller) error {
	return a.document(w, r, func(d documents) document { return d.asyncAPI })
}

func (a *API) document(w http.ResponseWriter, r *http.Request, which func(documents) document) error {
	all, err := a.documents()
	if err != nil {
		return err
	}
	d := which(all)
	h := w.Header()
	h.Set("Content-Type", d.mediaType)
	h.Set("ETag", d.tag)
	h.Set("Cache-Control", "no-cache") // revalidate: an update of the box changes the text
	h.Set("Content-Security-Policy", d.policy)
	if r.Header.Get("If-None-Match") == d.tag {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	_, err = w.Write(d.text)
	return err
}

func aboutDescriptions() descriptions {
	return inSection("The box", descriptions{
		"GET /docs": {
			ID:      "docs",
			Summary: "This page",
			Answers: append(ofType("text/html"), unchanged()),
		},
		"GET /openapi.json": {
			ID:      "openapi",
			Summary: "The routes in OpenAPI 3.1",
			Answers: append(ofType("application/json"), unchanged()),
		},
		"GET /asyncapi.json": {
			ID:      "asyncapi",
			Summary: "The sockets in AsyncAPI 3.0",
			Answers: append(ofType("application/json"), unchanged()),
		},
	})
}
