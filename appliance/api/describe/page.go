package describe

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"slices"
	"strings"
)

//go:embed page
var pageFiles embed.FS

// pageData is the input of the page's template.
type pageData struct {
	OpenAPI  *OpenAPI
	Sections []section
	AsyncAPI *AsyncAPI
	Types    Ordered[*Schema]
	Style    template.CSS
	Script   template.JS
}

type section struct {
	Name       string
	Operations []entry
	Sockets    []string // the ids of sockets, whose messages are listed after the section
}

type entry struct {
	*PathOperation
	Method, Path string
}

// Page returns the descriptions as an HTML page. It needs no network, and is
// readable without scripts. policy is its Content-Security-Policy, which forbids
// everything else.
func Page(paths *OpenAPI, sockets *AsyncAPI) (page []byte, policy string, err error) {
	style, err := pageFiles.ReadFile("page/page.css")
	if err != nil {
		return nil, "", err
	}
	script, err := pageFiles.ReadFile("page/page.js")
	if err != nil {
		return nil, "", err
	}
	t, err := template.New("page.html").Funcs(
		template.FuncMap{"example": example, "kind": kindOf, "limits": limits, "link": link, "is": isRequired,
			"message": message, "typeof": typeOf, "over": ofSockets}).ParseFS(pageFiles, "page/page.html")
	if err != nil {
		return nil, "", err
	}
	s := pageData{
		OpenAPI:  paths,
		AsyncAPI: sockets,
		Sections: sections(paths),
		Types:    allTypes(paths, sockets),
		Style:    template.CSS(style),
		Script:   template.JS(script), // our own file
	}
	var out bytes.Buffer
	if err := t.Execute(&out, s); err != nil {
		return nil, "", fmt.Errorf("writing the page: %w", err)
	}
	return out.Bytes(), fmt.Sprintf("default-src 'none'; img-src data:; style-src '%s'; script-src '%s'; base-uri "+
		"'none'; form-action 'none'; frame-ancestors 'none'", hashSource(style), hashSource(script)), nil
}

// NoPolicy is the Content-Security-Policy of documents that are not pages.
const NoPolicy = "default-src 'none'"

// hashSource returns the hash of a text for a Content-Security-Policy.
func hashSource(text []byte) string {
	s := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(s[:])
}

func sections(doc *OpenAPI) []section {
	var all []section
	for _, tag := range doc.Tags {
		all = append(all, section{Name: tag["name"]})
	}
	for _, path := range doc.Paths {
		for _, o := range path.Value {
			at := slices.IndexFunc(all, func(s section) bool { return s.Name == o.Value.Tags[0] })
			_, socket := o.Value.Responses.Get("101")
			if socket {
				all[at].Sockets = append(all[at].Sockets, o.Value.OperationID)
			}
			all[at].Operations = append(all[at].Operations, entry{o.Value, strings.ToUpper(o.Name), path.Name})
		}
	}
	return all
}

// allTypes returns the schemas of both descriptions, each once.
func allTypes(paths *OpenAPI, sockets *AsyncAPI) Ordered[*Schema] {
	all := slices.Clone(paths.Components.Schemas)
	for _, m := range sockets.Components.Schemas {
		if _, there := all.Get(m.Name); !there {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b Member[*Schema]) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// example returns the operation as a curl command or, for a socket, as
// JavaScript.
func example(o entry) string {
	path := strings.NewReplacer("{version}", "0", "{id}", "$ID", "{", "$", "}", "").Replace(o.Path)
	if _, socket := o.Responses.Get("101"); socket {
		return "const socket = new WebSocket(`${url}" + path +
			"?api_key=${key}`);\nsocket.onmessage = (e) => console.log(JSON.parse(e.data));"
	}
	var b strings.Builder
	b.WriteString("curl")
	if o.Method != "GET" {
		b.WriteString(" -X " + o.Method)
	}
	if len(o.Security) > 0 {
		if _, ok := o.Security[0]["client"]; ok {
			b.WriteString(` -u "$PARLEY_API_KEY:$PARLEY_SECRET_KEY"`)
		} else {
			b.WriteString(` -H "X-Service-Api-Key: $PARLEY_API_KEY"`)
		}
	}
	b.WriteString(` "$PARLEY_URL` + path + `"`)
	if o.RequestBody == nil {
		return b.String()
	}
	if m, ok := o.RequestBody.Content.Get("application/json"); ok && m.Example != nil {
		b.WriteString(" \\\n  -H 'Content-Type: application/json' \\\n  -d '" +
			strings.ReplaceAll(string(m.Example), "'", `'\''`) + "'")
	}
	return b.String()
}

// refName returns the name of the schema that s refers to; empty if s is not a
// reference.
func refName(s *Schema) string { return s.Ref[strings.LastIndexByte(s.Ref, '/')+1:] }

// link returns the named type that a schema consists of; empty if there is none.
func link(s *Schema) string {
	switch {
	case s == nil:
		return ""
	case s.Ref != "":
		return refName(s)
	case s.Items != nil:
		return link(s.Items)
	}
	return link(s.AdditionalProperties)
}

// kindOf returns the kind of a value in a word or two.
func kindOf(s *Schema) string {
	switch {
	case s.Ref != "":
		return refName(s)
	case s.Items != nil:
		return "list of " + kindOf(s.Items)
	case s.AdditionalProperties != nil:
		return strings.TrimSpace("object of " + kindOf(s.AdditionalProperties))
	case len(s.OneOf) > 0:
		each := make([]string, len(s.OneOf))
		for i, o := range s.OneOf {
			each[i] = kindOf(o)
		}
		return strings.Join(each, " or ")
	case s.ContentEncoding != "":
		return "string, " + s.ContentEncoding
	case s.Type == "":
		return "anything"
	}
	return s.Type
}

// limits returns the limits of a value in words.
func limits(s *Schema) string {
	var parts []string
	add := func(format string, a ...any) { parts = append(parts, fmt.Sprintf(format, a...)) }
	switch {
	case s.Const != "":
		add("%q", s.Const)
	case s.Minimum != nil && s.Maximum != nil && *s.Maximum < 1<<31-1:
		add("%g to %g", *s.Minimum, *s.Maximum)
	case s.Minimum != nil:
		add("from %g", *s.Minimum)
	}
	if s.MinLength != nil && s.MaxLength != nil {
		add("%d to %d characters", *s.MinLength, *s.MaxLength)
	} else if s.MaxLength != nil {
		add("at most %d characters", *s.MaxLength)
	}
	if s.MaxItems != nil {
		add("at most %d", *s.MaxItems)
	}
	if values := s.Enum; values != nil || s.Items != nil && s.Items.Enum != nil {
		if values == nil {
			values = s.Items.Enum
		}
		add("%s", strings.Join(values, ", "))
	}
	if s.Default != nil {
		add("default %v", s.Default)
	}
	return strings.Join(parts, "; ")
}

func isRequired(s *Schema, name string) bool { return slices.Contains(s.Required, name) }

// message returns the message that an action refers to.
func message(s pageData, ref string) *SocketMessage {
	m, ok := s.AsyncAPI.Components.Messages.Get(ref[strings.LastIndexByte(ref, '/')+1:])
	if !ok {
		return nil
	}
	return &m
}

// ofSockets reports whether an action belongs to one of the sockets.
func ofSockets(sockets []string, a ChannelAction) bool {
	return slices.Contains(sockets, strings.TrimPrefix(a.Channel.Ref, "#/channels/"))
}

// typeOf returns the type of a message on the wire.
func typeOf(s pageData, m *SocketMessage) string {
	payload, _ := s.AsyncAPI.Components.Schemas.Get(refName(m.Payload))
	if payload == nil {
		return m.Name
	}
	kind, ok := payload.Properties.Get("type")
	if !ok {
		return "none" // the socket receives one kind of message only
	}
	return kind.Const
}
