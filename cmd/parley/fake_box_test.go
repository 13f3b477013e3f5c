package main

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/coder/websocket"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

// fakeBox serves chats with script, which gets the socket.
func fakeBox(t *testing.T, script func(ctx context.Context, box *fakeLine)) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != chatPath || r.Header.Get("X-Service-Api-Key") != "right" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"code":"E0001","error":"unauthorized","message":"no such key"}`)
			return
		}
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.CloseNow()
		conn.SetReadLimit(1 << 20)
		box := &fakeLine{t: t, conn: conn}
		box.send(r.Context(), contract.ChatMetadata{ChatID: "c", ChatGroupID: "g"})
		script(r.Context(), box)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

type fakeLine struct {
	t    *testing.T
	conn *websocket.Conn
}

func (b *fakeLine) send(ctx context.Context, m contract.ServerMessage) {
	data, err := contract.Marshal(m)
	if err != nil {
		b.t.Error(err)
	}
	b.conn.Write(ctx, websocket.MessageText, data)
}

// next returns the next message of the client, or nil if it hung up.
func (b *fakeLine) next(ctx context.Context) contract.ClientMessage {
	_, data, err := b.conn.Read(ctx)
	if err != nil {
		return nil
	}
	m, err := contract.ParseClientMessage(data)
	if err != nil {
		b.t.Error(err)
	}
	return m
}

func said(text string) contract.ChatMessage {
	return contract.ChatMessage{Role: contract.RoleAssistant, Content: text}
}

// tone returns a clip of so many milliseconds.
func tone(ms int) []byte {
	pcm := make([]float32, 48*ms)
	for i := range pcm {
		pcm[i] = float32(0.5 * math.Sin(2*math.Pi*440*float64(i)/48000))
	}
	return audio.EncodeWAV(pcm, 48000)
}

func talk(t *testing.T, url, in string, args ...string) (code int, out, errs string) {
	t.Helper()
	return parley(t, in, append([]string{"talk", "--url", url, "--key", "right"}, args...)...)
}
