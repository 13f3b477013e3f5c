package llama

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"parley/appliance/engine"
)

// gbnfDepth bounds how deep a schema may nest: a rule is written for each level.
const gbnfDepth = 16

// schema is the part of JSON Schema that a grammar can follow. What only
// describes is passed over; bounds of numbers that are no integers a grammar
// cannot count, so who runs a tool checks them.
type schema struct {
	Type       json.RawMessage            `json:"type"` // a name or several
	Properties orderedMap                 `json:"properties"`
	Required   []string                   `json:"required"`
	Items      json.RawMessage            `json:"items"`
	MinItems   int                        `json:"minItems"`
	MaxItems   *int                       `json:"maxItems"`
	MinLength  int                        `json:"minLength"`
	MaxLength  *int                       `json:"maxLength"`
	Enum       []json.RawMessage          `json:"enum"`
	Const      json.RawMessage            `json:"const"`
	AnyOf      []json.RawMessage          `json:"anyOf"`
	OneOf      []json.RawMessage          `json:"oneOf"`
	other      map[string]json.RawMessage // all keywords
}

// cannotFollow are the keywords that a grammar would have to follow and cannot.
var cannotFollow = []string{"$ref", "$dynamicRef", "allOf", "not", "if", "then", "else", "pattern", "patternProperties",
	"propertyNames", "dependentSchemas", "dependentRequired", "prefixItems", "contains", "minProperties", "maxProperties"}

// orderedMap keeps the properties in the order in which they were written: the
// model writes them so.
type orderedMap struct {
	names []string
	of    map[string]json.RawMessage
}

func (o *orderedMap) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, &o.of); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return err
		}
		if text, ok := name.(string); ok && !slices.Contains(o.names, text) {
			o.names = append(o.names, text)
		}
	}
	return nil
}

// gbnf writes grammars.
type gbnf struct {
	rules strings.Builder
	count int
	used  map[string]bool // of the rules below
}

// basics are the rules of JSON's own kinds. Strings and numbers have bounds, or
// a small model would go on with digits and spaces until the reply is full.
var basics = map[string]string{
	"char":    `[^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4})`,
	"string":  `"\"" char* "\""`,
	"integer": `"-"? ("0" | [1-9] [0-9]{0,15})`,
	"number":  `"-"? ("0" | [1-9] [0-9]{0,15}) ("." [0-9]{1,15})?`,
	"boolean": `"true" | "false"`,
	"null":    `"null"`,
	"value":   `string | number | boolean | null | array | object`,
	"array":   `"[" (value (", " value)*)? "]"`,
	"object":  `"{" (string ": " value (", " string ": " value)*)? "}"`,
}

// needs are the basics that others are made of.
var needs = map[string][]string{
	"string": {"char"}, "value": {"string", "number", "boolean", "null", "array", "object"},
	"array": {"value"}, "object": {"string", "value"},
}

// toolGrammar is what a call of the tool follows, as the models were trained to
// write it.
func toolGrammar(t engine.Tool) (string, error) {
	g := gbnf{used: map[string]bool{}}
	arguments := `"{}"`
	if len(bytes.TrimSpace(t.Parameters)) > 0 {
		var err error
		if arguments, err = g.rule(t.Parameters, "parameters", 0); err != nil {
			return "", fmt.Errorf("llama: the tool %q cannot be called: %w", t.Name, err)
		}
	}
	name, _ := json.Marshal(t.Name)
	fmt.Fprintf(&g.rules, "root ::= %s %s \"}\"\n", quoted(`{"name": `+string(name)+`, "arguments": `), arguments)
	for _, b := range slices.Sorted(maps.Keys(g.used)) {
		fmt.Fprintf(&g.rules, "%s ::= %s\n", b, basics[b])
	}
	return g.rules.String(), nil
}

// quoted is text as a literal of GBNF.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7F:
			fmt.Fprintf(&b, `\x%02X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func (g *gbnf) basic(name string) string {
	if !g.used[name] {
		g.used[name] = true
		for _, n := range needs[name] {
			g.basic(n)
		}
	}
	return name
}

// add makes a rule and returns its name.
func (g *gbnf) add(body string) string {
	g.count++
	name := "r" + strconv.Itoa(g.count)
	fmt.Fprintf(&g.rules, "%s ::= %s\n", name, body)
	return name
}

// rule returns what a value of a schema is; at says where the schema stands.
func (g *gbnf) rule(raw json.RawMessage, at string, depth int) (string, error) {
	if depth > gbnfDepth {
		return "", fmt.Errorf("%s: schemas nest deeper than %d", at, gbnfDepth)
	}
	switch string(bytes.TrimSpace(raw)) {
	case "true", "{}":
		return g.basic("value"), nil
	case "false":
		return "", fmt.Errorf("%s: false allows no value", at)
	}
	var s schema
	if err := json.Unmarshal(raw, &s.other); err != nil {
		return "", fmt.Errorf("%s: it is no JSON Schema: %w", at, err)
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", fmt.Errorf("%s: it is no JSON Schema: %w", at, err)
	}
	for _, k := range cannotFollow {
		if _, there := s.other[k]; there {
			return "", fmt.Errorf("%s.%s: a grammar cannot follow it; write the schema without", at, k)
		}
	}
	switch {
	case len(s.Const) > 0:
		return g.literals([]json.RawMessage{s.Const}, at)
	case len(s.Enum) > 0:
		return g.literals(s.Enum, at)
	case len(s.AnyOf) > 0:
		return g.oneOf(s.AnyOf, at+".anyOf", depth)
	case len(s.OneOf) > 0:
		return g.oneOf(s.OneOf, at+".oneOf", depth)
	}
	return g.typed(s, at, depth)
}

func (g *gbnf) typed(s schema, at string, depth int) (string, error) {
	var types []string
	var one string
	switch {
	case len(s.Type) == 0 && s.Properties.of != nil:
		types = []string{"object"}
	case len(s.Type) == 0 && s.Items != nil:
		types = []string{"array"}
	case len(s.Type) == 0:
		return g.basic("value"), nil
	case json.Unmarshal(s.Type, &one) == nil:
		types = []string{one}
	case json.Unmarshal(s.Type, &types) != nil || len(types) == 0:
		return "", fmt.Errorf("%s.type: %.80s is not allowed; a name or a list of names is", at, s.Type)
	}
	var rules []string
	for _, t := range types {
		r, err := g.ofType(t, s, at, depth)
		if err != nil {
			return "", err
		}
		rules = append(rules, r)
	}
	if len(rules) == 1 {
		return rules[0], nil
	}
	return g.add(strings.Join(rules, " | ")), nil
}

func (g *gbnf) ofType(t string, s schema, at string, depth int) (string, error) {
	switch t {
	case "string":
		if s.MinLength == 0 && s.MaxLength == nil {
			return g.basic("string"), nil
		}
		times, err := repeat(s.MinLength, s.MaxLength, at+".maxLength")
		return g.add(`"\"" ` + g.basic("char") + times + ` "\""`), err
	case "integer":
		return g.integer(s, at)
	case "number", "boolean", "null":
		return g.basic(t), nil
	case "array":
		return g.array(s, at, depth)
	case "object":
		return g.object(s, at, depth)
	}
	return "", fmt.Errorf("%s.type: %.80q is not allowed; string, integer, number, boolean, null, array and object are", at, t)
}

// mostTimes bounds what a grammar repeats: libllama writes out each time.
const mostTimes = 1000

func repeat(least int, most *int, at string) (string, error) {
	switch {
	case least < 0 || least > mostTimes || most != nil && (*most < least || *most > mostTimes):
		return "", fmt.Errorf("%s: a grammar can count from 0 to %d, and the least is not more than the most", at, mostTimes)
	case most == nil:
		return fmt.Sprintf("{%d,}", least), nil
	}
	return fmt.Sprintf("{%d,%d}", least, *most), nil
}

func (g *gbnf) array(s schema, at string, depth int) (string, error) {
	items := s.Items
	if items == nil {
		items = json.RawMessage("true")
	}
	item, err := g.rule(items, at+".items", depth+1)
	if err != nil {
		return "", err
	}
	if s.MaxItems != nil && *s.MaxItems == 0 {
		return `"[]"`, nil
	}
	var rest *int
	if s.MaxItems != nil {
		n := *s.MaxItems - 1
		rest = &n
	}
	times, err := repeat(max(s.MinItems-1, 0), rest, at+".maxItems")
	if err != nil {
		return "", err
	}
	body := item
	if rest == nil || *rest > 0 {
		body = fmt.Sprintf(`%s (", " %s)%s`, item, item, times)
	}
	if s.MinItems == 0 {
		body = "(" + body + ")?"
	}
	return g.add(`"[" ` + body + ` "]"`), nil
}

// object writes the required properties, and of the others those that the model
// wants, in the order of the schema.
func (g *gbnf) object(s schema, at string, depth int) (string, error) {
	if len(s.Properties.names) == 0 {
		if len(s.Required) > 0 {
			return "", fmt.Errorf("%s.required: %q is none of the properties", at, s.Required[0])
		}
		if string(s.other["additionalProperties"]) == "false" {
			return `"{}"`, nil
		}
		return g.basic("object"), nil
	}
	for _, name := range s.Required {
		if !slices.Contains(s.Properties.names, name) {
			return "", fmt.Errorf("%s.required: %q is none of the properties", at, name)
		}
	}
	// From the end: what may follow where something was written before, and
	// where nothing was.
	after, begin := "", ""
	for _, name := range slices.Backward(s.Properties.names) {
		value, err := g.rule(s.Properties.of[name], at+".properties."+name, depth+1)
		if err != nil {
			return "", err
		}
		key, _ := json.Marshal(name)
		pair := g.add(quoted(string(key)+": ") + " " + value)
		first := strings.TrimSpace(pair + " " + after)
		next := strings.TrimSpace(`", " ` + pair + " " + after)
		if slices.Contains(s.Required, name) {
			begin, after = g.add(first), g.add(next)
			continue
		}
		if begin == "" {
			begin = `""`
		}
		if after == "" {
			after = `""`
		}
		begin, after = g.add(first+" | "+begin), g.add(next+" | "+after)
	}
	return g.add(`"{" ` + begin + ` "}"`), nil
}

func (g *gbnf) literals(values []json.RawMessage, at string) (string, error) {
	var out []string
	for _, v := range values {
		var compact bytes.Buffer
		if err := json.Compact(&compact, v); err != nil {
			return "", fmt.Errorf("%s: %w", at, err)
		}
		out = append(out, quoted(compact.String()))
	}
	return g.add(strings.Join(out, " | ")), nil
}

func (g *gbnf) oneOf(all []json.RawMessage, at string, depth int) (string, error) {
	var rules []string
	for i, raw := range all {
		r, err := g.rule(raw, fmt.Sprintf("%s[%d]", at, i), depth+1)
		if err != nil {
			return "", err
		}
		rules = append(rules, r)
	}
	return g.add(strings.Join(rules, " | ")), nil
}
