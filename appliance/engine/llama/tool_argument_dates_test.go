package llama

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"parley/appliance/engine"
)

func TestNamedDaysAreCalculated(t *testing.T) {
	wednesday := time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	for user, want := range map[string]string{
		"Tomorrow at three.":                           "2026-03-05",
		"The day after tomorrow.":                      "2026-03-06",
		"On Friday, or on Monday.":                     "2026-03-06 2026-03-09",
		"Next Wednesday":                               "2026-03-11",
		"Last Monday I was here.":                      "",
		"March 10th, please":                           "2026-03-10",
		"on the tenth of March":                        "2026-03-10",
		"the twenty first of december":                 "2026-12-21",
		"Is there a table on Jan 2?":                   "2027-01-02",
		"on the fourth":                                "",
		"May I come in?":                               "",
		"It was 20 degrees in March, I will march out": "",
	} {
		var got []string
		for _, d := range daysOf(wordsOf(user), wednesday) {
			got = append(got, d.Format(time.DateOnly))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", user, got, want)
		}
	}
}

func TestADateIsOneThatWasNamed(t *testing.T) {
	for _, prompt := range []string{"Today is Wednesday, 4 March 2026. Since 1 January 2020.",
		"It is now March 4, 2026", "today: 2026-03-04", "The time now is 2026-03-04T15:10:00Z."} {
		heard := newSource([]engine.Message{{Role: engine.System, Content: prompt, VolatileBytes: len(prompt)},
			says(engine.User, "On Monday, please."), says(engine.Assistant, "At what time?"),
			says(engine.User, "No, on Friday."), says(engine.User, "At three.")})
		for written, want := range map[string]string{
			`"2026-03-06"`: `"2026-03-06"`, `"2023-10-09"`: `"2026-03-06"`, `"2026-03-01"`: `"2026-03-06"`,
			`"2023-10-09T15:00:00"`: `"2026-03-06T15:00:00"`, `"Friday"`: `"Friday"`, `7`: `7`,
		} {
			if got := string(heard.correctDate(json.RawMessage(written))); got != want {
				t.Errorf("%s: %s: %s, want %s", prompt, written, got, want)
			}
		}
	}
	born := newSource([]engine.Message{says(engine.User, "I was born on March 10th, nineteen ninety.")})
	if got := string(born.correctDate(json.RawMessage(`"1990-03-10"`))); got != `"1990-03-10"` {
		t.Errorf("a year that was said is replaced: %s", got)
	}
	now := time.Date(2026, 7, 1, 13, 0, 0, 0, time.UTC)
	if d := today([]engine.Message{says(engine.System, "You are a clock of 1 May 1990, up to date.")},
		now); d.Format(time.DateOnly) != "2026-07-01" {
		t.Errorf("without a date in the prompt today is %v", d)
	}
}
