// A plugin for the tests of the registry, as a WASI command: its parameters select
// what it does.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// version is set by the linker, so that tests can tell two builds apart.
var version = "one"

func main() {
	in, err := io.ReadAll(os.Stdin)
	if err != nil {
		fail(err.Error())
	}
	var p struct{ Do, Text string }
	if err := json.Unmarshal(in, &p); err != nil {
		fail(err.Error())
	}
	switch p.Do {
	case "fail":
		fail(p.Text)
	case "spin":
		for {
		}
	case "log":
		fmt.Fprintln(os.Stderr, p.Text)
	case "half a line":
		fmt.Fprint(os.Stderr, p.Text)
	case "setting":
		fmt.Print(os.Getenv("SETTING_" + p.Text))
	case "leak": // what no plugin should do
		fmt.Fprintln(os.Stderr, "my key is", os.Getenv("SETTING_KEY"))
		fail("refused with " + os.Getenv("SETTING_KEY"))
	case "read":
		text, err := os.ReadFile(p.Text)
		if err != nil {
			fail(err.Error())
		}
		_, _ = os.Stdout.Write(text)
	default:
		fmt.Print(version, " ", p.Text)
	}
}

func fail(why string) {
	fmt.Fprintln(os.Stderr, why)
	os.Exit(1)
}
