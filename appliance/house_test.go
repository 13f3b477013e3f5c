package appliance

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// rooms says who may know whom: for each package the packages of ours that it
// may import. A package that is not here may import nothing of ours.
var rooms = map[string][]string{
	"appliance/contract":      {},
	"appliance/audio":         {},
	"appliance/text":          {},
	"store":                   {},
	"appliance/engine":        {"appliance/audio"},
	"appliance/engine/onnx":   {"appliance/audio", "appliance/engine", "appliance/text"},
	"appliance/engine/llama":  {"appliance/engine"},
	"appliance/engine/remote": {"appliance/engine"},
	"appliance/chat":          {"appliance/audio", "appliance/contract", "appliance/engine", "appliance/text", "store"},
	"appliance/line/ws":       {"appliance/chat", "appliance/contract"},
	"appliance/api":           {"appliance/chat", "appliance/contract", "store"},
	"firmware":                {},
}

// everybody may be known to these.
var stewards = []string{"appliance", "cmd/parley"}

func TestNobodyKnowsWhomTheyShouldNot(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "parley/...").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		names := strings.Fields(line)
		room := strings.TrimPrefix(names[0], "parley/")
		if slices.Contains(stewards, room) || strings.HasPrefix(room, "cmd/parley/") {
			continue
		}
		allowed, known := rooms[room]
		if !known {
			t.Errorf("%s has no place in the house: give it a row here and say in docs/architecture.md what it is for", room)
		}
		for _, other := range names[1:] {
			other, ours := strings.CutPrefix(other, "parley/")
			if ours && !slices.Contains(allowed, other) {
				t.Errorf("%s imports %s; it may know only %v", room, other, allowed)
			}
		}
	}
}
