package describe

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"parley/appliance/contract"
)

// OpenAPI is a description of the routes (https://spec.openapis.org/oas/v3.1.0).
type OpenAPI struct {
	OpenAPI    string                           `json:"openapi"`
	Info       Info                             `json:"info"`
	Servers    []map[string]string              `json:"servers"`
	Tags       []map[string]string              `json:"tags"`
	Paths      Ordered[Ordered[*PathOperation]] `json:"paths"`
	Components Components                       `json:"components"`
}

// Components has the schemas that the paths refer to.
type Components struct {
	Schemas         Ordered[*Schema]           `json:"schemas"`
	SecuritySchemes Ordered[map[string]string] `json:"securitySchemes"`
}

// PathOperation is one method of a path.
type PathOperation struct {
	Access      Access                `json:"-"`
	OperationID string                `json:"operationId"`
	Tags        []string              `json:"tags"`
	Summary     string                `json:"summary"`
	Description string                `json:"description,omitempty"`
	Security    []map[string][]string `json:"security"`
	Parameters  []PathParameter       `json:"parameters,omitempty"`
	RequestBody *RequestBody          `json:"requestBody,omitempty"`
	Responses   Ordered[Response]     `json:"responses"`
}

// PathParameter is a parameter of the path or the query.
type PathParameter struct {
	Name        string  `json:"name"`
	In          string  `json:"in"`
	Description string  `json:"description,omitempty"`
	Required    bool    `json:"required,omitempty"`
	Schema      *Schema `json:"schema"`
}

// RequestBody is the body of a request.
type RequestBody struct {
	Required bool           `json:"required"`
	Content  Ordered[Media] `json:"content"`
}

// Response is an answer.
type Response struct {
	Description string         `json:"description"`
	Content     Ordered[Media] `json:"content,omitempty"`
}

// Media is a body of one media type.
type Media struct {
	Schema  *Schema         `json:"schema,omitempty"`
	Example json.RawMessage `json:"example,omitempty"`
}

// OpenAPI describes the routes, with the comments of the source.
func (b Box) OpenAPI(w Comments) (*OpenAPI, error) {
	s := newSchemas(w)
	doc := &OpenAPI{OpenAPI: "3.1.0", Info: b.Info, Servers: []map[string]string{{"url": "/"}}}
	doc.Components.SecuritySchemes = securitySchemes()
	for _, r := range b.Routes {
		if !slices.ContainsFunc(doc.Tags, func(t map[string]string) bool { return t["name"] == r.Section }) {
			doc.Tags = append(doc.Tags, map[string]string{"name": r.Section})
		}
		path := strings.TrimSuffix(r.Path, "{$}")
		at := slices.IndexFunc(doc.Paths, func(m Member[Ordered[*PathOperation]]) bool { return m.Name == path })
		if at < 0 {
			at = len(doc.Paths)
			doc.Paths = append(doc.Paths, Member[Ordered[*PathOperation]]{Name: path})
		}
		item := &doc.Paths[at].Value
		*item = append(*item, Member[*PathOperation]{strings.ToLower(r.Method), b.operation(s, r)})
	}
	doc.Components.Schemas = s.components()
	return doc, s.err()
}

func (b Box) operation(s *schemas, r Route) *PathOperation {
	o := &PathOperation{
		Access:      r.Access,
		OperationID: r.ID,
		Tags:        []string{r.Section},
		Summary:     r.Summary,
		Description: r.Description,
		Security:    security(r),
		Parameters:  pathParameters(r.Path),
	}
	for _, q := range r.Query {
		o.Parameters = append(o.Parameters, PathParameter{
			Name:        q.Name,
			In:          "query",
			Required:    q.Required,
			Description: q.Description,
			Schema:      q.Schema,
		})
	}
	switch {
	case r.Body != "":
		at := slices.IndexFunc(contract.Bodies(), func(b contract.Body) bool { return b.Name == r.Body })
		if at < 0 {
			s.fail("%s %s reads a %s, which contract.Bodies does not have", r.Method, r.Path, r.Body)
			break
		}
		body := contract.Bodies()[at]
		if r.Upload != "" {
			o.RequestBody = &RequestBody{true,
				Ordered[Media]{{"multipart/form-data", Media{Schema: s.form(body, r.Upload)}}}}
			break
		}
		o.RequestBody = &RequestBody{true,
			Ordered[Media]{{"application/json", Media{s.body(body), json.RawMessage(r.Example)}}}}
		if r.Files != "" {
			o.RequestBody.Content = append(o.RequestBody.Content, Member[Media]{"multipart/form-data",
				Media{Schema: s.formWithFiles(body, r.Files)}})
		}
	case r.OneOf != nil:
		one := &Schema{}
		for _, m := range r.OneOf {
			one.OneOf = append(one.OneOf, s.body(posted(m)))
		}
		o.RequestBody = &RequestBody{true, Ordered[Media]{{"application/json", Media{one, json.RawMessage(r.Example)}}}}
	case r.Upload != "":
		file := Media{Schema: &Schema{Type: "string", Format: "binary"}}
		o.RequestBody = &RequestBody{true, Ordered[Media]{{r.Upload, file}}}
		if r.OtherUpload != "" {
			o.RequestBody.Content = append(o.RequestBody.Content, Member[Media]{r.OtherUpload, file})
		}
	case r.Form != nil:
		form := s.of(r.Form)
		o.RequestBody = &RequestBody{true,
			Ordered[Media]{{"application/x-www-form-urlencoded", Media{Schema: form}},
				{"application/json", Media{form, json.RawMessage(r.Example)}}}}
	}
	for _, a := range r.Answers {
		o.answer(a.Status, a.response(s))
	}
	for _, status := range r.refusals() {
		o.answer(status, b.refusal(s, r, status))
	}
	o.Responses = append(o.Responses, Member[Response]{"default", b.refusal(s, r, http.StatusInternalServerError)})
	return o
}

// answer adds a response, unless there is one with its status.
func (o *PathOperation) answer(status int, r Response) {
	if _, there := o.Responses.Get(strconv.Itoa(status)); !there {
		o.Responses = append(o.Responses, Member[Response]{strconv.Itoa(status), r})
	}
}

func (a Answer) response(s *schemas) Response {
	r := Response{Description: a.Description}
	if r.Description == "" {
		r.Description = http.StatusText(a.Status)
	}
	switch {
	case a.Value != nil:
		r.Content = Ordered[Media]{{"application/json", Media{Schema: s.of(a.Value)}}}
	case a.Media == "application/json":
		r.Content = Ordered[Media]{{a.Media, Media{Schema: &Schema{Type: "object"}}}}
	case a.Media != "":
		r.Content = Ordered[Media]{{a.Media, Media{Schema: String()}}}
	}
	for _, kind := range a.Also {
		r.Content = append(r.Content, Member[Media]{kind, Media{Schema: String()}})
	}
	return r
}

// refusals returns the statuses of all errors: those of the operation, and those
// that follow from the access and the body.
func (r Route) refusals() []int {
	all := slices.Clone(r.Errors)
	switch r.Access {
	case Secret, Token:
		all = append(all, http.StatusUnauthorized, http.StatusTooManyRequests, http.StatusServiceUnavailable)
	case Key, Bearer, Operator:
		all = append(all, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests,
			http.StatusServiceUnavailable)
	case Link:
		all = append(all, http.StatusForbidden, http.StatusTooManyRequests, http.StatusServiceUnavailable)
	}
	if len(r.Query) > 0 || r.Upload != "" {
		all = append(all, http.StatusBadRequest)
	}
	if r.reads() || r.Form != nil || r.Upload != "" {
		all = append(all, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge)
	}
	if r.reads() {
		all = append(all, http.StatusBadRequest, http.StatusUnsupportedMediaType)
	}
	if r.reads() && r.Access != Bearer {
		all = append(all, http.StatusUnprocessableEntity)
	}
	if strings.Contains(strings.TrimSuffix(r.Path, "{$}"), "{") {
		all = append(all, http.StatusNotFound)
	}
	if strings.Contains(r.Path, "{version}") {
		all = append(all, http.StatusBadRequest)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (b Box) refusal(s *schemas, r Route, status int) Response {
	body, says := b.Problem, http.StatusText(status)
	if r.Access == Bearer {
		body = b.OpenAI
	}
	switch status {
	case http.StatusUnprocessableEntity:
		body = b.Invalid
	case http.StatusRequestEntityTooLarge:
		says = fmt.Sprintf("The body has more than %d bytes", r.MaxBody)
	}
	return Response{says, Ordered[Media]{{"application/json", Media{Schema: s.of(body)}}}}
}

// pathParameters returns the parameters in braces of a path.
func pathParameters(path string) []PathParameter {
	var all []PathParameter
	for piece := range strings.SplitSeq(path, "/") {
		name, ok := strings.CutPrefix(piece, "{")
		if name = strings.TrimSuffix(name, "}"); !ok || name == "$" {
			continue
		}
		p := PathParameter{
			Name:     name,
			In:       "path",
			Required: true,
			Schema:   String(),
		}
		if name == "version" {
			p.Schema = &Schema{Type: "integer", Minimum: float(0)}
		}
		all = append(all, p)
	}
	return all
}

func securitySchemes() Ordered[map[string]string] {
	return Ordered[map[string]string]{
		{"key", map[string]string{"type": "apiKey", "in": "header", "name": "X-Service-Api-Key"}},
		{"keyAlias", map[string]string{"type": "apiKey", "in": "header", "name": "X-Hume-Api-Key"}},
		{"operatorKey", map[string]string{"type": "apiKey", "in": "header", "name": "X-Service-Api-Key",
			"description": "A key of an operator."}},
		{"bearerKey", map[string]string{"type": "http", "scheme": "bearer", "description": "An API key of the box."}},
		{"keyInQuery", map[string]string{"type": "apiKey", "in": "query", "name": "api_key",
			"description": "For sockets, where a browser can send no headers."}},
		{"token", map[string]string{"type": "http", "scheme": "bearer",
			"description": "An access token of POST /oauth2-cc/token."}},
		{"tokenInQuery", map[string]string{"type": "apiKey", "in": "query", "name": "access_token",
			"description": "For sockets, where a browser can send no headers."}},
		{"session", map[string]string{"type": "apiKey", "in": "cookie", "name": "parley-8080",
			"description": "The session of the console, for the box's own pages. The name has the port of the box, " +
				"and over TLS begins with __Host-."}},
		{"client", map[string]string{"type": "http", "scheme": "basic",
			"description": "The API key as the name and its secret key as the password."}},
	}
}

func security(r Route) []map[string][]string {
	all := []map[string][]string{}
	add := func(names ...string) {
		for _, n := range names {
			all = append(all, map[string][]string{n: {}})
		}
	}
	switch r.Access {
	case Token:
		add("key", "keyAlias", "token")
		if r.Socket != nil {
			add("keyInQuery", "tokenInQuery")
		}
		add("session")
	case Key:
		add("key", "keyAlias")
		if r.Call {
			add("keyInQuery")
		}
		add("session")
	case Bearer:
		add("bearerKey", "key", "keyAlias", "session")
	case Operator:
		add("operatorKey", "session")
	case Secret:
		add("client")
	}
	return all
}
