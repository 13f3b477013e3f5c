package bench

import (
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley/appliance/chat"
	"parley/appliance/metrics"
)

// The box's own figures are read as it tells them, and only what came between.
func TestStagesAreReadFromTheFiguresOfTheBox(t *testing.T) {
	m := metrics.New("1", slog.New(slog.DiscardHandler))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" || r.Header.Get("X-Service-Api-Key") != "operator" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		m.ServeHTTP(w, r)
	}))
	defer server.Close()
	at := place{address: "ws" + strings.TrimPrefix(server.URL, "http") + chatPath, key: "operator"}
	read := func() stageTimes {
		t.Helper()
		times, err := at.stageTimes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return times
	}
	for range 100 {
		m.Turn(string(chat.StageAnswer), 5*time.Second)
	}
	before := read()
	for ms := 700; ms <= 900; ms += 10 {
		m.Turn(string(chat.StageAnswer), time.Duration(ms)*time.Millisecond)
	}
	after := read()
	if got := stageMedian(before[chat.StageAnswer], after[chat.StageAnswer]); math.Abs(got-0.8) > 0.03 {
		t.Errorf("the median of 700 to 900 ms is told as %.3f s", got)
	}
	if got := stageMedian(before[chat.StageHear], after[chat.StageHear]); !math.IsNaN(got) {
		t.Errorf("of nothing the median is %v", got)
	}
	at.key = "client"
	if times := read(); times != nil {
		t.Errorf("a client's key opens %v", times)
	}
}
