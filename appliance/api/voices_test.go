package api

import (
	"encoding/json"
	"strings"
	"testing"

	"parley/appliance/contract"
)

func TestVoicesAreListedInPages(t *testing.T) {
	c := startRest(t, "a", "b")
	for _, x := range []struct{ query, names, paging string }{
		{"provider=HUME_AI", "Joe Jenny Alan", "0 10 1"},
		{"provider=HUME_AI&page_size=2", "Joe Jenny", "0 2 2"},
		{"provider=HUME_AI&page_size=2&page_number=1", "Alan", "1 2 2"},
		{"provider=HUME_AI&page_size=2&page_number=2", "", "2 2 2"},
		{"provider=HUME_AI&page_size=100&page_number=9007199254740992", "", "9007199254740992 100 1"},
		{"provider=HUME_AI&ascending_order=false&page_size=2", "Alan Jenny", "0 2 2"},
		{"provider=HUME_AI&filter_tag=GENDER:Male", "Joe Alan", "0 10 1"},
		{"provider=HUME_AI&filter_tag=gender:Male&filter_tag=LOCALE:en-GB", "Alan", "0 10 1"},
		{"provider=HUME_AI&filter_tag=GENDER:male", "", "0 10 0"},
		{"provider=HUME_AI&filter_tag=", "Joe Jenny Alan", "0 10 1"},
		{"provider=CUSTOM_VOICE", "Mine", "0 10 1"},
	} {
		status, _, body := c[0].send("GET", "/v0/tts/voices?"+x.query, "", "")
		var page contract.ReturnPagedVoices
		if err := json.Unmarshal([]byte(body), &page); err != nil || status != 200 {
			t.Fatalf("%s: %d %s", x.query, status, body)
		}
		names := []string{}
		for _, v := range page.VoicesPage {
			names = append(names, v.Name)
		}
		got, _ := json.Marshal([]int{page.PageNumber, page.PageSize, page.TotalPages})
		if strings.Join(names, " ") != x.names ||
			strings.Trim(strings.ReplaceAll(string(got), ",", " "), "[]") != x.paging {
			t.Errorf("%s: %q, %s", x.query, names, got)
		}
		if !strings.Contains(body, `"voices_page":[`) {
			t.Errorf("%s: %s", x.query, body)
		}
	}
	_, _, mine := c[0].send("GET", "/v0/tts/voices?provider=CUSTOM_VOICE", "", "")
	_, _, other := c[1].send("GET", "/v0/tts/voices?provider=CUSTOM_VOICE", "", "")
	if mine == other {
		t.Error("two accounts have the same voices")
	}
}

func TestErrorsOfTheListOfVoices(t *testing.T) {
	c := startRest(t, "a")[0]
	for query, want := range map[string]string{
		"":                                       `provider: "" is not allowed; expected HUME_AI or CUSTOM_VOICE`,
		"provider=ACME":                          "ACME",
		"provider=HUME_AI&page_number=-1":        "page_number",
		"provider=HUME_AI&page_size=0":           "page_size",
		"provider=HUME_AI&page_size=101":         "page_size",
		"provider=HUME_AI&ascending_order=maybe": "ascending_order",
		"provider=HUME_AI&filter_tag=Female":     "GENDER, LANGUAGE",
		"provider=HUME_AI&filter_tag=AGE:9":      "filter_tag",
	} {
		status, _, body := c.send("GET", "/v0/tts/voices?"+query, "", "")
		var problem struct{ Message string }
		if err := json.Unmarshal([]byte(body), &problem); err != nil || status != 400 ||
			!strings.Contains(problem.Message, want) {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
}
