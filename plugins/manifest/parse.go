package manifest

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Parse reads a manifest. Every error is an ErrInvalid.
func Parse(text []byte) (Manifest, error) {
	if !utf8.Valid(text) {
		return Manifest{}, ErrInvalid{Why: "not UTF-8"}
	}
	top, err := document(text)
	if err != nil {
		return Manifest{}, err
	}
	r := &reader{}
	m := r.manifest(top)
	if r.err != nil {
		return Manifest{}, r.err
	}
	return m, nil
}

func (r *reader) manifest(top ast.Node) Manifest {
	o := r.object(top, "", "name", "version", "description", "license", "wasm", "reuse", "tools", "hooks", "settings",
		"permissions")
	for _, key := range []string{"name", "version", "description"} {
		o.required(key, "every plugin has one")
	}
	m := Manifest{
		Name:        o.text("name", 200),
		Version:     o.text("version", 200),
		Description: o.text("description", 2000),
		License:     o.text("license", 200),
		Wasm:        o.text("wasm", 200),
		Reuse:       Reuse(o.text("reuse", 200)),
	}
	if o.values["name"] != nil && !namePattern.MatchString(m.Name) {
		r.fail(o.values["name"], "name", "%.80q; a name has a-z, 0-9 and - within, at most 64 characters", m.Name)
	}
	if o.values["version"] != nil && !versionPattern.MatchString(m.Version) {
		r.fail(o.values["version"], "version", "%.80q; write it like 1.2.0", m.Version)
	}
	if m.Wasm != "" && (!filepath.IsLocal(m.Wasm) || filepath.Base(m.Wasm) != m.Wasm) {
		r.fail(o.values["wasm"], "wasm", "%.80q is not the name of a file beside the manifest", m.Wasm)
	}
	switch m.Reuse {
	case "":
		m.Reuse = ReuseNone
	case ReuseNone, ReuseChat, ReuseAny:
	default:
		r.fail(o.values["reuse"], "reuse", "%.80q; none, chat and any are allowed", string(m.Reuse))
	}
	o.list("tools", MaxTools, func(n ast.Node, path string) {
		t := r.tool(n, path)
		if _, there := m.Tool(t.Name); there {
			r.fail(n, path+".name", "%.80q is there twice", t.Name)
		}
		m.Tools = append(m.Tools, t)
	})
	m.Hooks = o.texts("hooks", 2, func(n ast.Node, path, text string) {
		if text != OnTurn && text != OnChatEnd {
			r.fail(n, path, "%.80q; %s and %s are allowed", text, OnTurn, OnChatEnd)
		}
	})
	o.list("settings", MaxSettings, func(n ast.Node, path string) {
		s := r.setting(n, path)
		if slices.ContainsFunc(m.Settings, func(other Setting) bool { return strings.EqualFold(other.Name, s.Name) }) {
			r.fail(n, path+".name", "%.80q is there twice; upper and lower case are the same in SETTING_%s", s.Name,
				strings.ToUpper(s.Name))
		}
		m.Settings = append(m.Settings, s)
	})
	m.Permissions = r.permissions(o.values["permissions"])
	if len(m.Tools) == 0 && len(m.Hooks) == 0 {
		r.fail(top, "tools", "missing; a plugin has at least one tool, or hooks: [on_turn] or [on_chat_end]")
	}
	return m
}

func (r *reader) tool(n ast.Node, path string) Tool {
	o := r.object(n, path, "name", "description", "parameters", "fallback_content", "timeout")
	o.required("name", "the model calls a tool by it")
	o.required("description", "the model knows by it when to call the tool")
	t := Tool{
		Name:            o.text("name", 200),
		Description:     o.text("description", 511*4),
		FallbackContent: o.text("fallback_content", 2048),
		Timeout:         DefaultTimeout,
	}
	switch {
	case o.values["name"] == nil:
	case !toolPattern.MatchString(t.Name):
		r.fail(o.values["name"], path+".name", "%.80q; a tool's name has letters, digits, _ and -, at most 64", t.Name)
	case t.Name == OnTurn || t.Name == OnChatEnd || reserved(t.Name):
		r.fail(o.values["name"], path+".name", "%q means something else in a module; choose another name", t.Name)
	}
	if utf8.RuneCountInString(t.Description) > 511 {
		r.fail(o.values["description"], path+".description", "%d characters; at most 511 are allowed",
			utf8.RuneCountInString(t.Description))
	}
	t.Parameters = []byte(`{"type":"object","properties":{}}`)
	if p := o.values["parameters"]; p != nil {
		t.Parameters = r.raw(p, path+".parameters")
		r.schema(p, path+".parameters", t.Parameters)
	}
	if text := o.text("timeout", 40); text != "" {
		limit, err := time.ParseDuration(text)
		if err != nil || limit < minTimeout || limit > MaxTimeout {
			r.fail(o.values["timeout"], path+".timeout", "%.40q; write it like 2s or 500ms, from %v to %v", text,
				minTimeout, MaxTimeout)
		}
		t.Timeout = limit
	}
	return t
}

// reserved are exports that runtimes of languages use.
func reserved(name string) bool {
	return strings.HasPrefix(name, "_") ||
		slices.Contains([]string{"memory", "malloc", "free", "main", "hs_init", "hs_exit"}, name)
}

// schema fails where text is no JSON schema of an object.
func (r *reader) schema(at ast.Node, path string, text []byte) {
	if r.err != nil {
		return
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		r.fail(at, path, "not JSON: %v", err)
		return
	}
	if o, ok := doc.(map[string]any); !ok || o["type"] != "object" {
		r.fail(at, path, `not the schema of an object; write {type: object, properties: {…}}`)
		return
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // loads nothing from anywhere
	const here = "parameters.json"
	if err := c.AddResource(here, doc); err == nil {
		_, err = c.Compile(here)
		if err != nil {
			r.fail(at, path, "not a JSON schema: %s", firstLines(err.Error()))
		}
	} else {
		r.fail(at, path, "not a JSON schema: %s", firstLines(err.Error()))
	}
}

func firstLines(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.ToValidUTF8(text[:min(len(text), 300)], "")
}

func (r *reader) setting(n ast.Node, path string) Setting {
	o := r.object(n, path, "name", "type", "description", "required", "default")
	o.required("name", "the plugin asks for a setting by it")
	s := Setting{
		Name:        o.text("name", 200),
		Type:        Type(o.text("type", 40)),
		Description: o.text("description", 2000),
		Required:    o.flag("required"),
		Default:     o.text("default", 4096),
	}
	if o.values["name"] != nil && !settingPattern.MatchString(s.Name) {
		r.fail(o.values["name"], path+".name",
			"%.80q; a setting's name begins with a letter and has letters, digits and _, at most 64", s.Name)
	}
	if s.Type == "" {
		s.Type = String
	}
	if !slices.Contains([]Type{String, Secret, Integer, Number, Boolean}, s.Type) {
		r.fail(o.values["type"], path+".type", "%.40q; string, secret, integer, number and boolean are allowed",
			string(s.Type))
		return s
	}
	if d := o.values["default"]; d != nil {
		if err := s.Check(s.Default); err != nil {
			r.fail(d, path+".default", "%v", err)
		}
		switch {
		case s.Type == Secret:
			r.fail(d, path+".default", "a secret in a manifest is none")
		case s.Required:
			r.fail(d, path+".default", "a required setting is filled in by the installer; leave out one of the two")
		}
	}
	return s
}

// Check says what is wrong with a value for the setting.
func (s Setting) Check(value string) error {
	const most = 16 << 10
	switch {
	case len(value) > most:
		return fmt.Errorf("%s: %d bytes; at most %d are allowed", s.Name, len(value), most)
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		return fmt.Errorf("%s: not a text: it has bytes that are not UTF-8, or a zero", s.Name)
	}
	return s.Type.check(s.Name, value)
}
