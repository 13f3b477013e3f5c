package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/contract"
)

// phoneBoxOf is a box that makes one call, which passes through states, one at each look.
type phoneBoxOf struct {
	t      *testing.T
	states []contract.PhoneCall
	chat   []contract.ServerMessage

	mu    sync.Mutex
	asked map[string]string
	said  string // by assistant_input
	hung  bool
}

func (b *phoneBoxOf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	reply := func(status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		if err := json.NewEncoder(w).Encode(v); err != nil {
			b.t.Error(err)
		}
	}
	switch r.Method + " " + r.URL.Path {
	case "POST " + phonePath + "/calls":
		if err := json.NewDecoder(r.Body).Decode(&b.asked); err != nil {
			b.t.Error(err)
		}
		if b.asked["config_id"] == "None" {
			reply(http.StatusNotFound, map[string]string{"message": `config_id: no config "None"`})
			return
		}
		reply(http.StatusCreated, b.states[0])
	case "GET " + phonePath:
		if len(b.states) > 1 {
			b.states = b.states[1:]
		}
		now := contract.Phone{Calls: b.states[:1]}
		if b.states[0].State == contract.CallEnded {
			now = contract.Phone{EndedCalls: b.states[:1]}
		}
		reply(http.StatusOK, now)
	case "DELETE " + phonePath + "/calls/c1":
		last := b.states[0]
		last.State, last.EndReason = contract.CallEnded, "The operator hung up."
		b.hung, b.states = true, []contract.PhoneCall{last}
		w.WriteHeader(http.StatusNoContent)
	case "GET " + chatPath + "/chat1/connect":
		b.listen(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (b *phoneBoxOf) listen(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		b.t.Error(err)
		return
	}
	line := &fakeLine{t: b.t, conn: conn}
	for _, m := range b.chat {
		line.send(r.Context(), m)
	}
	go func() {
		if m, ok := line.next(context.WithoutCancel(r.Context())).(contract.AssistantInput); ok {
			b.mu.Lock()
			b.said = m.Text
			b.mu.Unlock()
		}
	}()
}

// states returns a call in each of the states, with what a later one has, too.
func states(all ...contract.PhoneCall) []contract.PhoneCall {
	for i := range all {
		all[i].CallID, all[i].To = "c1", "100"
	}
	return all
}

func call(ctx context.Context, b *phoneBoxOf, args ...string) (code int, out, errs string) {
	b.t.Helper()
	server := httptest.NewServer(b)
	b.t.Cleanup(server.Close)
	return parleyIn(ctx, "", []string{"PARLEY_DATA=" + filepath.Join(b.t.TempDir(), "data")},
		append([]string{"call", "1 00", "--url", server.URL, "--key", "right", "--config", "Guide"}, args...)...)
}

func answeredBox(t *testing.T) *phoneBoxOf {
	talking := contract.PhoneCall{
		State:      contract.CallTalking,
		ChatID:     "chat1",
		AnsweredBy: contract.ByPerson,
		AnsweredOn: 1,
	}
	over := talking
	over.State, over.DurationSecs, over.EndReason = contract.CallEnded, 83, "The person hung up."
	return &phoneBoxOf{
		t:      t,
		states: states(contract.PhoneCall{State: contract.CallRinging}, talking, talking, over),
		chat: []contract.ServerMessage{
			contract.AssistantMessage{ID: "a", Message: said("Good morning.")},
			contract.UserMessage{Message: contract.ChatMessage{Role: contract.RoleUser, Content: "Hello?"}},
		},
	}
}

// The command prints what happens and what is said, also when the call ends at once.
func TestACallIsFollowedToItsEnd(t *testing.T) {
	b := answeredBox(t)
	code, out, errs := call(t.Context(), b, "--trunk", "desk", "--say", "We close.")
	want := []string{"calling 100, call c1", "a person answered, chat chat1", "assistant  Good morning.",
		"person     Hello?", "ended after 1m23s: The person hung up."}
	last := -1
	for _, w := range want {
		at := strings.Index(out, w)
		if at <= last {
			t.Errorf("%q is missing or comes too early in\n%s", w, out)
		}
		last = at
	}
	if code != exitDone || errs != "" || fmt.Sprint(b.asked) != "map[account: config_id:Guide to:1 00 trunk:desk]" {
		t.Errorf("code %d, %s, asked for %v", code, errs, b.asked)
	}
	if b.mu.Lock(); b.said != "We close." {
		t.Errorf("the box says %q", b.said)
	}
	b.mu.Unlock()
}

func TestJSONOfACallHasEventsAndWords(t *testing.T) {
	code, out, errs := call(t.Context(), answeredBox(t), "--json")
	var events, words []string
	for text := range strings.Lines(out) {
		var l callLine
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		if l.Event != "" {
			events = append(events, l.Event+" "+l.Call.CallID)
		} else {
			words = append(words, l.Who+": "+l.Text)
		}
	}
	if code != exitDone || fmt.Sprint(events) != "[ringing c1 talking c1 ended c1]" ||
		fmt.Sprint(words) != "[assistant: Good morning. person: Hello?]" {
		t.Errorf("code %d, %s: %v, %v", code, errs, events, words)
	}
}

func TestACallThatNobodyAnswersFails(t *testing.T) {
	for by, want := range map[contract.AnsweredBy]string{
		contract.ByBusy:        "100: the line is busy",
		contract.ByNobody:      "100: nobody answered",
		contract.ByWrongNumber: "100: there is no such number",
		"":                     "100: the trunk does not answer",
	} {
		b := &phoneBoxOf{t: t, states: states(contract.PhoneCall{State: contract.CallRinging},
			contract.PhoneCall{State: contract.CallEnded, AnsweredBy: by, EndReason: "the trunk does not answer."})}
		if code, _, errs := call(t.Context(), b); code != exitFailed || !strings.Contains(errs, want) {
			t.Errorf("%s: code %d, %s", by, code, errs)
		}
	}
	if code, _, errs := call(t.Context(), &phoneBoxOf{t: t}, "--config", "None"); code != exitFailed ||
		!strings.Contains(errs, `no config "None"`) {
		t.Errorf("code %d, %s", code, errs)
	}
}

// Ctrl-C ends the call. That is a normal end only of a call that was answered.
func TestCtrlCHangsUp(t *testing.T) {
	for want, answered := range map[int]int64{exitDone: 1, 130: 0} {
		now := contract.PhoneCall{State: contract.CallTalking, AnsweredOn: answered}
		if answered == 0 {
			now.State = contract.CallRinging
		}
		b := &phoneBoxOf{t: t, states: states(now)}
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			time.Sleep(2 * callPoll)
			cancel(signalled{syscall.SIGINT})
		}()
		code, out, errs := call(ctx, b)
		if code != want || !b.hung || !strings.Contains(out, "ended") {
			t.Errorf("code %d, want %d: %s%s", code, want, out, errs)
		}
	}
}
