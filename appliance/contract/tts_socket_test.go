package contract

import (
	"net/url"
	"testing"
)

func TestTheTemperatureOfASocketIsANumberInItsQuery(t *testing.T) {
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
