package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"

	"parley/appliance/contract"
	"parley/internal/layout"
)

func TestTypedLinesAreAnsweredOneByOne(t *testing.T) {
	url := fakeBox(t, func(ctx context.Context, box *fakeLine) {
		if s, ok := box.next(ctx).(contract.SessionSettings); !ok || s.Audio != nil || s.SystemPrompt == nil ||
			*s.SystemPrompt != "Be kind." {
			t.Errorf("the first message is %+v, want settings with the prompt", s)
		}
		for i := 1; ; i++ {
			m, ok := box.next(ctx).(contract.UserInput)
			if !ok {
				return
			}
			box.send(ctx, contract.UserMessage{FromText: true,
				Message: contract.ChatMessage{Role: contract.RoleUser, Content: m.Text}})
			id := fmt.Sprint(i)
			box.send(ctx, contract.AssistantMessage{ID: id, Message: said("answer " + id)})
			box.send(ctx, contract.AudioOutput{ID: id, Data: tone(50)})
			box.send(ctx, contract.AssistantEnd{})
		}
	})
	code, out, errs := talk(t, url, "one\n\n two \n", "--text", "--json", "--prompt", "Be kind.")
	if code != exitDone {
		t.Fatalf("code %d, %s", code, errs)
	}
	var lines []string
	for line := range strings.Lines(out) {
		var l struct{ Who, Text string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		lines = append(lines, l.Who+": "+l.Text)
	}
	if got := strings.Join(lines, "; "); got != "you: one; assistant: answer 1; you: two; assistant: answer 2" {
		t.Errorf("got %s", got)
	}
}

func TestWhatKeepsFromTalkingIsSaid(t *testing.T) {
	ok := fakeBox(t, func(ctx context.Context, box *fakeLine) {
		box.send(ctx, contract.ModelTimedOut.Error(""))
		box.conn.Close(websocket.StatusPolicyViolation, "E0711")
	})
	full := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"message":"the box is full"}`)
	}))
	defer full.Close()
	for _, c := range []struct {
		name, url, key, want string
	}{
		{"nobody there", "ws://127.0.0.1:1", "right", "parley serve"},
		{"wrong key", ok, "wrong", "parley keys create"},
		{"full", full.URL, "right", "the box is full"},
		{"ended by the box", ok, "right", "1008"},
	} {
		code, _, errs := parley(t, "hello\n", "talk", "--text", "--url", c.url, "--key", c.key)
		if code != exitFailed || !strings.Contains(errs, c.want) {
			t.Errorf("%s: code %d, %q; want 1 and %q", c.name, code, errs, c.want)
		}
	}
}

func TestAnErrorInPlaceOfAnAnswerIsAFailure(t *testing.T) {
	url := fakeBox(t, func(ctx context.Context, box *fakeLine) {
		box.next(ctx)
		for box.next(ctx) != nil {
			box.send(ctx, contract.ModelTimedOut.Error("ten seconds"))
		}
	})
	code, _, errs := talk(t, url, "one\ntwo\n", "--text")
	if code != exitFailed || strings.Count(errs, "ten seconds") != 2 || !strings.Contains(errs, "parley: talk: ") {
		t.Errorf("code %d, %q; want 1 after both lines", code, errs)
	}
}

func TestABoxThatIsWarmingUpIsWaitedFor(t *testing.T) {
	var tries atomic.Int32
	box := fakeBox(t, func(ctx context.Context, box *fakeLine) { box.conn.Close(websocket.StatusNormalClosure, "") })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if tries.Add(1) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		http.Redirect(w, r, box+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	if code, _, errs := talk(t, server.URL, "", "--text"); code != exitDone || tries.Load() != 2 {
		t.Errorf("code %d after %d tries: %s", code, tries.Load(), errs)
	}
}

func TestAddressesAreUnderstoodAsPeopleWriteThem(t *testing.T) {
	for in, want := range map[string]string{
		"http://127.0.0.1:8080":   "ws://127.0.0.1:8080/v0/evi/chat",
		"https://box.example/":    "wss://box.example/v0/evi/chat",
		"box.example:8080":        "ws://box.example:8080/v0/evi/chat",
		"ws://h/other?config=1":   "ws://h/other?config=1",
		" wss://h:1/v0/evi/chat ": "wss://h:1/v0/evi/chat",
		"ftp://h":                 "",
		"ws://":                   "",
	} {
		got, err := chatAddress(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v; want %q", in, got, err, want)
		}
	}
}

// talk works alike with the box of the data folder and with a named one.
func TestTheBoxOfADataFolderIsFound(t *testing.T) {
	data, _ := aBox(t)
	if code, _, errs := parley(t, "", "talk", "--text", "--data", data); code != exitFailed ||
		!strings.Contains(errs, "parley serve --data "+data) {
		t.Errorf("no box runs: code %d, %q", code, errs)
	}
	var key atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key.Store(r.Header.Get("X-Service-Api-Key"))
		w.WriteHeader(http.StatusTeapot)
	}))
	defer server.Close()
	where := fmt.Sprintf(`{"pid":%d,"url":%q}`, os.Getpid(), server.URL)
	if err := os.WriteFile(filepath.Join(data, layout.Address), []byte(where), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errs := parley(t, "", "talk", "--text", "--data", data)
	if code != exitFailed || !strings.Contains(errs, "418") || len(key.Load().(string)) < 40 {
		t.Errorf("code %d, %q, key %v", code, errs, key.Load())
	}
	if _, out, _ := parley(t, "", "keys", "list", "--data", data); strings.Contains(out, "parley talk") {
		t.Errorf("the key of one talk is listed for ever:\n%s", out)
	}
}

// If a box crashes in the middle of an answer, talk reports it.
func TestABoxThatDiesIsAFailure(t *testing.T) {
	url := fakeBox(t, func(ctx context.Context, box *fakeLine) {
		box.next(ctx) // the settings
		box.next(ctx)
		box.conn.CloseNow()
	})
	code, _, errs := talk(t, url, "Tell me a story.\n", "--text")
	if code != exitFailed || !strings.Contains(errs, "the connection to the box broke") {
		t.Errorf("code %d, %q", code, errs)
	}
}
