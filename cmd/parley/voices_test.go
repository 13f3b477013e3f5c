package main

import (
	"strings"
	"testing"
)

// A designed voice is saved for an account, listed and deleted.
func TestADesignedVoiceIsSavedAndDeleted(t *testing.T) {
	t.Parallel()
	data, _ := aBox(t)
	for _, step := range []struct {
		args string
		code int
		want string
	}{
		{"design deep,old --save Sailor", exitMisuse, "--account"},
		{"design deep,old --generation x --save Sailor --account home", exitMisuse, "either a description or"},
		{"design --generation x --account home", exitMisuse, "--save"},
		{"design --generation x --save Sailor --account home", exitMisuse, `generation "x"`},
		{"design deep,old --save Sailor --account nobody", exitFailed, `"nobody"`},
		{"design deep,old --candidate 5", exitMisuse, "0 to 4"},
		{"design deep,old --save Sailor --account home", exitDone, "Sailor is saved"},
		{"list --account home", exitDone, "Sailor"},
		{"say Hello. --voice Sailor --account home --alone --out -", exitDone, "WAVE"},
		{"say Hello. --voice Sailor --account nobody --alone --out -", exitFailed, `"nobody"`},
		{"list sailor --account home", exitDone, "saved"},
		{"list --delete --account home", exitMisuse, "give the name of the voice"},
		{"list Sailor --delete", exitMisuse, "--account"},
		{"list Sailor --delete --account home", exitDone, "is deleted"},
		{"delete Sailor --account home", exitMisuse, "Sailor"}, // the old spelling
		{"list Sailor --account home", exitMisuse, "Sailor"},
	} {
		words := strings.Fields("voices " + step.args + " --data " + data)
		if words[1] == "say" {
			words = words[1:]
		}
		code, out, errs := parley(t, "", words...)
		if code != step.code || !strings.Contains(out+errs, step.want) {
			t.Errorf("voices %s: code %d, %s%s; want %d and %q", step.args, code, shortened(out), errs, step.code,
				step.want)
		}
	}
	_, out, _ := parley(t, "", "voices", "list", "--data", data, "--account", "home")
	if strings.Contains(out, "Sailor") {
		t.Errorf("still there:\n%s", out)
	}
}

func shortened(text string) string { return text[:min(len(text), 500)] }
