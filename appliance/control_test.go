package appliance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/contract"
	"parley/store"
)

// chatID returns the id in the first message of the chat.
func (c *caller) chatID() string {
	c.t.Helper()
	return c.until("chat_metadata", 1, waitLimit)[0].ServerMessage.(contract.ChatMetadata).ChatID
}

// send sends a message to a live chat, with a key.
func (b *runningBox) send(t *testing.T, key, chatID, body string) (status int, answer string) {
	t.Helper()
	return b.ask(t, key, http.MethodPost, "/v0/evi/chat/"+chatID+"/send", body)
}

// follow connects to a live chat; if that fails, it returns the status.
func (b *runningBox) follow(t *testing.T, key, chatID, query string) (*websocket.Conn, int) {
	t.Helper()
	conn, answer, err := websocket.Dial(t.Context(),
		"ws"+strings.TrimPrefix(b.url, "http")+"/v0/evi/chat/"+chatID+"/connect?api_key="+key+query, nil)
	if err != nil {
		if answer == nil {
			t.Fatal(err)
		}
		return nil, answer.StatusCode
	}
	conn.SetReadLimit(-1)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return conn, answer.StatusCode
}

// Only clients of its account find a chat, and only while it is live.
func TestOnlyItsAccountReachesALiveChat(t *testing.T) {
	b := startFakeBox(t)
	other, err := b.records.CreateKey(t.Context(), store.NewKey{Account: "other"})
	if err != nil {
		t.Fatal(err)
	}
	const pause = `{"type":"pause_assistant_message"}`
	closed, open := b.call(t, ""), b.call(t, "&allow_connection=true")
	over := b.call(t, "&allow_connection=true")
	overID := over.chatID()
	_ = over.conn.Close(websocket.StatusNormalClosure, "")
	for {
		if status, _ := b.send(t, b.key, overID, pause); status == 404 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	for _, x := range []struct {
		who, key, id  string
		sent, follows int
	}{
		{"its account", b.key, open.chatID(), 200, 101},
		{"its account, though it lets nobody connect", b.key, closed.chatID(), 200, 403},
		{"another account", other.APIKey, open.chatID(), 404, 404},
		{"nobody", "wrong", open.chatID(), 401, 401},
		{"its account, after the end", b.key, overID, 404, 404},
		{"its account, of another id", b.key, contract.NewID(), 404, 404},
		{"its account, of no id", b.key, "x%2F..%2Fy", 404, 404},
	} {
		if status, text := b.send(t, x.key, x.id, pause); status != x.sent {
			t.Errorf("%s sends: %d %s, want %d", x.who, status, text, x.sent)
		}
		if _, status := b.follow(t, x.key, x.id, ""); status != x.follows {
			t.Errorf("%s follows: %d, want %d", x.who, status, x.follows)
		}
	}
	for range 15 { // one follower is there already
		if _, status := b.follow(t, b.key, open.chatID(), "&audio_output=false"); status != 101 {
			t.Fatalf("one of 16 gets %d", status)
		}
	}
	if _, status := b.follow(t, b.key, open.chatID(), ""); status != 429 {
		t.Errorf("the 17th gets %d", status)
	}
}

// A follower receives all messages of the client, whenever it connects: each once, and then
// the end.
func TestFollowersReceiveAllMessagesOfTheClient(t *testing.T) {
	b := startFakeBox(t)
	c := b.call(t, "&allow_connection=true")
	id := c.chatID()
	var all, came sync.WaitGroup
	heard := make([][]string, 12)
	for i := range heard {
		came.Add(1)
		all.Go(func() {
			time.Sleep(time.Duration(rand.IntN(2000)) * time.Millisecond)
			conn, status := b.follow(t, b.key, id, fmt.Sprintf("&audio_output=%v", i%2 == 0))
			came.Done()
			if conn == nil {
				t.Errorf("following: %d", status)
				return
			}
			var err error
			heard[i], err = readAll(conn)
			if ce, ok := errors.AsType[websocket.CloseError](err); !ok || ce.Code != contract.CloseNormal {
				t.Errorf("it ends with %v", err)
			}
		})
	}
	for n := range 20 {
		c.send(contract.UserInput{Text: fmt.Sprint("Question ", n)})
		if n%5 == 0 {
			if status, text := b.send(t, b.key, id, `{"type":"assistant_input","text":"One moment."}`); status != 200 {
				t.Errorf("%d %s", status, text)
			}
		}
		time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond)
	}
	c.until("assistant_end", 1, waitLimit)
	came.Wait()
	_ = c.conn.Close(websocket.StatusNormalClosure, "")
	all.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	var received []string
	for _, m := range c.received {
		if m.MessageType() != "audio_output" {
			text, _ := json.Marshal(m.ServerMessage)
			received = append(received, string(text))
		}
	}
	for i, got := range heard {
		// Messages during the client's departure may have missed it.
		if len(got) < len(received) || !slices.Equal(got[:len(received)], received) {
			t.Errorf("follower %d got %d messages, the client %d:\n%s\n%s", i, len(got), len(received),
				strings.Join(got, "\n"), strings.Join(received, "\n"))
		}
	}
}

// readAll reads all messages of a socket except sound.
func readAll(conn *websocket.Conn) (received []string, err error) {
	for {
		_, data, err := conn.Read(context.Background())
		if err != nil {
			return received, err
		}
		m, err := contract.ParseServerMessage(data)
		if err != nil {
			return received, err
		}
		if m.MessageType() == "audio_output" {
			continue
		}
		text, _ := json.Marshal(m)
		received = append(received, string(text))
	}
}
