package bench

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever a box holds is found, in few tries, and no number is tried twice.
func TestTheNumberOfChatsIsFoundInFewTries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		holds, most := rapid.IntRange(0, 120).Draw(t, "holds"), rapid.IntRange(1, 100).Draw(t, "most")
		tried := map[int]bool{}
		for n := nextCrowd(tried, most); n != 0; n = nextCrowd(tried, most) {
			if _, again := tried[n]; again || n < 1 || n > most {
				t.Fatalf("%d of %d after %v", n, most, tried)
			}
			tried[n] = n <= holds
		}
		if got := mostHeld(tried); got != min(holds, most) || len(tried) > 14 {
			t.Fatalf("%d, want %d, after %d tries", got, min(holds, most), len(tried))
		}
	})
}

func TestTheLineIsMeasuredBesideABareEcho(t *testing.T) {
	o := Defaults()
	o.Only, o.Rounds = []string{partTransport}, 1
	r, err := Chats(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	r.has(t, map[string][2]float64{"transport_json": {1, 1e7}, "transport_binary": {1, 1e7}})
	for _, f := range r.Figures {
		if f.Ratio == nil || f.Ratio.missing() {
			t.Errorf("%s has no ratio", f.Name)
		}
	}
}

// One live chat with the stand-in, one caller after another before a full box, and
// some idle chats: every figure is there.
func TestLiveAndIdleChatsAreCounted(t *testing.T) {
	o := options(t)
	o.Only, o.Most, o.Turns, o.IdleChats = []string{partIdle}, 1, 1, 20
	whole := os.Getenv("PARLEY_FULL_TESTS") != ""
	if whole { // two minutes: boxes with as many callers as they hold
		o.Only = append(o.Only, partServer)
	}
	o.Idle, o.Within = time.Second, time.Hour
	r, err := Chats(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	r.has(t, map[string][2]float64{
		"idle_chats": {20, 20}, "idle_chats_opened": {0.1, 1e5}, "idle_chat_memory": {-1e4, 1e5},
		"idle_chats_processor": {0, 200},
	})
	if !whole {
		return
	}
	r.has(t, map[string][2]float64{"server_chats": {0, 1}, "server_chats_1_added_p95": {-100, 45e3}})
	for _, f := range r.Figures {
		if f.Name == "server_chats" && f.Value == 1 { // only then is there a full box
			r.has(t, map[string][2]float64{"server_past_refused": {knocks, knocks}, "server_past_retry_after": {1, 60}})
		}
	}
}

func TestImpossibleNumbersOfChatsAreNamed(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"most is 0":            func(o *Options) { o.Most = 0 },
		"idle chats is 100000": func(o *Options) { o.IdleChats = 100000 },
		"within is 1s":         func(o *Options) { o.Within = time.Second },
		`"speed"`:              func(o *Options) { o.Only = []string{"speed"} },
		"belong together":      func(o *Options) { o.Server = "http://127.0.0.1:1/v1" },
	} {
		o := Defaults()
		change(&o)
		_, err := Chats(t.Context(), o)
		if wrong, ok := errors.AsType[*ErrOption](err); !ok || !strings.Contains(wrong.Why, want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}
