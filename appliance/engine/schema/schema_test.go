package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
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
		{taxi, `[]`, "no JSON object"},
		{taxi, `{"people":`, "no JSON"},
		{"", `{}`, ""},
		{"", `{"a":1}`, "no parameters"},
		{`{"type":"object","properties":{"a":{"not":{"const":1}}}}`, `{"a":1}`, "not"},
		{`{"type":"object","properties":{"a":{"pattern":"(?=a)b"}}}`, `{"a":"c"}`, ""}, // Go does not know it
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

func TestASchemaThatNoModelHereCanFollowIsRefusedWithItsPlace(t *testing.T) {
	deep := strings.Repeat(`{"type":"array","items":`, 20) + `{}` + strings.Repeat(`}`, 20)
	property := func(s string) string { return `{"type":"object","properties":{"a":` + s + `}}` }
	wide := strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("v", 100)+`",`, 600), ",")
	for parameters, want := range map[string]string{
		`{"$ref":"#/x"}`:                  "parameters.$ref: \"#/x\" is not there",
		`{"$ref":"#"}`:                    "contains itself",
		property(`{"$ref":"other.json"}`): `parameters.properties.a.$ref: "other.json" is not followed`,
		`{"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}},"properties":{"a":{"$ref":"#/` +
			`$defs/n"}}}`: `parameters.properties.a.properties.next.$ref: "#/$defs/n" contains itself`,
		`{"$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"}]}},"properties":{"a":{"$ref":"#/$defs/a"}}}`: "contains itself",
		property(`{"$dynamicRef":"#x"}`):     "parameters.properties.a.$dynamicRef",
		property(`{"type":"thing"}`):         `"thing" is not allowed`,
		property(`{"type":7}`):               "parameters.properties.a.type",
		`{"required":["a"],"type":"object"}`: `"a" is none of the properties`,
		`[]`:                                 "no JSON Schema",
		`false`:                              "no value",
		`{"type":"string"}`:                  "at the top",
		property(`{"type":"string","minLength":9999}`):         "can count",
		property(`{"type":"array","minItems":3,"maxItems":2}`): "not more than the most",
		property(`{"enum":[` + wide + `]}`):                    "",
		property(deep):                                         "deeper",
		`{`:                                                    "no JSON",
		`{"a":"` + strings.Repeat("x", maxBytes) + `"}`:        "at most",
	} {
		err := Check("t", []byte(parameters))
		bad, ok := errors.AsType[*Error](err)
		if want == "" {
			if err != nil {
				t.Errorf("%.80s: %v", parameters, err)
			}
			continue
		}
		if !ok || bad.Tool != "t" || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want %q in it", parameters, err, want)
		}
	}
}

func TestAGrammarStaysSmall(t *testing.T) {
	// Each level names the one below twice: 2^15 rules, if they were all written.
	var b strings.Builder
	b.WriteString(`{"$defs":{"d0":{"type":"integer"}`)
	for i := 1; i < 14; i++ {
		fmt.Fprintf(&b, `,"d%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}}`,
			i, i-1, i-1)
	}
	b.WriteString(`},"properties":{"a":{"$ref":"#/$defs/d13"}}}`)
	if err := Check("t", []byte(b.String())); err == nil {
		t.Error("no error")
	} else if !strings.Contains(err.Error(), "deeper") && !strings.Contains(err.Error(), "grammar of more") {
		t.Error(err)
	}
}

func TestPatternsBecomeRules(t *testing.T) {
	for pattern, want := range map[string]string{
		`^[A-C]\d$`: `[\U00000041-\U00000043] [\U00000030-\U00000039]`,
		`^(ab|c)+$`: `(("ab" | "c"))+`,
		`x`:         `char* "x" char*`,
		`^$`:        `""`,
		`^.{2}$`:    `(char char)`,
		`\bword`:    "", // what GBNF cannot say is checked
		`(?=a)`:     "",
		`^"$`:       "",
	} {
		if got, ok := matching(pattern); ok != (want != "") || got != want {
			t.Errorf("%s: %v %s, want %s", pattern, ok, got, want)
		}
	}
}
