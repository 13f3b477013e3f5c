package language

import "testing"

func TestStopIsAllThatIsSaid(t *testing.T) {
	for said, want := range map[string]bool{
		"Stop.": true, "Stop! Stop, stop.": true, "STOP IT": true, "Goodbye!": true, "That's all.": true,
		"Please stop.": true,
		"Hör auf!":     true, "Arrête !": true, "¡Para!": true, "Стоп.": true, "停止。": true, "止めて。": true, "그만.": true,
		"Dur!": true, "रुको।": true,
		"Hören Sie auf!": true, "È tutto.": true, "Houd op!": true, "Досить!": true, "Przestań!": true, "Tyst!": true,
		"É só isso.": true,
		"":           false, "...": false, "Where does the bus stop?": false, "Stop by the museum.": false,
		"Don't stop.":           false,
		"Stopp die Musik nicht": false, "no": false, "Cancel.": false,
	} {
		if got := Stops(said); got != want {
			t.Errorf("%q: %v, want %v", said, got, want)
		}
	}
}

// Each language of the table can be stopped in, and none of its backchannels or waiting words stops.
func TestEveryLanguageHasStopWords(t *testing.T) {
	for _, l := range languages {
		if len(l.stops) == 0 {
			t.Errorf("nobody can say stop in %q", l.tag)
		}
		for _, one := range l.stops {
			if !Stops(one) || l.Backchannel(one) || l.OnlyTakesFloor(one) {
				t.Errorf("%q in %q: stops %v, goes on %v, begins %v", one, l.tag, Stops(one), l.Backchannel(one),
					l.OnlyTakesFloor(one))
			}
		}
		for _, p := range l.backchannels {
			if Stops(p) {
				t.Errorf("%q of a listener in %q ends the conversation", p, l.tag)
			}
		}
	}
}
