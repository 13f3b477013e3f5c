package record

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/store"
)

// notifying returns Notifications with one webhook for these events.
func notifying(events ...contract.WebhookEvent) Notifications {
	return Notifications{
		ChatID:   "c",
		GroupID:  "g",
		ConfigID: "f",
		Hooks:    []contract.Webhook{{URL: "https://h/", Events: events}},
	}
}

// wantJSON compares a body with exactly what it should hold.
func wantJSON(t *testing.T, body, want string) {
	t.Helper()
	var a, b any
	if err := errors.Join(json.Unmarshal([]byte(body), &a), json.Unmarshal([]byte(want), &b)); err != nil ||
		!reflect.DeepEqual(a, b) {
		t.Errorf("the body is %s, want %s (%v)", body, want, err)
	}
}

func TestBodiesOfBeginningAndEnd(t *testing.T) {
	begun := time.UnixMilli(1_700_000_000_123)
	c := notifying(contract.WebhookChatStarted, contract.WebhookToolCall)
	w := c.AtStart(begun)
	wantJSON(t, w.Started, `{"event_name":"chat_started","chat_group_id":"g","chat_id":"c","config_id":"f",`+
		`"caller_number":null,"custom_session_id":null,
		"start_time":1700000000123,"chat_start_type":"new_chat_group"}`)
	wantJSON(t, w.Ended, `{"event_name":"chat_ended","chat_group_id":"g","chat_id":"c","config_id":"f",`+
		`"caller_number":null,"custom_session_id":null,
		"end_time":0,"duration_seconds":0,"end_reason":""}`)
	if want := []store.Webhook{{URL: "https://h/", Events: []string{"chat_started", "tool_call"}}}; !reflect.DeepEqual(
		w.Hooks, want) {
		t.Errorf("the notified webhooks are %+v", w.Hooks)
	}
	c.Resumed, c.ConfigID, c.CustomSessionID = true, "", "<mine>"
	w = c.AtStart(begun)
	wantJSON(t, w.Started, `{"event_name":"chat_started","chat_group_id":"g","chat_id":"c","caller_number":null,`+
		`"custom_session_id":"<mine>",
		"start_time":1700000000123,"chat_start_type":"resumed_chat_group"}`)
	if w := (Notifications{ChatID: "c"}).AtStart(begun); len(w.Hooks) != 0 || w.Started != "" || w.Ended != "" {
		t.Errorf("without webhooks: %+v", w)
	}
}

// A tool call is notified with the message that the client gets, in the commit of its row, and only to
// webhooks that asked for it.
func TestAToolCallIsNotifiedInTheCommitOfItsRow(t *testing.T) {
	for _, asked := range []bool{true, false} {
		w := &outboxWorld{}
		c := notifying(contract.WebhookChatEnded)
		if asked {
			c = notifying(contract.WebhookToolCall)
		}
		s := NewScribe(Chat{ID: "c", Begun: time.UnixMilli(1_700_000_000_000), Notifications: c}, w, w,
			recorderOf{&w.world},
			func() {}, func(err error) {
				t.Error(err)
			})
		call := turn.ToolCalled{Call: turn.Call{ID: "t", Name: "hours", Arguments: `{"day":"<Monday>"}`}}
		tell(t, s, turn.Publish{At: time.Second, Fact: turn.AnswerEnded{}})
		if err := s.Publish(turn.Publish{At: 1234 * time.Millisecond, Fact: call}, "mine"); err != nil {
			t.Fatal(err)
		}
		s.Run(t.Context())
		var rows, notices int
		session := ""
		for _, x := range w.written {
			rows, notices = rows+len(x.New), notices+len(x.Notices)
			session += x.CustomSessionID
			if len(x.New) != len(x.Notices) && asked {
				t.Errorf("one commit has %d rows and %d notices", len(x.New), len(x.Notices))
			}
			for _, n := range x.Notices {
				if n.Event != "tool_call" || n.AtMS != 1_700_000_001_234 {
					t.Errorf("%+v", n)
				}
				wantJSON(t, n.Body, `{"event_name":"tool_call","chat_group_id":"g","chat_id":"c","config_id":"f",`+
					`"caller_number":null,"custom_session_id":"mine","timestamp":1700000001234,
					"tool_call_message":{"type":"tool_call","tool_call_id":"t","name":"hours",
					"parameters":"{\"day\":\"<Monday>\"}","response_required":true,"tool_type":"function",
					"custom_session_id":"mine"}}`)
			}
		}
		if rows != 1 || (notices == 1) != asked || session != "mine" {
			t.Errorf("asked %v: %d rows, %d notices, session %q", asked, rows, notices, session)
		}
	}
}

// outboxWorld is a world that stores what is written.
type outboxWorld struct {
	world
	written []store.ChatWrite
}

func (w *outboxWorld) WriteChat(_ context.Context, _ string, x store.ChatWrite) error {
	w.written = append(w.written, x)
	return nil
}

// For a chat that is not recorded, only the outbox is written, and only if there are webhooks.
func TestUnrecordedChatsAreNotified(t *testing.T) {
	o := &outbox{}
	u := Unrecorded{o}
	n := store.NewChat{ID: "c"}
	some := store.ChatWrite{
		New:       []store.Event{{}},
		Questions: []store.Question{{Words: "Why?"}},
		Metadata:  "{}",
	}
	for range 2 {
		if err := errors.Join(u.StartChat(t.Context(), n), u.WriteChat(t.Context(), "c", some),
			u.EndChat(t.Context(), "c", store.UserEnded, 5)); err != nil {
			t.Fatal(err)
		}
		n.Webhooks = notifying(contract.WebhookChatStarted).AtStart(time.Now())
		some.Notices = []store.Notice{{Event: "tool_call"}}
	}
	if o.calls != "end start write end " {
		t.Errorf("the outbox received %s", o.calls)
	}
	if err := u.StartChat(t.Context(), store.NewChat{Resume: true, Webhooks: n.Webhooks}); !errors.Is(err,
		ErrUnrecorded) || o.calls != "end start write end " {
		t.Errorf("resuming: %v, %s", err, o.calls)
	}
}

type outbox struct{ calls string }

func (o *outbox) StartWebhooks(context.Context, store.NewChat) error {
	o.calls += "start "
	return nil
}
func (o *outbox) WriteWebhooks(context.Context, string, store.ChatWrite) error {
	o.calls += "write "
	return nil
}
func (o *outbox) EndWebhooks(context.Context, string, store.Status, int64) error {
	o.calls += "end "
	return nil
}
