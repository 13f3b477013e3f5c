package store

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"
)

// minded is a chat whose end calls a plugin.
func minded(account string) NewChat {
	return NewChat{
		ID:        uuid.NewString(),
		GroupID:   uuid.NewString(),
		AccountID: account,
		StartedMS: 1000,
		RequestID: "r",
		EndCalls:  EndCalls{Plugins: []string{"notes"}, Body: `{"chat_id":"c"}`},
	}
}

// told returns the body of the next call.
func told(t *testing.T, s *Store) (EndCall, map[string]any) {
	t.Helper()
	next, err := s.NextEndCall(t.Context())
	must(t, err)
	var body map[string]any
	must(t, json.Unmarshal([]byte(next.Body), &body))
	return next, body
}

func TestEndCallIsRepeatedUntilDelivered(t *testing.T) {
	s := openStore(t, t.TempDir())
	n := minded(newAccount(t, s, "home"))
	must(t, s.StartChat(t.Context(), n))
	must(t, s.WriteChat(t.Context(), n.ID, ChatWrite{CustomSessionID: "desk"}))
	_, err := s.NextEndCall(t.Context())
	wantError(t, err, ErrNotFound)
	must(t, s.EndChat(t.Context(), n.ID, UserEnded, 5999))
	<-s.EndCallsChanged()
	next, body := told(t, s)
	if next.ChatID != n.ID || next.AccountID != n.AccountID || next.Plugin != "notes" || next.DueMS != 5999 ||
		body["end_reason"] != "USER_ENDED" || body["end_time"] != 5999.0 || body["duration_seconds"] != 4.0 ||
		body["custom_session_id"] != "desk" || body["chat_id"] != "c" {
		t.Errorf("%+v, %v", next, body)
	}
	must(t, s.DelayEndCall(t.Context(), next.Num, 9000, true))
	must(t, s.DelayEndCall(t.Context(), next.Num, 9500, false))
	if next, _ = told(t, s); next.DueMS != 9500 || next.Tries != 1 {
		t.Errorf("%+v", next)
	}
	must(t, s.DropEndCall(t.Context(), next.Num))
	_, err = s.NextEndCall(t.Context())
	wantError(t, err, ErrNotFound)
	must(t, s.Check(t.Context()))
}

// Chats that a crash left open have calls too, also without a stored history, and each
// only once.
func TestChatsEndedByACrashHaveEndCalls(t *testing.T) {
	s := openStore(t, t.TempDir())
	account := newAccount(t, s, "home")
	stored, unstored := minded(account), minded(account)
	must(t, s.StartChat(t.Context(), stored))
	must(t, s.StartWebhooks(t.Context(), unstored))
	for range 2 {
		_, err := s.EndOpenChats(t.Context(), 9000, func(string) time.Duration { return 3 * time.Second })
		must(t, err)
	}
	first, body := told(t, s)
	if first.ChatID != unstored.ID || body["end_reason"] != "ERROR" || body["duration_seconds"] != 0.0 {
		t.Errorf("%+v, %v", first, body)
	}
	must(t, s.DropEndCall(t.Context(), first.Num))
	second, body := told(t, s)
	if second.ChatID != stored.ID || body["end_reason"] != "ERROR" || body["end_time"] != 4000.0 ||
		body["duration_seconds"] != 3.0 {
		t.Errorf("%+v, %v", second, body)
	}
}
