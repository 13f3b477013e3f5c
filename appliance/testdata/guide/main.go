// A plugin for the tests of the box, as a WASI command: a guide that knows when a lighthouse opens,
// answers greetings, and logs transcripts.
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
		fail(err.Error())
	}
	var p struct {
		Text, Place, Key string
		Do               string
	}
	if err := json.Unmarshal(in, &p); err != nil {
		fail(err.Error())
	}
	switch os.Args[1] {
	case "opening_hours":
		fmt.Printf(`{"place": %q, "opens": "at twenty past nine in the morning"}`, p.Place)
	case "press_key":
		fmt.Printf("the %s key opens the purple door.", p.Key)
	case "hang":
		for {
		}
	case "shout":
		fmt.Print(strings.Repeat("a", 70<<10))
	case "fall":
		fail("the ladder is broken")
	case "on_turn":
		advise(p.Text)
	case "on_chat_end":
		fmt.Fprintln(os.Stderr, "told "+string(in))
	}
}

// advise answers greetings, and gives the model context about the weather.
func advise(text string) {
	switch text = strings.ToLower(text); {
	case strings.Contains(text, "hang on"):
		for {
		}
	case strings.Contains(text, "hello"):
		fmt.Print(`{"answer": "Hello from the guide."}`)
	case strings.Contains(text, "weather"):
		fmt.Print(`{"context": "It is snowing."}`)
	}
}

func fail(why string) {
	fmt.Fprintln(os.Stderr, why)
	os.Exit(1)
}
