package llama

import (
	"testing"

	"parley/appliance/engine"
)

// The item of a list for which no call was made is written out as a request of its own; what only
// looks like a list is not.
func TestTheRestOfAListIsARequestOfItsOwn(t *testing.T) {
	call := func(name, arguments string) engine.ToolCall { return engine.ToolCall{Name: name, Arguments: arguments} }
	for _, row := range []struct {
		user  string
		since []engine.ToolCall
		want  string
	}{
		{"What's the weather in Rome and in Oslo?", []engine.ToolCall{call("w", `{"city":"Rome"}`)},
			"What's the weather in Oslo?"},
		{"What's the weather in Rome and in Oslo?", []engine.ToolCall{call("w", `{"city":"Oslo"}`)},
			"What's the weather in Rome"},
		{"What's the weather in Rome and in Oslo?",
			[]engine.ToolCall{call("w", `{"city":"Rome"}`), call("w", `{"city":"Oslo"}`)}, ""},
		{"What's the weather in Rome, Oslo and Madrid?",
			[]engine.ToolCall{call("w", `{"city":"Rome"}`), call("w", `{"city":"Oslo"}`)},
			"What's the weather in Madrid?"},
		{"How is the weather in New York and San Francisco?", []engine.ToolCall{call("w", `{"city":"New York"}`)},
			"How is the weather in San Francisco?"},
		{"Will it rain in Rome and in Oslo tomorrow?", []engine.ToolCall{call("w", `{"city":"Rome","day":"tomorrow"}`)},
			"Will it rain in Oslo tomorrow?"},
		{"Where are my orders A1007 and B2210?", []engine.ToolCall{call("o", `{"order_number":"A1007"}`)},
			"Where are my orders B2210?"},
		{"Cancel appointments twelve and fourteen, please.", []engine.ToolCall{call("c", `{"number":12}`)},
			"Cancel appointments fourteen"},
		{"Turn on the light in the kitchen and the bathroom.",
			[]engine.ToolCall{call("l", `{"room":"kitchen","on":true}`)}, "Turn on the light in the bathroom."},
		{"Lock the front and the back door.", []engine.ToolCall{call("d", `{"door":"front"}`)}, "Lock the back door."},
		{"Wake me at six and at seven.", []engine.ToolCall{call("w", `{"time":"06:00"}`)}, "Wake me at seven."},
		{"Wie ist das Wetter in Rom und in Oslo?", []engine.ToolCall{call("w", `{"city":"Rom"}`)},
			"Wie ist das Wetter in Oslo?"},
		{"What's the weather in Rome and when does my train leave?", []engine.ToolCall{call("w", `{"city":"Rome"}`)},
			""},
		{"A taxi to the opera and back, please.", []engine.ToolCall{call("t", `{"destination":"opera"}`)}, ""},
		{"A taxi for two adults and three children to the opera.", []engine.ToolCall{call("t", `{"people":5}`)}, ""},
		{"Wake room one hundred and five at six.", []engine.ToolCall{call("w", `{"room":105}`)}, ""},
		{"Book me something between five and six.", []engine.ToolCall{call("b", `{"time":"05:00"}`)}, ""},
		{"Put tomatoes and milk on the list.", []engine.ToolCall{call("a", `{"items":["tomatoes","milk"]}`)}, ""},
		{"Play Romeo and Juliet.", []engine.ToolCall{call("p", `{"what":"Romeo and Juliet"}`)}, ""},
		{"Set a timer for ten minutes, please.", []engine.ToolCall{call("t", `{"minutes":10}`)}, ""},
		{"and and, , and", []engine.ToolCall{call("t", `{"a":"and"}`)}, ""},
		{"", []engine.ToolCall{call("t", `broken`)}, ""},
	} {
		got := ""
		if left := listedRequests(row.user, row.since); len(left) > 0 {
			got = left[0]
		}
		if got != row.want {
			t.Errorf("%q after %v: %q, want %q", row.user, row.since, got, row.want)
		}
	}
}

// One call is for one place or one code; a name with an "and" in it is kept.
func TestAListIsNotOneArgument(t *testing.T) {
	for written, want := range map[string]string{
		`{"city":"Lisbon and Athens"}`:        `{"city":"Lisbon"}`,
		`{"city":"Rome, Oslo and Madrid"}`:    `{"city":"Rome"}`,
		`{"order_number":"A1007 and B2210"}`:  `{"order_number":"A1007"}`,
		`{"city":"Springfield, Illinois"}`:    `{"city":"Springfield, Illinois"}`,
		`{"what":"Romeo and Juliet"}`:         `{"what":"Romeo and Juliet"}`,
		`{"name":"Ann and Ben"}`:              `{"name":"Ann and Ben"}`,
		`{"items":["milk and honey"],"n": 2}`: `{"items":["milk and honey"],"n": 2}`,
		`{"city":" and "}`:                    `{"city":" and "}`,
		`{"city":`:                            `{"city":`,
	} {
		if got := firstOfLists(written); got != want {
			t.Errorf("%s: %s, want %s", written, got, want)
		}
	}
}

func TestARepeatedCallIsRecognised(t *testing.T) {
	since := []engine.ToolCall{{Name: "w", Arguments: `{"city":"Rome","day":"today"}`}}
	for arguments, want := range map[string]bool{`{"city":"rome"}`: true, `{"city":"Rome","day":"tomorrow"}`: false,
		`{"city":"Oslo"}`: false, `{}`: true, `{"unit":"celsius"}`: true, `x`: false} {
		if got := alreadyCalled(since, "w", arguments); got != want {
			t.Errorf("%s: %v", arguments, got)
		}
	}
	if alreadyCalled(since, "v", `{"city":"Rome"}`) {
		t.Error("another tool was called")
	}
}
