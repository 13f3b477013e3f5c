package appliance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/appliance/config"
	"parley/internal/sipuri"
)

// Telephones that others made talk to a real box: baresip with two codecs and both kinds of
// encryption, and sipp with calls that must be refused. Recordings speak; the language model
// follows a script.
func TestTelephonesTalk(t *testing.T) {
	t.Parallel()
	called := startBaresip(t, "pcma/8000", recordingPCM(t, "hello"))
	url, told := receiveWebhooks(t)
	b := startBox(t, withScriptedModel(t), func(c *config.Config) {
		c.Webhooks.AllowPrivate = true
		c.Phone.Listen = []config.PhoneListener{{Transport: config.TransportUDP, Address: "127.0.0.1:0"}}
		c.Phone.Trunks = []config.Trunk{trunk(t, "desk", "127.0.0.1"), trunk(t, "out", "127.0.0.1:"+called.number)}
		c.Phone.Extensions = []config.Extension{{Number: "100", Config: "phone"}}
	})
	b.post(t, "/v0/evi/configs", `{"name":"phone","evi_version":"4-mini",
		"event_messages":{"on_new_chat":{"enabled":true,"text":"Good morning."}},"webhooks":[{"url":"`+url+
		`","events":["chat_started","chat_ended"]}]}`)
	listeners, _ := b.get(t, "/v0/box/phone")["listeners"].([]any)
	if len(listeners) != 1 {
		t.Fatalf("listeners: %v", listeners)
	}
	at := strings.TrimPrefix(listeners[0].(map[string]any)["address"].(string), "udp://")

	t.Run("calls", func(t *testing.T) { // returns when all are over
		t.Run("G722WithSDES", func(t *testing.T) {
			t.Parallel()
			phoneIsAnswered(t, b, at, "g722/16000;mediaenc=srtp-mand")
		})
		t.Run("OpusWithDTLS", func(t *testing.T) {
			t.Parallel()
			phoneIsAnswered(t, b, at, "opus/48000/2;mediaenc=dtls_srtp")
		})
		t.Run("Out", func(t *testing.T) {
			t.Parallel()
			called.t = t
			boxCallsAPhone(t, b, called)
		})
		t.Run("Unwanted", func(t *testing.T) {
			t.Parallel()
			unwantedCallsAreRefused(t, at)
		})
	})
	for range 2 * 3 { // beginning and end of three chats
		if h, fields := nextWebhook(t, told); fields["caller_number"] == "" {
			t.Errorf("the webhook has no caller: %s", h.body)
		}
	}

	last := startBaresip(t, "pcmu/8000", nil)
	last.command("dial", "sip:100@"+at)
	last.until("CALL_ESTABLISHED")
	if err := b.stop(); err != nil {
		t.Error(err)
	}
	last.until("CALL_CLOSED") // the stopping box says BYE
}

// trunk returns a trunk with an address.
func trunk(t *testing.T, name, address string) config.Trunk {
	t.Helper()
	addresses, err := sipuri.ParseAddresses(address)
	if err != nil {
		t.Fatal(err)
	}
	return config.Trunk{
		Name:      name,
		Address:   address,
		Addresses: addresses,
		From:      "100",
	}
}

// phoneIsAnswered asks the box by telephone, presses keys, puts the box on hold, and hangs up.
func phoneIsAnswered(t *testing.T, b *runningBox, at, codec string) {
	p := startBaresip(t, codec, recordingPCM(t, question))
	p.command("dial", "sip:100@"+at)
	p.until("CALL_ESTABLISHED")
	chat := b.phoneChat(t, p.number)
	b.untilEvents(t, chat, "You said")
	<-time.After(4 * time.Second) // the answer is spoken
	p.command("sndcode", "42#")
	b.untilEvents(t, chat, "You said: The caller pressed")
	p.command("hold", "")
	p.command("resume", "")
	p.command("hangup", "")
	p.until("CALL_CLOSED")
	ended := b.ended(t, chat)
	if events := fmt.Sprint(ended); ended["status"] != "USER_ENDED" || !strings.Contains(events, "42#") ||
		!strings.Contains(events, p.number) {
		t.Errorf("history: %s", events)
	}
	want := "Good morning. You said: after the tone, say your name, and then press the pound key."
	if said := transcribe(t, b.cfg, p.heard()); wordError(words(want), words(said)) > 0.2 {
		t.Errorf("the telephone heard %q", said)
	}
}

// boxCallsAPhone has the box call a telephone that answers, and hang up.
func boxCallsAPhone(t *testing.T, b *runningBox, p *baresip) {
	status, text := b.ask(t, b.key, http.MethodPost, "/v0/box/phone/calls",
		`{"trunk":"out","to":"`+p.number+`","config_id":"phone"}`)
	var call struct {
		CallID string `json:"call_id"`
	}
	if json.Unmarshal([]byte(text), &call) != nil || status != http.StatusCreated {
		t.Fatalf("calling out: %d %s", status, text)
	}
	p.until("CALL_ESTABLISHED")
	chat := b.phoneChat(t, p.number)
	b.untilEvents(t, chat, "Good morning")
	if status, text := b.ask(t, b.key, http.MethodDelete, "/v0/box/phone/calls/"+call.CallID, ""); status >= 300 {
		t.Errorf("hanging up: %d %s", status, text)
	}
	p.until("CALL_CLOSED")
	if events := fmt.Sprint(b.ended(t, chat)); !strings.Contains(events, "answered_by") ||
		!strings.Contains(events, "person") {
		t.Errorf("history: %s", events)
	}
}

// refusedCall is a scenario of sipp: an INVITE is answered with the status.
const refusedCall = `<?xml version="1.0" encoding="UTF-8"?>
<scenario name="refused">
<send retrans="500"><![CDATA[

INVITE sip:[service]@[remote_ip]:[remote_port] SIP/2.0
Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]
From: <sip:stranger@[local_ip]:[local_port]>;tag=[call_number]
To: <sip:[service]@[remote_ip]:[remote_port]>
Call-ID: [call_id]
CSeq: 1 INVITE
Contact: <sip:stranger@[local_ip]:[local_port]>
Max-Forwards: 70
Content-Type: application/sdp
Content-Length: [len]

v=0
o=- 1 1 IN IP4 [local_ip]
s=-
c=IN IP4 [media_ip]
t=0 0
m=audio [media_port] RTP/AVP 0

]]></send>
<recv response="100" optional="true"/>
<recv response="%d"/>
<send><![CDATA[

ACK sip:[service]@[remote_ip]:[remote_port] SIP/2.0
[last_Via:]
From: <sip:stranger@[local_ip]:[local_port]>;tag=[call_number]
[last_To:]
Call-ID: [call_id]
CSeq: 1 ACK
Content-Length: 0

]]></send>
</scenario>
`

// unwantedCallsAreRefused calls the box from an address without a trunk, and calls a number
// that nobody answers.
func unwantedCallsAreRefused(t *testing.T, at string) {
	for _, c := range []struct {
		from, number, calls string
		status              int
	}{
		{"127.0.0.2", "100", "10", http.StatusForbidden},
		{"127.0.0.1", "999", "1", http.StatusNotFound},
	} {
		scenario := filepath.Join(t.TempDir(), "refused.xml")
		if err := os.WriteFile(scenario, fmt.Appendf(nil, refusedCall, c.status), 0o600); err != nil {
			t.Fatal(err)
		}
		sipp := exec.CommandContext(t.Context(), "sipp", at, "-sf", scenario, "-i", c.from, "-s", c.number,
			"-m", c.calls, "-r", "5", "-timeout", "30", "-timeout_error", "-nostdin")
		if out, err := sipp.CombinedOutput(); err != nil {
			t.Errorf("calls from %s to %s are not answered with %d: %v\n%s", c.from, c.number, c.status, err, out)
		}
	}
}

// phoneChat waits for the chat of a call with a telephone, and returns its id.
func (b *runningBox) phoneChat(t *testing.T, number string) string {
	t.Helper()
	for deadline := time.Now().Add(waitLimit); time.Now().Before(deadline); <-time.After(50 * time.Millisecond) {
		for _, c := range b.get(t, "/v0/box/phone")["calls"].([]any) {
			call := c.(map[string]any)
			id, _ := call["chat_id"].(string)
			if id != "" && (call["from"] == number || call["to"] == number) {
				return id
			}
		}
	}
	t.Fatalf("there is no chat of a call with %s: %v", number, b.get(t, "/v0/box/phone"))
	return ""
}

// untilEvents waits until the events of a chat contain a text.
func (b *runningBox) untilEvents(t *testing.T, chat, text string) {
	t.Helper()
	events := ""
	for deadline := time.Now().Add(waitLimit); time.Now().Before(deadline); <-time.After(50 * time.Millisecond) {
		if events = fmt.Sprint(b.get(t, "/v0/evi/chats/"+chat+"?page_size=100")); strings.Contains(events, text) {
			return
		}
	}
	t.Fatalf("chat %s has no %q: %s", chat, text, events)
}
