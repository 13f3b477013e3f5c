package webrtc

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pion/rtp"
	pion "github.com/pion/webrtc/v4"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// frameSamples is the number of samples of a packet.
const frameSamples = int(audio.CallFrame * audio.CallRateHz / time.Second)

func TestACallCarriesMessagesBothWays(t *testing.T) {
	l := start(t, Timing{})
	c := l.dial(t, "verbose_transcription=true")
	s := got(t, l.opened)
	if !s.Settings.VerboseTranscription || s.Account != "acme" || s.RequestID != "req-1" {
		t.Errorf("it opened with %+v", s.Opening)
	}
	if err := s.Line.Send(t.Context(), contract.AssistantMessage{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	if m := got(t, c.messages); !strings.Contains(m, `"type":"assistant_message"`) {
		t.Errorf("the client got %s", m)
	}
	if err := c.words.SendText(`{"type":"user_input","text":"Hi"}`); err != nil {
		t.Fatal(err)
	}
	if m := got(t, s.got); m != (contract.UserInput{Text: "Hi"}) {
		t.Errorf("the session got %+v", m)
	}
	for sent, want := range map[string]string{
		`{"type":"nonsense"}`:                  string(contract.UnknownMessage),
		`{"type":"audio_input","data":"AAA="}`: string(contract.UnknownMessage) + " Audio comes as a track",
	} {
		if err := c.words.SendText(sent); err != nil {
			t.Fatal(err)
		}
		if fault := got(t, s.faults); !strings.HasPrefix(fault, want) {
			t.Errorf("%s: the fault is %q, want %q", sent, fault, want)
		}
	}
	s.end(contract.CloseNormal, "goodbye")
	if m, want := got(t, c.messages), `{"type":"call_ended","code":1000,"reason":"goodbye"}`; m != want {
		t.Errorf("it ended with %s, want %s", m, want)
	}
}

// The assistant's voice arrives at its loudness, packet by packet in real time, and the
// session learns the progress.
func TestTheAssistantIsHeardInRealTime(t *testing.T) {
	l := start(t, Timing{})
	c := l.dial(t, "")
	s := got(t, l.opened)
	begun := time.Now()
	if err := s.Line.Play(t.Context(), contract.Sound{ID: "a", PCM: vowel(time.Second), Last: true}); err != nil {
		t.Fatal(err)
	}
	d, err := audio.NewCallDecoder(contract.OutputRateHz)
	if err != nil {
		t.Fatal(err)
	}
	var heard []float32
	first := got(t, c.packets)
	for p, n := first, 1; ; n++ {
		if p.Marker != (n == 1) || p.SequenceNumber != first.SequenceNumber+uint16(n-1) {
			t.Fatalf("packet %d is number %d, want %d; marker %v", n, p.SequenceNumber,
				first.SequenceNumber+uint16(n-1), p.Marker)
		}
		pcm, err := d.Decode(p.Payload)
		if err != nil {
			t.Fatal(err)
		}
		heard = append(heard, pcm...)
		if n == 50 {
			break
		}
		p = got(t, c.packets)
	}
	if took := time.Since(begun); took < 900*time.Millisecond {
		t.Errorf("a second was sent within %v", took)
	}
	if got, want := level(heard[4800:]), level(vowel(time.Second)[4800:]); got < want*0.85 || got > want*1.15 {
		t.Errorf("it has a level of %.3f, want %.3f", got, want)
	}
	if far := got(t, s.far); far > 0 {
		t.Errorf("the first packet was not heard when it left: %v", far)
	}
	if far := got(t, s.far); far <= 0 || far > 220*time.Millisecond {
		t.Errorf("after 220 ms it was played up to %v", far)
	}
	s.end(contract.CloseNormal, "")
}

// Sound that was not sent before an interruption is never sent.
func TestCutSoundIsNotSent(t *testing.T) {
	l := start(t, Timing{})
	c := l.dial(t, "")
	s := got(t, l.opened)
	play := func(id string, d time.Duration, last bool) {
		t.Helper()
		if err := s.Line.Play(t.Context(), contract.Sound{ID: id, PCM: vowel(d), Last: last}); err != nil {
			t.Fatal(err)
		}
	}
	play("a", 10*time.Second+5*time.Millisecond, false)
	if kept := s.Line.HeldBack(); kept != contract.OutputRateHz*5/1000 {
		t.Errorf("%d samples are buffered, want 240", kept)
	}
	got(t, c.packets)
	s.Line.Cut()
	if kept := s.Line.HeldBack(); kept != 0 {
		t.Errorf("%d samples are buffered after the cut", kept)
	}
	play("b", 200*time.Millisecond, true)
	s.end(contract.CloseNormal, "")
	for !strings.Contains(got(t, c.messages), "call_ended") {
	}
	if n := len(c.packets); n > 150 {
		t.Errorf("%d packets came after the cut of ten seconds", n)
	}
}

func (c *caller) speak(t *testing.T, pcm []float32, from int, lose func(n int) bool) {
	t.Helper()
	e, err := audio.NewCallEncoder()
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(pcm) / frameSamples {
		packet, err := e.Encode(pcm[n*frameSamples : (n+1)*frameSamples])
		if err != nil {
			t.Fatal(err)
		}
		if lose(n) || len(packet) == 0 {
			continue
		}
		p := rtp.Packet{Header: rtp.Header{Version: 2, SequenceNumber: uint16(from + n),
			Timestamp: uint32(n) * opusFormat.Ticks(audio.CallFrame)}, Payload: packet}
		if err := c.voice.WriteRTP(&p); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
}

// Lost packets are concealed, also where the sequence numbers wrap around: there is no hole
// of 10 ms.
func TestLostPacketsAreConcealed(t *testing.T) {
	said := vowel(2 * time.Second)
	e, err := audio.NewCallEncoder()
	if err != nil {
		t.Fatal(err)
	}
	h, err := newJitterBuffer()
	if err != nil {
		t.Fatal(err)
	}
	var ear []float32
	for n := range len(said) / frameSamples {
		packet, err := e.Encode(said[n*frameSamples : (n+1)*frameSamples])
		if err != nil {
			t.Fatal(err)
		}
		if n%10 != 5 {
			ear = append(ear,
				h.Push(&rtp.Packet{Header: rtp.Header{SequenceNumber: uint16(65500 + n),
					Timestamp: uint32(n * frameSamples)}, Payload: append([]byte(nil), packet...)})...)
		}
	}
	if len(ear) < 2*engine.SpeechRateHz-1600 {
		t.Fatalf("of 2 s %d ms are heard", len(ear)/16)
	}
	for i := 1600; i+160 <= len(ear); i += 160 {
		if l := level(ear[i : i+160]); l < 0.05 {
			t.Errorf("there is a hole at %d ms: %.3f", i/16, l)
		}
	}
}

// The user is heard, and there is silence when no packets come.
func TestTheUserIsHeard(t *testing.T) {
	l := start(t, Timing{})
	c := l.dial(t, "")
	s := got(t, l.opened)
	said := vowel(2 * time.Second)
	c.speak(t, said, 65500, func(n int) bool { return n%10 == 5 })
	var ear []float32
	for len(ear) < 2*engine.SpeechRateHz {
		ear = append(ear, got(t, s.heard)...)
	}
	// A busy machine sends with pauses, which the ear gets as silence.
	if got, want := level(ear[1600:2*engine.SpeechRateHz-1600]), level(said); got < want*0.3 || got > want*1.2 {
		t.Errorf("the ear hears it with a level of %.3f, want %.3f", got, want)
	}
	// When no packets come, the ear gets silence, which ends a turn.
	for quiet := 0; quiet < engine.SpeechRateHz; {
		if pcm := got(t, s.heard); level(pcm) < 0.001 {
			quiet += len(pcm)
		}
	}
	s.end(contract.CloseNormal, "")
}

// A voice without pauses arrives without pauses, also if the session takes it in bursts, as
// it does while nobody speaks.
func TestAVoiceTakenInBurstsHasNoPauses(t *testing.T) {
	l := start(t, Timing{})
	var newest time.Time
	l.rests = func() {
		if time.Since(newest) > 5*time.Millisecond {
			time.Sleep(minPause)
		}
		newest = time.Now()
	}
	c := l.dial(t, "")
	s := got(t, l.opened)
	e, err := audio.NewCallEncoder()
	if err != nil {
		t.Fatal(err)
	}
	said, began := vowel(2*time.Second), time.Now()
	next := time.NewTicker(20 * time.Millisecond)
	defer next.Stop()
	for n := range len(said) / frameSamples {
		packet, err := e.Encode(said[n*frameSamples : (n+1)*frameSamples])
		if err != nil {
			t.Fatal(err)
		}
		<-next.C
		p := rtp.Packet{Header: rtp.Header{Version: 2, SequenceNumber: uint16(n),
			Timestamp: uint32(n) * opusFormat.Ticks(audio.CallFrame)}, Payload: packet}
		if err := c.voice.WriteRTP(&p); err != nil {
			t.Fatal(err)
		}
	}
	took := time.Since(began) // longer than the voice on a busy machine, which had pauses
	heard, voiced := 0, 0
	for voiced < engine.SpeechRateHz*18/10 {
		pcm := got(t, s.heard)
		if heard += len(pcm); level(pcm) > 0.05 {
			voiced += len(pcm)
		}
	}
	if most := int((took + 2*minPause).Seconds() * engine.SpeechRateHz); heard > most {
		t.Errorf("of %v %d ms are heard", took, heard*1000/engine.SpeechRateHz)
	}
	s.end(contract.CloseNormal, "")
}

func TestACallEndsWhenTheClientDoes(t *testing.T) {
	for name, end := range map[string]func(*caller){
		"its connection is closed": func(c *caller) { _ = c.GracefulClose() },
		"it deletes the call":      func(c *caller) { bring(t, http.MethodDelete, c.at, "", "") },
	} {
		t.Run(name, func(t *testing.T) {
			l := start(t, Timing{})
			c := l.dial(t, "")
			s := got(t, l.opened)
			end(c)
			got(t, s.done)
		})
	}
}

func TestACallGoesOnAfterAnICERestart(t *testing.T) {
	l := start(t, Timing{})
	c := l.dial(t, "")
	s := got(t, l.opened)
	if err := s.Line.Send(t.Context(), contract.AssistantMessage{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	got(t, c.messages)
	answer, _ := c.offer(t, http.MethodPatch, c.at, &pion.OfferOptions{ICERestart: true})
	if err := c.SetRemoteDescription(pion.SessionDescription{Type: pion.SDPTypeAnswer, SDP: answer}); err != nil {
		t.Fatal(err)
	}
	if err := s.Line.Send(t.Context(), contract.AssistantMessage{ID: "b"}); err != nil {
		t.Fatal(err)
	}
	if m := got(t, c.messages); !strings.Contains(m, `"id":"b"`) {
		t.Errorf("the client got %s", m)
	}
	s.end(contract.CloseNormal, "")
}

// A client on another network restarts ICE, and the same call goes on in both directions.
func TestACallGoesOnFromAnotherAddress(t *testing.T) {
	l := start(t, Timing{})
	w := newWifi(t, l.server.Port())
	l.between = w
	c := l.dial(t, "")
	s := got(t, l.opened)
	c.isHeard(t, s)
	for n := range 2 {
		w.move(t)
		answer, _ := c.offer(t, http.MethodPatch, c.at, &pion.OfferOptions{ICERestart: true})
		if err := c.SetRemoteDescription(pion.SessionDescription{Type: pion.SDPTypeAnswer,
			SDP: w.through(answer, l.server.Port())}); err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprint("a", n)
		if err := s.Line.Send(t.Context(), contract.AssistantMessage{ID: id}); err != nil {
			t.Fatal(err)
		}
		if m := got(t, c.messages); !strings.Contains(m, `"id":"`+id+`"`) {
			t.Errorf("the client got %s", m)
		}
		for len(s.heard) > 0 {
			<-s.heard
		}
		c.isHeard(t, s)
	}
	s.end(contract.CloseNormal, "")
}

// A call ends if its client sends nothing and does not restart ICE.
func TestACallEndsWhenItsClientVanishes(t *testing.T) {
	l := start(t, Timing{Silent: 300 * time.Millisecond, Lost: 700 * time.Millisecond})
	w := newWifi(t, l.server.Port())
	l.between = w
	l.dial(t, "")
	s := got(t, l.opened)
	w.refuse(func([]byte) bool { return true })
	got(t, s.done)
}

func TestInvalidOffersAreRefused(t *testing.T) {
	l := start(t, Timing{})
	for body, want := range map[string]string{
		"":                                     "m=audio",
		"m=audio":                              "no Opus",
		"m=audio\r\na=rtpmap:111 opus/48000/2": "not an offer",
		"v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\n": "no Opus",
		"v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\n" +
			"a=rtpmap:111 opus/48000/2\r\n": "not an offer",
	} {
		if code, said, _ := bring(t, http.MethodPost, l.http.URL+"/call/", sdpType, body); code != http.StatusTeapot ||
			!strings.Contains(said, want) {
			t.Errorf("%q: %d %s", body, code, said)
		}
	}
	if code, said, _ := bring(t, http.MethodPost, l.http.URL+"/call/", "text/plain",
		"v=0"); code != http.StatusTeapot || !strings.Contains(said, "application/sdp") {
		t.Errorf("a body of another type: %d %s", code, said)
	}
	if code, said, _ := bring(t, http.MethodPost, l.http.URL+"/call/?config_version=x", sdpType,
		"v=0\r\nm=audio"); code != http.StatusTeapot || !strings.Contains(said, "config_version") {
		t.Errorf("a wrong parameter: %d %s", code, said)
	}
}

// A call ends when its key is revoked.
func TestACallEndsWhenItsKeyIsRevoked(t *testing.T) {
	l := start(t, Timing{})
	key, revoke := context.WithCancel(t.Context())
	l.pass = pass{Context: key}
	c := l.dial(t, "")
	s := got(t, l.opened)
	revoke()
	if fault := got(t, s.faults); !strings.HasPrefix(fault, string(contract.KeyRevoked)) {
		t.Errorf("the fault is %q", fault)
	}
	s.end(contract.ClosePolicy, "key_revoked")
	if m := got(t, c.messages); !strings.Contains(m, `"code":1008`) {
		t.Errorf("the client got %s", m)
	}
}

// If a chat cannot start, the channel gets the error, and the slot is released.
func TestAChatThatCannotStartIsAnErrorOnTheChannel(t *testing.T) {
	l := start(t, Timing{})
	l.refuses = contract.Fault{Code: contract.VoiceNotFound, Detail: "no voice"}
	c := l.dial(t, "")
	if m := got(t, c.messages); !strings.Contains(m, string(contract.VoiceNotFound)) || !strings.Contains(m, "req-1") {
		t.Errorf("the client got %s", m)
	}
	if m := got(t, c.messages); !strings.Contains(m, "call_ended") {
		t.Errorf("the client got %s", m)
	}
}

// A client that makes an offer and never connects soon loses its slot.
func TestACallThatNobodyJoinsEnds(t *testing.T) {
	l := start(t, Timing{Connect: 50 * time.Millisecond})
	l.between = newWifi(t, l.server.Port())
	l.between.worsen(0, 0)
	_ = l.between.outer.Close() // the client cannot reach the box
	c := l.dial(t, "")
	deadline := time.Now().Add(30 * time.Second)
	for l.seats() > 0 || l.calls() > 0 { // the slot is released while the connection is still being closed
		if time.Now().After(deadline) {
			t.Fatalf("%d slots are in use, with %d calls", l.seats(), l.calls())
		}
		time.Sleep(10 * time.Millisecond)
	}
	if code, _, _ := bring(t, http.MethodDelete, c.at, "", ""); code != http.StatusTeapot {
		t.Errorf("the call is still there: %d", code)
	}
}

// A message that the call's key does not permit is answered with an error, and never
// reaches the session.
func TestForbiddenMessagesAreAnsweredWithAnError(t *testing.T) {
	l := start(t, Timing{})
	l.pass.permits = contract.CheckKioskMessage
	c := l.dial(t, "")
	s := got(t, l.opened)
	if err := s.Line.Send(t.Context(), contract.AssistantMessage{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	got(t, c.messages) // so that the channel is open
	for _, m := range []string{`{"type":"assistant_input","text":"I am a bank."}`,
		`{"type":"user_input","text":"still here"}`} {
		if err := c.words.SendText(m); err != nil {
			t.Fatal(err)
		}
	}
	if fault := got(t, s.faults); !strings.HasPrefix(fault, string(contract.NotPermitted)) {
		t.Errorf("the fault is %q", fault)
	}
	if m := got(t, s.got); m != (contract.UserInput{Text: "still here"}) {
		t.Errorf("the session got %+v", m)
	}
	s.end(contract.CloseNormal, "")
}
