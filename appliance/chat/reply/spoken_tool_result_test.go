package reply

import (
	"testing"

	"parley/appliance/chat/turn"
)

func TestAToolsWordsCanBeReadOut(t *testing.T) {
	for _, row := range []struct {
		answers []string
		want    string
	}{
		{[]string{"No trains today because of a strike."}, "No trains today because of a strike."},
		{[]string{"Rome: 17 degrees", "No data for Oslo."}, "Rome: 17 degrees. No data for Oslo."},
		{[]string{`{"trains": []}`}, ""},
		{[]string{"see https://trains.example"}, ""},
		{[]string{"Yes.", turn.EmptyResult}, ""},
		{[]string{museum + museum}, ""},
		{nil, ""},
	} {
		if got := toolWords(afterTools(row.answers...).History); got != row.want {
			t.Errorf("of %q: %q, want %q", row.answers, got, row.want)
		}
	}
}
