package schema

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// doubling returns a schema with n definitions, each of which applies the one before it twice, in
// the way that how describes with verbs of Sprintf.
func doubling(how string, n int) string {
	var b strings.Builder
	b.WriteString(`{"type":"object","$defs":{"d0":{"maxProperties":9}`)
	for i := 1; i <= n; i++ {
		ref := fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i-1)
		fmt.Fprintf(&b, `,"d%d":`+how, i, ref)
	}
	fmt.Fprintf(&b, `},"$ref":"#/$defs/d%d"}`, n)
	return b.String()
}

func TestValidationTakesBoundedTime(t *testing.T) {
	nested := strings.Repeat(`{"a":`, 100) + `1` + strings.Repeat(`}`, 100)
	for name, x := range map[string]struct{ parameters, arguments string }{
		"all of":       {doubling(`{"allOf":[%[2]s,%[2]s]}`, 40), `{"a":1}`},
		"not any of":   {doubling(`{"not":{"anyOf":[%[2]s,%[2]s]}}`, 40), `{"a":1}`},
		"dependent":    {doubling(`{"dependentSchemas":{"a":%[2]s,"b":%[2]s}}`, 40), `{"a":1,"b":1}`},
		"if then else": {doubling(`{"if":%[2]s,"then":%[2]s}`, 40), `{"a":1}`},
		"leading back": {`{"$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/b"}]},` +
			`"b":{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}]}},"$ref":"#/$defs/a"}`, `{"a":1}`},
		"in what is in it": {`{"$defs":{"n":{"additionalProperties":{"allOf":[{"$ref":"#/$defs/n"},{"$ref":"#/` +
			`$defs/n"}]}}},"$ref":"#/$defs/n"}`, nested},
		"dynamic references": {
			`{"$dynamicAnchor":"n","properties":{"a":{"allOf":[{"$dynamicRef":"#n"},{"$dynamicRef":"#n"}]}}}`, nested},
	} {
		v, err := Compile([]byte(x.parameters))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		done := make(chan error, 1)
		go func() { done <- v.Validate(x.arguments) }()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: not done after 20 s", name)
		}
	}
}

// Ordinary schemas are checked, however they are nested.
func TestASchemaThatContainsItselfIsChecked(t *testing.T) {
	v, err := Compile([]byte(`{"type":"object","$defs":{"node":{"type":"object","properties":{"name":{"type":"string"},
		"children":{"type":"array","items":{"$ref":"#/$defs/node"}},
		"parent":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/node"}]}}}},
		"properties":{"tree":{"$ref":"#/$defs/node"}},"required":["tree"]}`))
	if err != nil {
		t.Fatal(err)
	}
	node := `{"name":"a","children":[{"name":"b","children":[{"name":"c","parent":{"name":%s}},{"name":"d"}]}]}`
	if err := v.Validate(fmt.Sprintf(`{"tree":`+node+`}`, `"e"`)); err != nil {
		t.Error(err)
	}
	if err := v.Validate(fmt.Sprintf(`{"tree":`+node+`}`, `7`)); err == nil ||
		!strings.Contains(err.Error(), "parent") {
		t.Errorf("%v; the name of a node is a number", err)
	}
}
