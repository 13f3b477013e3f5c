package describe

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"parley/appliance/contract"
)

// schemas builds the schemas of Go types, and collects those with a name, so that
// each is written once.
type schemas struct {
	comments Comments
	folder   string // their place in the document: "#/components/schemas/"
	named    map[string]*Schema
	from     map[string]string // the Go type and shape of each of named
	errs     []error
}

func newSchemas(w Comments) *schemas {
	return &schemas{w, "#/components/schemas/", map[string]*Schema{}, map[string]string{}, nil}
}

func (s *schemas) fail(format string, a ...any) *Schema {
	s.errs = append(s.errs, fmt.Errorf(format, a...))
	return &Schema{}
}

func (s *schemas) err() error { return errors.Join(s.errs...) }

// components returns the named schemas in alphabetical order.
func (s *schemas) components() Ordered[*Schema] {
	var all Ordered[*Schema]
	for _, name := range slices.Sorted(maps.Keys(s.named)) {
		all = append(all, Member[*Schema]{name, s.named[name]})
	}
	return all
}

// of returns the schema of v's type as it is written.
func (s *schemas) of(v any) *Schema { return s.typed(reflect.TypeOf(v), nil) }

// body returns the schema of a body under its name.
func (s *schemas) body(b contract.Body) *Schema {
	return s.register(b.Name, reflect.TypeOf(b.Value), b.Shape)
}

// form returns the schema of a form with a file and the fields of a body.
func (s *schemas) form(b contract.Body, file string) *Schema {
	form := s.structure(reflect.TypeOf(b.Value), b.Shape)
	form.Description = s.comments.types[b.Name]
	form.Properties = append(Ordered[*Schema]{{file, &Schema{Type: "string", Format: "binary"}}}, form.Properties...)
	form.Required = append([]string{file}, form.Required...)
	return form
}

// formWithFiles returns the schema of a form with a body as its part json, and files.
func (s *schemas) formWithFiles(b contract.Body, files string) *Schema {
	return &Schema{
		Type: "object",
		Properties: Ordered[*Schema]{
			{"json", s.body(b)},
			{files, &Schema{Type: "array", Items: &Schema{Type: "string", Format: "binary"}}},
		},
	}
}

// typed returns the schema of a type as it is written or, with a shape, as it is
// parsed.
func (s *schemas) typed(t reflect.Type, shape *contract.Shape) *Schema {
	if schema := special(t); schema != nil {
		if schema.Properties == nil {
			return schema
		}
		s.named[typeName(t)] = schema
		return &Schema{Ref: s.folder + typeName(t)}
	}
	if t == reflect.TypeFor[contract.Scores]() {
		t = contract.Scores{}.WireType()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.typed(t.Elem(), shape)
	case reflect.String:
		return s.text(t, shape)
	case reflect.Bool:
		return &Schema{Type: "boolean"}
	case reflect.Int, reflect.Int64:
		return bounded(&Schema{Type: "integer"}, shape)
	case reflect.Float64:
		return bounded(&Schema{Type: "number"}, shape)
	case reflect.Slice:
		return s.list(t, shape)
	case reflect.Map:
		return &Schema{Type: "object", AdditionalProperties: s.typed(t.Elem(), nil)}
	case reflect.Struct:
		name := capital(typeName(t))
		if shape != nil && !strings.HasPrefix(name, "Posted") {
			name = "Posted" + name
		}
		return s.register(name, t, shape)
	}
	return s.fail("%s has no schema: say in describe what it is on the wire", t)
}

// special returns the schemas of types with their own JSON encoding.
func special(t reflect.Type) *Schema {
	switch t {
	case reflect.TypeFor[contract.EmotionScores]():
		one := &Schema{Type: "object", Description: "How much of each, 0 to 1. All of them are always there."}
		for i := range contract.EmotionCount {
			one.Properties = append(one.Properties,
				Member[*Schema]{contract.EmotionName(i), &Schema{Type: "number", Minimum: float(0), Maximum: float(1)}})
			one.Required = append(one.Required, contract.EmotionName(i))
		}
		return one
	case reflect.TypeFor[contract.BatchSource]():
		return &Schema{
			Type: "object",
			Properties: Ordered[*Schema]{
				{"type", Enum(contract.SourceURL, contract.SourceFile, contract.SourceText)},
				{"url", &Schema{Type: "string", Description: "Of a url."}},
				{"filename", &Schema{Type: "string", Description: "Of a file."}},
				{"content_type", &Schema{Type: "string", Description: "Of a file."}},
				{"md5sum", &Schema{Type: "string", Description: "Of a file, in hex."}},
			},
			Required: []string{"type"},
		}
	case reflect.TypeFor[contract.OpenAIToolChoice]():
		return &Schema{OneOf: []*Schema{{Type: "string", Enum: []string{"none", "auto", "required"}}, {Type: "object"}}}
	case reflect.TypeFor[contract.VariableValue]():
		return &Schema{OneOf: []*Schema{{Type: "string"}, {Type: "number"}, {Type: "boolean"}}}
	case reflect.TypeFor[json.RawMessage]():
		return &Schema{}
	case reflect.TypeFor[struct{}](): // has no name
		return &Schema{Type: "object"}
	case reflect.TypeFor[[]any](): // the path to a field: names and list indexes
		return &Schema{Type: "array", Items: &Schema{OneOf: []*Schema{{Type: "string"}, {Type: "integer"}}}}
	case reflect.TypeFor[[]byte]():
		return &Schema{Type: "string", ContentEncoding: "base64"}
	}
	return nil
}

func (s *schemas) text(t reflect.Type, shape *contract.Shape) *Schema {
	schema := &Schema{Type: "string"}
	if t.PkgPath() != "" {
		schema.Enum = s.comments.values[t.Name()]
		if schema.Enum == nil {
			return s.fail("%s has neither constants nor a function that lists what it may be", t)
		}
	}
	if shape == nil {
		return schema
	}
	if shape.Words != nil {
		schema.Enum = shape.Words
		return schema
	}
	schema.MinLength, schema.MaxLength = intPointer(shape.Low), intPointer(shape.High)
	return schema
}

func (s *schemas) list(t reflect.Type, shape *contract.Shape) *Schema {
	if shape == nil {
		return &Schema{Type: "array", Items: s.typed(t.Elem(), nil)}
	}
	return &Schema{Type: "array", Items: s.typed(t.Elem(), shape.Items), MaxItems: intPointer(shape.High)}
}

func bounded(schema *Schema, shape *contract.Shape) *Schema {
	if shape != nil {
		schema.Minimum, schema.Maximum = shape.Low, shape.High
	}
	return schema
}

func intPointer(f *float64) *int {
	if f == nil {
		return nil
	}
	n := int(*f)
	return &n
}

// register adds the schema of a struct to named and returns a reference to it.
func (s *schemas) register(name string, t reflect.Type, shape *contract.Shape) *Schema {
	from := t.String()
	if shape != nil {
		asked, err := json.Marshal(shape)
		if err != nil {
			return s.fail("%s: %w", name, err)
		}
		from += " " + string(asked)
	}
	ref := &Schema{Ref: s.folder + name}
	if before, there := s.from[name]; there {
		if before != from {
			return s.fail("two schemas would be named %s: %.200s and %.200s", name, before, from)
		}
		return ref
	}
	s.from[name] = from
	if t == reflect.TypeFor[contract.ToolResult]() { // one of two messages, by their type
		s.named[name] = &Schema{OneOf: []*Schema{s.of(contract.ToolResponseMessage{}),
			s.of(contract.ToolErrorMessage{})}}
	} else {
		s.named[name] = s.structure(t, shape)
	}
	s.named[name].Description = s.comments.types[genericName(t)]
	return ref
}

// structure returns the schema of a struct's fields.
func (s *schemas) structure(t reflect.Type, shape *contract.Shape) *Schema {
	schema := &Schema{Type: "object"}
	if message, ok := reflect.Zero(t).Interface().(interface{ MessageType() string }); ok {
		schema.Properties = append(schema.Properties,
			Member[*Schema]{"type", &Schema{Type: "string", Const: message.MessageType()}})
		schema.Required = append(schema.Required, "type")
	} else if t.Implements(reflect.TypeFor[json.Marshaler]()) {
		return s.fail("%s writes itself: say in describe how", t)
	}
	s.addFields(schema, t, shape)
	if shape == nil {
		return schema
	}
	schema.Required = append(schema.Required, shape.Required...)
	slices.SortFunc(schema.Required, func(a, b string) int { return schema.indexOf(a) - schema.indexOf(b) })
	schema.Required = slices.Compact(schema.Required)
	for _, name := range shape.FieldNames() {
		if schema.indexOf(name) < 0 {
			s.fail("%s reads the field %q and does not have it", t, name)
		}
	}
	return schema
}

func (s *Schema) indexOf(name string) int {
	return slices.IndexFunc(s.Properties, func(m Member[*Schema]) bool { return m.Name == name })
}

func (s *schemas) addFields(schema *Schema, t reflect.Type, shape *contract.Shape) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			s.addFields(schema, f.Type, shape)
			continue
		}
		if name == "-" || !f.IsExported() || f.Name == "Type" && f.Type.Kind() == reflect.Struct { // structure has that
			continue
		}
		var expected *contract.Shape
		if shape != nil {
			if expected = shape.Fields[name]; expected == nil {
				s.fail("%s has the field %q and does not read it", t, name)
				continue
			}
		} else if !strings.Contains(options, "omit") {
			schema.Required = append(schema.Required, name)
		}
		field := *s.typed(f.Type, expected)
		if shape == nil && f.Type.Kind() == reflect.Pointer && !strings.Contains(options, "omit") {
			field = Schema{OneOf: []*Schema{s.typed(f.Type, nil), {Type: "null"}}}
		}
		if comment := s.comments.fields[genericName(t)][f.Name]; comment != "" {
			field.Description = comment
		}
		schema.Properties = append(schema.Properties, Member[*Schema]{name, &field})
	}
}

// genericName returns the name of a type without its parameters.
func genericName(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	return name
}

// typeName returns the name of a type, with that of its parameter: GroupedFacePrediction.
func typeName(t reflect.Type) string {
	_, of, _ := strings.Cut(strings.TrimSuffix(t.Name(), "]"), "[")
	return genericName(t) + of[strings.LastIndex(of, ".")+1:]
}

// nameOf returns the name of v's type in the description.
func nameOf(v any) string { return capital(reflect.TypeOf(v).Name()) }
