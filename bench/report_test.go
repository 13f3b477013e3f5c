package bench

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"parley/appliance/config"
)

func TestAReportIsOneObjectOfFiguresWithTheirUnits(t *testing.T) {
	r := Report{Bench: "stt", Machine: describe(config.Config{Profile: "test"})}
	r.figure("plain", 1.23456789, "ms", "")
	r.against("held", 3, "%", 2, "the other")
	r.paired("paired", 110, "ms", 100, 1.05, "in turn")
	r.figure("nothing", math.NaN(), "ms", "")
	r.against("by nothing", 1, "ms", 0, "")
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	_, figures, _ := strings.Cut(string(text), `"figures":`)
	if want := `[{"name":"plain","value":1.235,"unit":"ms","yardstick":null,"ratio":null},` +
		`{"name":"held","value":3,"unit":"%","yardstick":2,"ratio":1.5,"note":"the other"},` +
		`{"name":"paired","value":110,"unit":"ms","yardstick":100,"ratio":1.05,"note":"in turn"},` +
		`{"name":"nothing","value":null,"unit":"ms","yardstick":null,"ratio":null},` +
		`{"name":"by nothing","value":1,"unit":"ms","yardstick":0,"ratio":null}]}`; figures != want {
		t.Errorf("got  %s\nwant %s", figures, want)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &struct{ Machine *map[string]any }{&m}); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"cpu", "cores", "memory_gib", "kernel", "load_average", "version", "profile",
		"packs"} {
		if v := m[key]; v == nil || v == "" || v == 0. {
			t.Errorf("machine.%s is %v", key, v)
		}
	}
	var table strings.Builder
	if err := r.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Figures {
		if !strings.Contains(table.String(), f.Name) {
			t.Errorf("the table lacks %s:\n%s", f.Name, table.String())
		}
	}
}

func TestANumberKeepsFourDigits(t *testing.T) {
	for in, want := range map[Number]string{
		0: "0", 0.00123456: "0.001235", 12345.6: "12350", -1.5: "-1.5", 1e9: "1000000000", 0.1 + 0.2: "0.3",
		Number(math.Inf(-1)): "-",
	} {
		if got := in.String(); got != want {
			t.Errorf("%g is written %s, want %s", float64(in), got, want)
		}
	}
}

func TestImpossibleOptionsAreNamed(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"prompts is 0": func(o *Options) { o.Prompts = 0 },
		"rounds is -1": func(o *Options) { o.Rounds = -1 },
		"turns is":     func(o *Options) { o.Turns = 1 << 20 },
		"chats is 0":   func(o *Options) { o.Chats = []int{4, 0} },
		"idle is -1s":  func(o *Options) { o.Idle = -1e9 },
	} {
		o := Defaults()
		change(&o)
		if err := o.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if err := Defaults().check(); err != nil {
		t.Error(err)
	}
}
