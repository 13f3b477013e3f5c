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

// schemas makes the schemas of Go types and gathers those with a name, so that
// each is written once.
type schemas struct {
	comments Comments
	folder   string // where they are in the document: "#/components/schemas/"
	named    map[string]*Schema
	from     map[string]string // what each of named was made from
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

// components are the schemas with a name, by their names.
func (s *schemas) components() Ordered[*Schema] {
	var all Ordered[*Schema]
	for _, name := range slices.Sorted(maps.Keys(s.named)) {
		all = append(all, Member[*Schema]{name, s.named[name]})
	}
	return all
}

// of is the schema of what is written of v's type.
func (s *schemas) of(v any) *Schema { return s.typed(reflect.TypeOf(v), nil) }

// body is the schema of a body under its own name.
func (s *schemas) body(b contract.Body) *Schema {
	return s.register(b.Name, reflect.TypeOf(b.Value), b.Shape)
}

// form is the schema of a form with a file beside the fields of a body.
func (s *schemas) form(b contract.Body, file string) *Schema {
	form := s.structure(reflect.TypeOf(b.Value), b.Shape)
	form.Description = s.comments.types[b.Name]
	form.Properties = append(Ordered[*Schema]{{file, &Schema{Type: "string", Format: "binary"}}}, form.Properties...)
	form.Required = append([]string{file}, form.Required...)
	return form
}

// typed is the schema of a type as it is written or, with a shape, as it is
// read.
func (s *schemas) typed(t reflect.Type, shape *contract.Shape) *Schema {
	if made := special(t); made != nil {
		if made.Properties == nil {
			return made
		}
		s.named[t.Name()] = made
		return &Schema{Ref: s.folder + t.Name()}
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
		name := capital(t.Name())
		if shape != nil && !strings.HasPrefix(name, "Posted") {
			name = "Posted" + name
		}
		return s.register(name, t, shape)
	}
	return s.fail("%s has no schema: say in describe what it is on the wire", t)
}

// special are the types that write themselves.
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
	case reflect.TypeFor[contract.VariableValue]():
		return &Schema{OneOf: []*Schema{{Type: "string"}, {Type: "number"}, {Type: "boolean"}}}
	case reflect.TypeFor[json.RawMessage]():
		return &Schema{}
	case reflect.TypeFor[[]any](): // the way to a field: names, and places in lists
		return &Schema{Type: "array", Items: &Schema{OneOf: []*Schema{{Type: "string"}, {Type: "integer"}}}}
	case reflect.TypeFor[[]byte]():
		return &Schema{Type: "string", ContentEncoding: "base64"}
	}
	return nil
}

func (s *schemas) text(t reflect.Type, shape *contract.Shape) *Schema {
	made := &Schema{Type: "string"}
	if t.PkgPath() != "" {
		made.Enum = s.comments.values[t.Name()]
		if made.Enum == nil {
			return s.fail("%s has neither constants nor a function that lists what it may be", t)
		}
	}
	if shape == nil {
		return made
	}
	if shape.Words != nil {
		made.Enum = shape.Words
		return made
	}
	made.MinLength, made.MaxLength = intPointer(shape.Low), intPointer(shape.High)
	return made
}

func (s *schemas) list(t reflect.Type, shape *contract.Shape) *Schema {
	if shape == nil {
		return &Schema{Type: "array", Items: s.typed(t.Elem(), nil)}
	}
	return &Schema{Type: "array", Items: s.typed(t.Elem(), shape.Items), MaxItems: intPointer(shape.High)}
}

func bounded(made *Schema, shape *contract.Shape) *Schema {
	if shape != nil {
		made.Minimum, made.Maximum = shape.Low, shape.High
	}
	return made
}

func intPointer(f *float64) *int {
	if f == nil {
		return nil
	}
	n := int(*f)
	return &n
}

// register gathers the schema of a struct and returns a reference to it.
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
	if t == reflect.TypeFor[contract.ToolResult]() { // one of two, told apart by their type
		s.named[name] = &Schema{OneOf: []*Schema{s.of(contract.ToolResponseMessage{}),
			s.of(contract.ToolErrorMessage{})}}
	} else {
		s.named[name] = s.structure(t, shape)
	}
	s.named[name].Description = s.comments.types[t.Name()]
	return ref
}

// structure is the schema of the fields of a struct.
func (s *schemas) structure(t reflect.Type, shape *contract.Shape) *Schema {
	made := &Schema{Type: "object"}
	if message, ok := reflect.Zero(t).Interface().(interface{ MessageType() string }); ok {
		made.Properties = append(made.Properties,
			Member[*Schema]{"type", &Schema{Type: "string", Const: message.MessageType()}})
		made.Required = append(made.Required, "type")
	} else if t.Implements(reflect.TypeFor[json.Marshaler]()) {
		return s.fail("%s writes itself: say in describe how", t)
	}
	s.addFields(made, t, shape)
	if shape == nil {
		return made
	}
	made.Required = append(made.Required, shape.Required...)
	slices.SortFunc(made.Required, func(a, b string) int { return made.indexOf(a) - made.indexOf(b) })
	made.Required = slices.Compact(made.Required)
	for _, name := range shape.FieldNames() {
		if made.indexOf(name) < 0 {
			s.fail("%s reads the field %q and does not have it", t, name)
		}
	}
	return made
}

func (s *Schema) indexOf(name string) int {
	return slices.IndexFunc(s.Properties, func(m Member[*Schema]) bool { return m.Name == name })
}

func (s *schemas) addFields(made *Schema, t reflect.Type, shape *contract.Shape) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			s.addFields(made, f.Type, shape)
			continue
		}
		if name == "-" || !f.IsExported() || f.Name == "Type" && f.Type.Kind() == reflect.Struct { // structure has that
			continue
		}
		var read *contract.Shape
		if shape != nil {
			if read = shape.Fields[name]; read == nil {
				s.fail("%s has the field %q and does not read it", t, name)
				continue
			}
		} else if !strings.Contains(options, "omit") {
			made.Required = append(made.Required, name)
		}
		field := *s.typed(f.Type, read)
		if said := s.comments.fields[t.Name()][f.Name]; said != "" {
			field.Description = said
		}
		made.Properties = append(made.Properties, Member[*Schema]{name, &field})
	}
}

// nameOf is the name of v's type as it stands in the description.
func nameOf(v any) string { return capital(reflect.TypeOf(v).Name()) }
