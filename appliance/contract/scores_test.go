package contract

import (
	"encoding/json"
	"math"
	"testing"
)

// Every score of four decimals, as the models give them, has the same digits on the wire as a float64.
func TestScoresAreWrittenAsAListOfNamesWithTheirDecimals(t *testing.T) {
	for first := 1; first <= 10_000; first += EmotionCount {
		var scores EmotionScores
		var list []NamedScore
		for i := range scores {
			scores[i] = float64(min(first+i, 10_000)) / 10_000
			list = append(list, NamedScore{EmotionName(i), scores[i]})
		}
		want, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []Scores{scores.List(), ScoresOf(list...)} {
			if got, err := json.Marshal(s); err != nil || string(got) != string(want) {
				t.Fatalf("got %s, %v; want %s", got, err, want)
			}
		}
		var read Scores
		if err := json.Unmarshal(want, &read); err != nil || &read.names[0] != &emotionNames[0] {
			t.Fatalf("%v, names shared: %v", err, &read.names[0] == &emotionNames[0])
		}
		if got, err := json.Marshal(read); err != nil || string(got) != string(want) {
			t.Fatalf("got %s, %v; want %s", got, err, want)
		}
	}
}

func TestScoresAreAbsentEmptyOrOfAnyNames(t *testing.T) {
	type prediction struct {
		Always Scores `json:"always"`
		Asked  Scores `json:"asked,omitzero"`
	}
	for _, c := range []struct {
		p    prediction
		want string
	}{
		{prediction{}, `{"always":null}`},
		{prediction{Asked: ScoresOf()}, `{"always":null,"asked":[]}`},
		{prediction{Asked: ScoresOf(NamedScore{"9", 0.00001}, NamedScore{`a "b" é`, 1})},
			`{"always":null,"asked":[{"name":"9","score":0.00001},{"name":"a \"b\" é","score":1}]}`},
	} {
		text, err := Marshal(c.p)
		if err != nil || string(text) != c.want {
			t.Errorf("got %s, %v; want %s", text, err, c.want)
		}
		var read prediction
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		if again, err := Marshal(read); err != nil || string(again) != c.want {
			t.Errorf("read again: %s, %v; want %s", again, err, c.want)
		}
	}
	var s Scores
	if err := json.Unmarshal([]byte(`null`), &s); err != nil || !s.IsZero() {
		t.Errorf("null is %v, %v", s, err)
	}
	for _, wrong := range []string{`{}`, `[1]`, `[{"name":"Joy","score":"1"}]`} {
		if err := json.Unmarshal([]byte(wrong), &s); err == nil {
			t.Errorf("%s is read as %v", wrong, s)
		}
	}
	if text, err := Marshal(ScoresOf(NamedScore{"Joy", math.NaN()})); err == nil {
		t.Errorf("a score that is not a number is written as %s", text)
	}
}
