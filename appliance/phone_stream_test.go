package appliance

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/internal/packtest"
)

// A recorded person calls by a media stream, is greeted, asks, interrupts the answer, presses
// keys and hangs up. In a second call the assistant hangs up. The language model follows a script.
func TestARecordedPersonCallsByAMediaStream(t *testing.T) {
	t.Parallel()
	b := startBox(t, withScriptedModel(t), func(c *config.Config) { c.Webhooks.AllowPrivate = true })
	hook, hooks := receiveWebhooks(t)
	id := b.post(t, "/v0/evi/configs", `{"name":"museum","evi_version":"4-mini",
		"event_messages":{"on_new_chat":{"enabled":true,"text":"Good morning."}},
		"builtin_tools":[{"name":"hang_up"}],
		"webhooks":[{"url":"`+hook+`","events":["chat_started","chat_ended"]}]}`)
	refusedStreams(t, b, id)

	p := b.phone(t, id)
	_, started := nextWebhook(t, hooks)
	chat := started["chat_id"].(string)
	facts, _ := started["twilio_metadata"].(map[string]any)
	if started["caller_number"] != "+15551234567" || facts["to_number"] != "+15557654321" ||
		facts["call_sid"] != "CA1" || facts["from_city"] != "" {
		t.Errorf("chat_started has %v", started)
	}
	p.hearGreeting()
	p.say(question)
	p.hearMore("the answer")
	p.say("check-number-dial-again")
	p.until("the interruption", func(p *streamPhone) bool { return p.clears == 1 })
	p.until("the person has spoken", func(p *streamPhone) bool { return len(p.speech) == 0 })
	p.hearMore("the next answer")
	for _, key := range []string{"4", "2", "#"} {
		p.send(map[string]any{"event": "dtmf", "dtmf": map[string]any{"track": "inbound_track", "digit": key}})
	}
	p.until("the keys interrupt", func(p *streamPhone) bool { return p.clears == 2 })
	b.until(t, chat, "You said: The caller pressed 4 2.")
	p.send(map[string]any{"event": "stop", "stop": map[string]any{"callSid": "CA1"}})

	ended := b.ended(t, chat)
	if ended["status"] != "USER_ENDED" || !strings.Contains(fmt.Sprint(ended["metadata"]), "+15551234567") {
		t.Errorf("the chat ended with %v, %v", ended["status"], ended["metadata"])
	}
	if got := rows(t, ended, contract.EventUserMessage); len(got) != 3 || got[2] != "42#" ||
		wordError(words("after the tone say your name and then press the pound key"), words(got[0])) > 0.1 ||
		wordError(words("please check the number and dial again"), words(got[1])) > 0.2 {
		t.Errorf("the caller said %q", got)
	}
	if got := rows(t, ended, contract.EventAgentMessage); len(got) < 4 || got[0] != "Good morning." ||
		!strings.HasPrefix(got[1], "You said: After") || !strings.HasSuffix(got[1], "…") {
		t.Errorf("the assistant said %q", got)
	}
	if n := len(rows(t, ended, contract.EventUserInterruption)); n != 2 {
		t.Errorf("%d interruptions are in the history", n)
	}
	_, over := nextWebhook(t, hooks)
	if over["event_name"] != "chat_ended" || over["end_reason"] != "USER_ENDED" ||
		over["caller_number"] != "+15551234567" {
		t.Errorf("chat_ended has %v", over)
	}
	assistantHangsUp(t, b, b.phone(t, id), hooks)
}

// assistantHangsUp has the assistant end a call. The caller hears its last words.
func assistantHangsUp(t *testing.T, b *runningBox, p *streamPhone, hooks <-chan receivedWebhook) {
	_, started := nextWebhook(t, hooks)
	chat := started["chat_id"].(string)
	greeted := p.hearGreeting()
	if status, text := b.ask(t, b.key, http.MethodPost, "/v0/evi/chat/"+chat+"/send",
		`{"type":"user_input","text":"use hang_up"}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	select {
	case <-p.over:
	case <-time.After(waitLimit):
		t.Fatal("the assistant does not hang up")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	said := rows(t, b.ended(t, chat), contract.EventAgentMessage)
	if websocket.CloseStatus(p.closed) != websocket.StatusNormalClosure || len(said) != 2 ||
		p.played < greeted+10 || len(p.buffer) > 0 {
		t.Errorf("%v after %q; %d frames were played, %d of them of the greeting, and %d were not", p.closed, said,
			p.played, greeted, len(p.buffer))
	}
}

// refusedStreams are requests for TwiML that get none.
func refusedStreams(t *testing.T, b *runningBox, config string) {
	for query, want := range map[string]int{
		"config_id=" + config + "&api_key=wrong":                     http.StatusUnauthorized,
		"config_id=" + config:                                        http.StatusUnauthorized,
		"config_id=nothing&api_key=" + b.key:                         http.StatusNotFound,
		"config_id=" + config + "&config_version=x&api_key=" + b.key: http.StatusUnprocessableEntity,
	} {
		if status, text := b.ask(t, "", http.MethodGet, "/v0/evi/twilio?"+query, ""); status != want {
			t.Errorf("%s: %d %s, want %d", strings.ReplaceAll(query, b.key, "KEY"), status, text, want)
		}
	}
}

// rows returns the texts of a chat's events of a type.
func rows(t *testing.T, chat map[string]any, kind contract.ChatEventType) (texts []string) {
	t.Helper()
	events, _ := chat["events_page"].([]any)
	for _, e := range events {
		row, _ := e.(map[string]any)
		if row["type"] == string(kind) {
			texts = append(texts, fmt.Sprint(row["message_text"]))
		}
	}
	return texts
}

// until waits until an assistant's message is in the history of a chat.
func (b *runningBox) until(t *testing.T, chat, said string) {
	t.Helper()
	for deadline := time.Now().Add(waitLimit); ; time.Sleep(50 * time.Millisecond) {
		got := b.get(t, "/v0/evi/chats/"+chat+"?page_size=100")
		if strings.Contains(fmt.Sprint(rows(t, got, contract.EventAgentMessage)), said) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the assistant has not said %q: %v", said, got)
		}
	}
}

// streamPhone is a telephone at a provider of media streams: it plays what the box sends, in
// real time, returns the marks, and sends what its person says, or silence.
type streamPhone struct {
	t    *testing.T
	conn *websocket.Conn

	mu     sync.Mutex
	buffer []streamMessage // sound and marks that wait to be played
	played int             // frames
	clears int
	speech []byte // µ-law that waits to be sent
	number int    // of the next media message
	closed error
	over   chan struct{} // closed with the socket
}

type streamMessage struct {
	Event     string `json:"event"`
	StreamSID string `json:"streamSid"`
	Media     struct {
		Payload []byte `json:"payload"`
	} `json:"media"`
	Mark struct {
		Name string `json:"name"`
	} `json:"mark"`
}

// phone calls a config: it asks for TwiML as a provider does, and connects to the stream.
func (b *runningBox) phone(t *testing.T, config string) *streamPhone {
	t.Helper()
	form := url.Values{"CallSid": {"CA1"}, "From": {"+15551234567"}, "To": {"+15557654321"}, "Direction": {"inbound"}}
	answer, err := http.PostForm(b.url+"/v0/evi/twilio?config_id="+config+"&api_key="+b.key, form)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var twiml struct {
		Stream struct {
			URL       string `xml:"url,attr"`
			Parameter struct {
				Name  string `xml:"name,attr"`
				Value string `xml:"value,attr"`
			}
		} `xml:"Connect>Stream"`
	}
	if err := xml.Unmarshal(text, &twiml); err != nil || strings.Contains(string(text), b.key) {
		t.Fatalf("%d %s: %v", answer.StatusCode, text, err)
	}
	conn, _, err := websocket.Dial(t.Context(), twiml.Stream.URL, nil)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	t.Cleanup(func() { conn.CloseNow() })
	p := &streamPhone{t: t, conn: conn, over: make(chan struct{})}
	p.send(map[string]any{"event": "connected", "protocol": "Call", "version": "1.0.0"})
	p.send(map[string]any{"event": "start", "sequenceNumber": "1", "streamSid": "MZ1", "start": map[string]any{
		"streamSid": "MZ1", "callSid": "CA1", "tracks": []string{"inbound"},
		"mediaFormat":      map[string]any{"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
		"customParameters": map[string]string{twiml.Stream.Parameter.Name: twiml.Stream.Parameter.Value},
	}})
	go p.read()
	go p.run()
	return p
}

func (p *streamPhone) send(m map[string]any) {
	text, _ := json.Marshal(m)
	_ = p.conn.Write(context.Background(), websocket.MessageText, text) // read notes that the socket is closed
}

func (p *streamPhone) read() {
	for {
		_, data, err := p.conn.Read(context.Background())
		var m streamMessage
		if err == nil {
			err = json.Unmarshal(data, &m)
		}
		p.mu.Lock()
		switch {
		case err != nil:
			p.closed = err
			close(p.over)
			p.mu.Unlock()
			return
		case m.Event == "clear":
			p.clears++
			for _, m := range p.buffer {
				p.returnMark(m)
			}
			p.buffer = nil
		default:
			p.buffer = append(p.buffer, m)
		}
		p.mu.Unlock()
	}
}

func (p *streamPhone) returnMark(m streamMessage) {
	if m.Event == "mark" {
		p.send(map[string]any{"event": "mark", "streamSid": "MZ1", "mark": map[string]any{"name": m.Mark.Name}})
	}
}

// run plays a frame and sends one every 20 ms.
func (p *streamPhone) run() {
	beat := time.NewTicker(20 * time.Millisecond)
	defer beat.Stop()
	for range beat.C {
		p.mu.Lock()
		if p.closed != nil {
			p.mu.Unlock()
			return
		}
		for played := false; len(p.buffer) > 0; p.buffer = p.buffer[1:] {
			if p.buffer[0].Event == "media" {
				if played {
					break
				}
				played = true
				p.played++
			}
			p.returnMark(p.buffer[0])
		}
		frame := make([]byte, 160)
		for i := range frame {
			frame[i] = 0xff // silence
		}
		p.speech = p.speech[copy(frame, p.speech):]
		p.number++
		p.send(map[string]any{"event": "media", "sequenceNumber": fmt.Sprint(p.number + 1), "streamSid": "MZ1",
			"media": map[string]any{"track": "inbound", "chunk": fmt.Sprint(p.number),
				"timestamp": fmt.Sprint(20 * p.number), "payload": frame}})
		p.mu.Unlock()
	}
}

// say lets the person say a recording.
func (p *streamPhone) say(recording string) {
	p.t.Helper()
	ulaw, err := exec.CommandContext(p.t.Context(), "sox", packtest.Recording(p.t, recording), "-r", "8000", "-e",
		"mu-law", "-t", "raw", "-").Output()
	if err != nil {
		p.t.Fatalf("sox: %v", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.speech = ulaw
}

// until waits until something is true.
func (p *streamPhone) until(what string, is func(*streamPhone) bool) {
	p.t.Helper()
	for deadline := time.Now().Add(waitLimit); ; time.Sleep(10 * time.Millisecond) {
		p.mu.Lock()
		done, closed := is(p), p.closed
		p.mu.Unlock()
		if done {
			return
		}
		if closed != nil || time.Now().After(deadline) {
			p.t.Fatalf("never: %s; the socket: %v", what, closed)
		}
	}
}

// hearGreeting waits until the greeting was played, and returns its number of frames.
func (p *streamPhone) hearGreeting() (frames int) {
	p.t.Helper()
	p.until("the greeting was played", func(p *streamPhone) bool {
		frames = p.played
		return p.played > 0 && len(p.buffer) == 0
	})
	return frames
}

// hearMore waits until half a second more was played.
func (p *streamPhone) hearMore(what string) {
	p.t.Helper()
	p.mu.Lock()
	enough := p.played + 25
	p.mu.Unlock()
	p.until("half a second of "+what, func(p *streamPhone) bool { return p.played >= enough })
}
