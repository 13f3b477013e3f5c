package search

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// searx returns a server that answers as SearXNG does.
func searx(t *testing.T, status int, body string) Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/sub/search" || r.FormValue("format") != "json" || r.FormValue("q") != "weather in Graz" {
			t.Errorf("asked for %s", r.URL)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return Server{URL: s.URL + "/sub/"}
}

const query = `{"query": " weather  in\nGraz "}`

func TestSearchResultsAreShortText(t *testing.T) {
	long := strings.Repeat("very ", 200) + "sunny"
	s := searx(t, 200, `{"query":"q","number_of_results":0,"answers":["It is 20 `+
		`°C.",{"answer":"Sunny.","url":"x"}],"infoboxes":[],
		"results":[{"title":"Empty","url":"https://a.test/x","content":""},{"title":"Weather\n `+
		`today","url":"https://b.test/x","content":"`+long+`"},
		{"title":"C","url":"::","content":"Rain."},{"title":"D","url":"https://d.test","content":"Snow."}]}`)
	got, err := s.RunTool(t.Context(), "web_search", query)
	lines := strings.Split(got, "\n")
	if err != nil || len(lines) != maxResults || lines[0] != "It is 20 °C." || lines[1] != "Sunny." ||
		!strings.HasPrefix(lines[2], "Weather today (b.test): very very") || len(lines[2]) > 600 ||
		lines[3] != "C: Rain." {
		t.Errorf("%q, %v", got, err)
	}
}

func TestFailedSearchReportsTheCause(t *testing.T) {
	for _, x := range []struct {
		s         Server
		arguments string
		want      string
	}{
		{Server{}, query, "web_search.url"},
		{searx(t, 403, ""), query, "search.formats"},
		{searx(t, 500, ""), query, "500"},
		{searx(t, 200, "<html>"), query, "no JSON"},
		{Server{URL: "http://127.0.0.1:1"}, query, "refused"},
		{Server{}, `{"query": 3}`, "arguments"},
		{Server{}, `{"query": " "}`, "empty"},
	} {
		if _, err := x.s.RunTool(t.Context(), "web_search", x.arguments); err == nil ||
			!strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v with %s: %v", x.s, x.arguments, err)
		}
	}
	if _, err := (Server{}).RunTool(t.Context(), "web_search", query); !errors.Is(err, ErrNoServer) {
		t.Error(err)
	}
	if got, err := searx(t, 200, "{}").RunTool(t.Context(), "web_search", query); err != nil ||
		got != "Nothing was found." {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := (Server{}).RunTool(t.Context(), "other", query); err == nil {
		t.Error("it runs another tool")
	}
}
