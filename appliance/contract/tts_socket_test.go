package contract

import (
	"errors"
	"net/url"
	"strings"
	"testing"
)

// Clients that cut text between UTF-16 units, as JavaScript counts, send an emoji
// in halves. The rest of the text is spoken.
func TestLoneSurrogatesAreDropped(t *testing.T) {
	for sent, want := range map[string]string{
		`{"text":"Hi \ud83d"}`:            "Hi ",
		`{"text":"\ude00 there."}`:        " there.",
		`{"text":"\ud83d\ud83d\ude00 a"}`: "😀 a",
		`{"text":"\\ud83d"}`:              `\ud83d`,
		`{"text":"plain"}`:                "plain",
	} {
		m, err := ParsePublishTTS([]byte(sent))
		if err != nil || m.Text != want {
			t.Errorf("%s: %q, %v", sent, m.Text, err)
		}
	}
	if _, err := ParsePublishTTS([]byte(`{"text":"` + strings.Repeat(`\ud83d`, 20_000) + `"}`)); err != nil {
		t.Error(err)
	}
}

func TestAMessageCutAfterABackslashIsBrokenJSON(t *testing.T) {
	for _, sent := range []string{`\`, `{"text":"a\`, `{"text":"\ud83d\`} {
		_, err := ParsePublishTTS([]byte(sent))
		if fault, ok := errors.AsType[Fault](err); !ok || fault.Code != BrokenJSON {
			t.Errorf("%s: %v", sent, err)
		}
	}
}

func TestTheTemperatureInAQueryIsANumber(t *testing.T) {
	for written, want := range map[string]float64{"": -1, "0": 0, "0.5": 0.5, "1": 1, "2": -2, "warm": -2, "null": -2} {
		c, err := ParseTTSConnect(url.Values{"temperature": {written}})
		switch {
		case want == -2 && err == nil, want > -2 && err != nil:
			t.Errorf("%q: %v", written, err)
		case want >= 0 && (c.Temperature == nil || *c.Temperature != want), want == -1 && c.Temperature != nil:
			t.Errorf("%q is %v", written, c.Temperature)
		}
	}
}
