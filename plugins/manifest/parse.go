package manifest

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// schemaText is the JSON schema of manifests.
//
//go:embed manifest.schema.json
var schemaText []byte

// Parse parses a manifest. Every error is an ErrInvalid.
func Parse(text []byte) (Manifest, error) {
	if !utf8.Valid(text) {
		return Manifest{}, ErrInvalid{Why: "not UTF-8"}
	}
	top, err := document(text)
	if err != nil {
		return Manifest{}, err
	}
	r := &reader{lines: map[string]int{}}
	r.write(top, "", false, 0)
	r.check()
	m := r.manifest()
	if r.err != nil {
		return Manifest{}, r.err
	}
	return m, nil
}

// check validates the manifest against the schema.
func (r *reader) check() {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaText))
	value, failed := jsonschema.UnmarshalJSON(bytes.NewReader(r.json.Bytes()))
	if err = errors.Join(err, failed); err != nil {
		r.fail("", "%v", err)
		return
	}
	schema, err := compiled(doc, formats())
	if err != nil {
		r.fail("", "the schema of manifests: %v", err)
		return
	}
	wrong, isWrong := errors.AsType[*jsonschema.ValidationError](schema.Validate(value))
	if !isWrong {
		return
	}
	field, why := describe(schema, slices.MinFunc(leaves(wrong), func(a, b *jsonschema.ValidationError) int {
		return r.order(schema, a) - r.order(schema, b)
	}))
	r.fail(field, "%s", why)
}

// order sorts errors from top to bottom, and a misspelt field before the missing one.
func (r *reader) order(schema *jsonschema.Schema, e *jsonschema.ValidationError) int {
	if _, unknown := e.ErrorKind.(*kind.AdditionalProperties); unknown {
		return -1
	}
	field, _ := describe(schema, e)
	return r.lines[field]
}

// leaves returns the errors of single fields.
func leaves(e *jsonschema.ValidationError) (all []*jsonschema.ValidationError) {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	for _, cause := range e.Causes {
		all = append(all, leaves(cause)...)
	}
	return all
}

// describe returns the field and the text of an error.
func describe(schema *jsonschema.Schema, e *jsonschema.ValidationError) (field, why string) {
	for _, key := range e.InstanceLocation {
		if inner := schema.Properties[key]; inner != nil {
			schema, field = inner, join(field, key)
		} else {
			schema, field = schema.Items2020, field+"["+key+"]"
		}
	}
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		return join(field, k.Properties[0]), "unknown field: the fields here are " +
			strings.Join(slices.Sorted(maps.Keys(schema.Properties)), ", ")
	case *kind.Required:
		return join(field, k.Missing[0]), "required field is missing"
	case *kind.Type:
		names := map[string]string{
			"array":   "a list",
			"boolean": "true or false",
			"null":    "nothing",
			"number":  "a number",
			"object":  "a map",
			"string":  "a string",
		}
		return field, "wrong type (" + names[k.Got] + "): write " + names[k.Want[0]]
	case *kind.Enum:
		return field, fmt.Sprintf("unknown value (%.80q): %s are allowed", k.Got, allowed(k.Want))
	case *kind.UniqueItems:
		return fmt.Sprintf("%s[%d]", field, k.Duplicates[1]), "is listed twice"
	case *kind.MaxItems:
		return field, fmt.Sprintf("too many entries (%d): at most %d are allowed", k.Got, k.Want)
	case *kind.MaxLength:
		return field, fmt.Sprintf("too long (%d characters): at most %d are allowed", k.Got, k.Want)
	case *kind.Format:
		return field, k.Err.Error()
	}
	return field, e.Error()
}

// allowed joins texts as people do: a, b and c.
func allowed(texts []any) string {
	list := strings.Trim(fmt.Sprintf("%q", texts), "[]")
	list = strings.ReplaceAll(strings.ReplaceAll(list, `" "`, ", "), `"`, "")
	if i := strings.LastIndex(list, ", "); i > 0 {
		list = list[:i] + " and" + list[i+1:]
	}
	return list
}

// manifest decodes the manifest, sets defaults, and checks what the schema cannot express.
func (r *reader) manifest() (m Manifest) {
	if r.err != nil {
		return m
	}
	wire := struct {
		*Manifest
		Permissions struct {
			*Permissions
			Storage string `json:"storage"`
			Memory  string `json:"memory"`
		} `json:"permissions"`
	}{Manifest: &m}
	wire.Permissions.Permissions = &m.Permissions
	if err := json.Unmarshal(r.json.Bytes(), &wire); err != nil {
		r.fail("", "%v", err)
		return m
	}
	m.Permissions.Storage, _ = bytesOf(wire.Permissions.Storage, 0, MaxStorage)
	m.Permissions.Memory, _ = bytesOf(wire.Permissions.Memory, minMemory, MaxMemory)
	m.complete()
	if len(m.Tools) == 0 && len(m.Hooks) == 0 {
		r.fail("tools", "missing: a plugin has at least one tool, or hooks: [on_turn] or [on_chat_end]")
	}
	for i, t := range m.Tools {
		if slices.ContainsFunc(m.Tools[:i], func(other Tool) bool { return other.Name == t.Name }) {
			r.fail(fmt.Sprintf("tools[%d].name", i), "name is used twice (%.80q): choose another", t.Name)
		}
	}
	for i, f := range m.Permissions.Files {
		if slices.ContainsFunc(m.Permissions.Files[:i], func(other File) bool { return other.As == f.As }) {
			r.fail(fmt.Sprintf("permissions.files[%d].as", i), "folder is used twice (%.80q): choose another", f.As)
		}
	}
	for i, s := range m.Settings {
		r.setting(fmt.Sprintf("settings[%d]", i), s, m.Settings[:i])
	}
	return m
}

func (r *reader) setting(field string, s Setting, before []Setting) {
	if slices.ContainsFunc(before, func(other Setting) bool { return strings.EqualFold(other.Name, s.Name) }) {
		r.fail(field+".name", "name is used twice (%.80q): names that differ in case only share SETTING_%s",
			s.Name, strings.ToUpper(s.Name))
	}
	field += ".default"
	if _, given := r.lines[field]; !given {
		return
	}
	if err := s.Check(s.Default); err != nil {
		r.fail(field, "%v", err)
	}
	switch {
	case s.Type == Secret:
		r.fail(field, "a secret has a default: leave it out, because anyone can read a manifest")
	case s.Required:
		r.fail(field, "a required setting has a default: leave out default or required")
	}
}

// complete sets the defaults.
func (m *Manifest) complete() {
	m.Reuse = cmp.Or(m.Reuse, ReuseNone)
	for i := range m.Tools {
		if m.Tools[i].Parameters == nil {
			m.Tools[i].Parameters = []byte(`{"type":"object","properties":{}}`)
		}
	}
	for i := range m.Settings {
		m.Settings[i].Type = cmp.Or(m.Settings[i].Type, String)
	}
	p := &m.Permissions
	for i := range p.HTTP {
		if len(p.HTTP[i].Methods) == 0 {
			p.HTTP[i].Methods = []string{"GET"}
		}
	}
	for i := range p.Files {
		p.Files[i].As, p.Files[i].Mode = cmp.Or(p.Files[i].As, p.Files[i].Path), cmp.Or(p.Files[i].Mode, Read)
	}
	if p.Conversation == "none" {
		p.Conversation = NoConversation
	}
	p.Memory = cmp.Or(p.Memory, DefaultMemory)
}
