package llama

import (
	"slices"
	"testing"

	"parley/appliance/engine"
)

func TestRequestsAreSplit(t *testing.T) {
	for user, want := range map[string][]string{
		"":                            {""},
		"Turn off the kitchen light.": {"Turn off the kitchen light."},
		"Turn off the kitchen light and lock the back door.": {"Turn off the kitchen light",
			"lock the back door."},
		"What's the weather, please, and when does my train leave?": {"What's the weather, please",
			"when does my train leave?"},
		"What's the weather? And when does my train leave?": {"What's the weather",
			"And when does my train leave?"},
		"What's the weather in Rome and in Oslo?": {"What's the weather in Rome and in Oslo?"},
		"A taxi for two, please. Thanks. Then wake me at six.": {"A taxi for two, please",
			"Thanks. Then wake me at six."},
		"Wie wird das Wetter, und wann fährt mein Zug?": {"Wie wird das Wetter",
			"wann fährt mein Zug?"},
		"Do this now and do that now and do more now and do all of it.": {"Do this now", "do that now",
			"do more now and do all of it."},
		"One two three and":   {"One two three and"},
		"and and and and and": {"and and and and and"},
	} {
		if got := splitRequests(user); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", user, got, want)
		}
	}
}

// The first part of the words is chosen that requests a tool which has not answered, and only with
// enough margin.
func TestTheUnansweredRequestIsChosen(t *testing.T) {
	set := &toolset{tools: []engine.Tool{{Name: "weather"}, {Name: "train"}, {Name: "taxi"}}}
	called := func(names ...string) (since []engine.ToolCall) {
		for _, n := range names {
			since = append(since, engine.ToolCall{Name: n, Arguments: `{"city":"Rome"}`})
		}
		return since
	}
	three := []userRequest{{text: "The weather in Rome"}, {text: "the next train to Rome"}, {text: "a taxi to Rome"}}
	again := []userRequest{{text: "The weather in Oslo?", listed: true}, {}}
	for _, row := range []struct {
		parts    []userRequest
		verdicts []verdict
		since    []engine.ToolCall
		at       int
	}{
		{three, []verdict{{0, 3}, {1, 2}, {2, -0.5}}, called("weather"), 1},
		{three, []verdict{{0, 3}, {1, 2}, {2, -0.5}}, called("train"), 0},
		{three, []verdict{{0, 3}, {1, 2}, {2, -0.5}}, called("weather", "train"), -1},
		{three, []verdict{{0, 3}, {1, 2}, {2, -0.5}}, called("taxi"), 0},
		{again, []verdict{{0, 3}, {1, 1}}, called("weather"), 0},
		{again, []verdict{{0, 0.1}, {1, 1}}, called("weather"), -1},  // not sure of the list
		{again, []verdict{{0, 0.1}, {1, 2.5}}, called("weather"), 1}, // but sure of all of the words
		{[]userRequest{{text: "The weather in Rome"}, {text: "and the one in Oslo"}}, []verdict{{0, 3}, {0, 2}},
			called("weather"), 0},
		{[]userRequest{{text: "The weather in Rome"}, {text: "do I need a coat"}}, []verdict{{0, 3}, {0, 2}},
			called("weather"), -1},
	} {
		if _, at, _ := firstUnanswered(row.parts, row.verdicts, set, row.since); at != row.at {
			t.Errorf("%v after %v: %d, want %d", row.parts, row.since, at, row.at)
		}
	}
	if got := userRequests("The weather in Rome and in Oslo, and wake me at six, please, then call a taxi.",
		called("weather")); len(got) > maxUserRequests || !got[0].listed || got[1].listed {
		t.Errorf("judged are %+v", got)
	}
	if got := userRequests("Rome and Oslo", nil); len(got) != 1 || !got[0].whole() {
		t.Errorf("at first %+v is judged", got)
	}
}
