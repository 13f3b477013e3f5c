package main

import (
	"encoding/json"
	"strings"
	"testing"

	"parley/appliance/contract"
)

func TestAVoiceStandsInForAnother(t *testing.T) {
	t.Parallel()
	data := beginData(t)
	at := func(args ...string) (code int, out, errs string) {
		t.Helper()
		return parley(t, "", append([]string{"voices", "alias", "--data", data}, args...)...)
	}
	listed := func() (all []contract.ReturnVoiceAlias) {
		t.Helper()
		_, out, errs := at("--json")
		if err := json.Unmarshal([]byte(out), &all); err != nil {
			t.Fatalf("%v: %s %s", err, out, errs)
		}
		return all
	}
	builtIn := len(listed())
	if code, out, errs := at("Gazza", "joe"); code != exitDone || out != "Joe stands in for Gazza.\n" {
		t.Errorf("%d %s %s", code, out, errs)
	}
	all := listed()
	if want := (contract.ReturnVoiceAlias{
		Name:    "Gazza",
		Voice:   "Joe",
		VoiceID: "voice-joe",
		From:    contract.AliasOfBox,
	}); len(all) != builtIn+1 || all[0] != want || builtIn == 0 {
		t.Errorf("%d, %+v", len(all), all[0])
	}
	if _, out, _ := at(); !strings.Contains(out, "Gazza") || !strings.Contains(out, "Ito") ||
		!strings.Contains(out, "built in") {
		t.Errorf("%s", out)
	}
	for _, old := range []string{"gazza", "Ito"} {
		if code, out, errs := parley(t, "", "say", "Hello.", "--data", data, "--alone", "--voice", old, "--out",
			"-"); code != exitDone || len(out) < 1000 {
			t.Errorf("say with %s: %d, %d bytes, %s", old, code, len(out), errs)
		}
		if code, out, errs := parley(t, "", "say", "--voice", old, "--data", data, "--out", "-"); code != exitDone ||
			len(out) < 1000 {
			t.Errorf("play %s: %d, %d bytes, %s", old, code, len(out), errs)
		}
	}
	if code, _, errs := parley(t, "", "say", "--voice", "Zara", "--data", data, "--out", "-"); code != exitMisuse ||
		!strings.Contains(errs, `parley voices alias "Zara" joe`) {
		t.Errorf("%d %s", code, errs)
	}
	if code, out, errs := at("GAZZA", "--remove"); code != exitDone || len(listed()) != builtIn {
		t.Errorf("%d %s %s", code, out, errs)
	}
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"GAZZA", "--remove"}, `no alias "GAZZA"`}, {[]string{"Gazza"}, "OLD and NEW"},
		{[]string{"--remove"}, "OLD and NEW"},
		{[]string{"Gazza", "joe", "--remove"}, "OLD and NEW"}, {[]string{"Gazza", "nobody"}, "choose one of"},
		{[]string{"joe", "jenny"}, "needs no stand-in"},
		{[]string{"bent", "joe", "--voice-aliases", "Bent=jenny"}, "change it there"},
	} {
		if code, _, errs := at(x.args...); code == exitDone || !strings.Contains(errs, x.want) {
			t.Errorf("%v: %d %s", x.args, code, errs)
		}
	}
}
