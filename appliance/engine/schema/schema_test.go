package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestArgumentsAreCheckedAgainstTheirSchema(t *testing.T) {
	const taxi = `{"type":"object","properties":{"people":{"type":"number","minimum":1,"maximum":8.5},
		"day":{"type":"string","format":"date"},"code":{"type":"string","pattern":"^[A-Z][0-9]{3}$"}},
		"required":["people"],"additionalProperties":false}`
	for _, c := range []struct{ parameters, arguments, wrong string }{
		{taxi, `{"people":2}`, ""},
		{taxi, `{"people":2,"day":"2026-03-03","code":"A123"}`, ""},
		{taxi, `{"people":9}`, "people"},
		{taxi, `{"people":2,"day":"tomorrow"}`, "day"},
		{taxi, `{"people":2,"day":"2026-02-30"}`, "day"},
		{taxi, `{"people":2,"code":"a123"}`, "code"},
		{taxi, `{"people":2,"pets":1}`, "pets"},
		{taxi, `{}`, "people"},
		{taxi, `[]`, "not a JSON object"},
		{taxi, `{"people":`, "not JSON"},
		{"", `{}`, ""},
		{"", `{"a":1}`, "no parameters"},
		{`{"type":"object","properties":{"a":{"not":{"const":1}}}}`, `{"a":1}`, "not"},
		{`{"type":"object","properties":{"a":{"pattern":"(?=a)b"}}}`, `{"a":"c"}`, ""}, // Go does not support it
	} {
		p, err := Read("taxi", []byte(c.parameters))
		if err != nil {
			t.Fatal(err)
		}
		err = p.Validate(c.arguments)
		if (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s for %.60s: %v, want %q in it", c.arguments, c.parameters, err, c.wrong)
		}
	}
}

func TestArgumentsAreThoseOfTheTop(t *testing.T) {
	p, err := Read("t", []byte(`{"type":"object","$defs":{"when":{"type":"string","format":"date",`+
		`"description":"the day"}},
		"properties":{"b":{"$ref":"#/$defs/when"},"a":{"enum":["x","y"],"description":"which"},"c":{"type":"object",`+
		`"properties":{"d":{"type":"integer"}}}},
		"required":["a","b"]}`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range p.Arguments {
		got = append(got, fmt.Sprint(a.Name, " ", a.Description, " ", a.Required, " ", a.Type, " ", a.Format, " ",
			len(a.Enum)))
	}
	if want := []string{"b the day true string date 0", "a which true   2", "c  false object  0"}; !slices.Equal(got,
		want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestASchemaThatNoModelHereCanFollowIsRefused(t *testing.T) {
	property := func(s string) string { return `{"type":"object","properties":{"a":` + s + `}}` }
	for parameters, want := range map[string]string{
		`{"$ref":"#/x"}`:                     `"tool:///parameters#/x" not found`,
		property(`{"$ref":"other.json"}`):    "other.json",
		property(`{"$dynamicRef":"#x"}`):     "#x",
		property(`{"type":"thing"}`):         "at '/properties/a/type'",
		property(`{"type":7}`):               "at '/properties/a/type'",
		property(`{"minLength":-1}`):         "at '/properties/a/minLength'",
		`{"required":["a"],"type":"object"}`: `parameters.required: "a" is none of the properties`,
		`[]`:                                 "not a JSON Schema",
		`{"type":"string"}`:                  `parameters.type: "string" is not allowed at the top`,
		`{`:                                  "not JSON",
		`{"a":"` + strings.Repeat("x", maxBytes) + `"}`: "at most",
	} {
		err := Check("t", []byte(parameters))
		bad, ok := errors.AsType[*Error](err)
		if !ok || bad.Tool != "t" || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.80s: %v, want %q in it", parameters, err, want)
		}
	}
}

// A grammar has the names and types of arguments; what it cannot express may be any JSON.
func TestAGrammarHasNamesAndKinds(t *testing.T) {
	wide := strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("v", 100)+`",`, 600), ",")
	deep := strings.Repeat(`{"type":"array","items":`, 20) + `{"enum":["at the end"]}` + strings.Repeat(`}`, 20)
	for schema, want := range map[string]string{
		`{"type":"string","pattern":"a","maxLength":3}`:     `(string)`,
		`{"type":"string","format":"date-time"}`:            `(moment)`,
		`{"type":"integer","minimum":1}`:                    `(integer)`,
		`{"type":["number","null"]}`:                        `= number | null`,
		`{"anyOf":[{"type":"boolean"},{"type":"null"}]}`:    `= boolean | null`,
		`{"oneOf":[{"const":1},{"type":"string"}]}`:         `| string`,
		`{"enum":["on","o\"f",3]}`:                          `= "\"on\"" | "\"o\\\"f\"" | "3"`,
		`{"type":"array","items":{"type":"integer"}}`:       `= "[" (integer (", " integer)*)? "]"`,
		`{"type":"array","minItems":2}`:                     `= "[" value (", " value)* "]"`,
		`{"type":"object","additionalProperties":false}`:    `("{}")`,
		`{"type":"object","required":["b"]}`:                `(object)`,
		`{"properties":{"b":{"type":"integer"}}}`:           `= "\"b\": " (integer)`,
		`{"$ref":"#/$defs/kind"}`:                           `= "\"x\""`,
		`{"allOf":[{"$ref":"#/$defs/kind"}],"default":"x"}`: `= "\"x\""`,
		`{"allOf":[{"minimum":1},{"type":"integer"}]}`:      `(value)`,
		`{"$ref":"#/$defs/tree"}`:                           `= "\"child\": "`,
		`{"$ref":"#/$defs/itself"}`:                         `(value)`,
		`{"enum":[` + wide + `]}`:                           `vv`,
		`true`:                                              `(value)`,
		deep:                                                `value`,
	} {
		p, err := Read("t",
			[]byte(`{"$defs":{"kind":{"enum":["x"]},"tree":{"properties":{"child":{"$ref":"#/$defs/tree"}}},`+
				`"itself":{"$ref":"#/$defs/itself"}},"properties":{"a":`+schema+`}}`))
		if err != nil {
			t.Errorf("%.80s: %v", schema, err)
			continue
		}
		if !strings.Contains(p.Grammar(), want) || strings.Contains(p.Grammar(), "at the end") {
			t.Errorf("%.80s: %.400s, want %s in it", schema, p.Grammar(), want)
		}
	}
}

// Schemas that reference themselves, or go on without end, are processed or refused at once.
func TestMakingAGrammarTakesBoundedTime(t *testing.T) {
	const n = `{"$ref":"#/$defs/n"}`
	chain, all := `"n":{"$ref":"#/$defs/c0"}`, ""
	for i := range 800 {
		chain += fmt.Sprintf(`,"c%d":{"$ref":"#/$defs/c%d"}`, i, i+1)
		all += fmt.Sprintf(`,"p%d":{"$ref":"#/$defs/c%d"}`, i, i)
	}
	for name, schema := range map[string]string{
		"on and on": `{"$defs":{` + chain + `,"c800":{}},"properties":{"a":` + n + all + `}}`,
		"one of it": `{"$defs":{"n":{"anyOf":[` + strings.Repeat(n+",", 2000) + n + `]}},"properties":{"a":` + n + `}}`,
		"twice":     `{"$defs":{"n":{"properties":{"a":` + n + `,"b":` + n + `}}},"properties":{"a":` + n + `}}`,
		"with words": `{"$defs":{"n":{"title":"` + strings.Repeat("x", 60_000) + `","oneOf":[` + n + `,` + n + `]}},` +
			`"properties":{"a":` + n + `}}`,
	} {
		begun := time.Now()
		p, err := Read("t", []byte(schema))
		if took := time.Since(begun); took > 20*time.Second { // it takes a tenth of a second
			t.Errorf("%s: it took %v", name, took)
		}
		if err == nil && len(p.Grammar()) > maxGrammar ||
			err != nil && !strings.Contains(err.Error(), "grammar of more") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAGrammarStaysSmall(t *testing.T) {
	// Each level references the one below twice: 2^15 rules, if all were written.
	var b strings.Builder
	b.WriteString(`{"$defs":{"d0":{"type":"integer"}`)
	for i := 1; i < 14; i++ {
		fmt.Fprintf(&b, `,"d%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}}`,
			i, i-1, i-1)
	}
	b.WriteString(`},"properties":{"a":{"$ref":"#/$defs/d13"}}}`)
	if err := Check("t", []byte(b.String())); err == nil {
		t.Error("no error")
	} else if !strings.Contains(err.Error(), "grammar of more") {
		t.Error(err)
	}
}
