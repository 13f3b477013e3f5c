// A plugin as a WASI command, which outputs what it was called with.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	in, err := io.ReadAll(os.Stdin)
	if err != nil {
		fail(err)
	}
	fmt.Fprintln(os.Stderr, "called")
	switch tool := os.Args[1]; tool {
	case "echo":
		var p map[string]any
		if err := json.Unmarshal(in, &p); err != nil {
			fail(err)
		}
		_ = json.NewEncoder(os.Stdout).Encode(
			map[string]any{"tool": tool, "parameters": p, "city": os.Getenv("SETTING_CITY")})
	case "fail":
		fail(fmt.Errorf("no such place"))
	case "panic":
		var none map[string]any
		none["place"] = tool
	case "environment":
		fmt.Print(strings.Join(os.Environ(), "\n"))
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
