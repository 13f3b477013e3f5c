package webrtc

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/transport/v5/packetio"
	pion "github.com/pion/webrtc/v4"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

// raw is a track that sends packets unchanged, with any source and type.
type raw struct {
	id    string
	bound chan pion.TrackLocalContext
}

func newRaw(id string) *raw {
	return &raw{id: id, bound: make(chan pion.TrackLocalContext, 9)}
}

func (r *raw) Bind(c pion.TrackLocalContext) (pion.RTPCodecParameters, error) {
	r.bound <- c
	return c.CodecParameters()[0], nil
}
func (r *raw) Unbind(pion.TrackLocalContext) error { return nil }
func (r *raw) ID() string                          { return r.id }
func (r *raw) RID() string                         { return "" }
func (r *raw) StreamID() string                    { return "caller" }
func (r *raw) Kind() pion.RTPCodecType             { return pion.RTPCodecTypeAudio }

// A caller that sends from ever new sources, or reports on ever new sources, is
// disconnected early: the library stores state for each.
func TestAFloodOfSourcesEndsTheCall(t *testing.T) {
	for name, flood := range map[string]func(*caller, pion.TrackLocalContext, uint32) error{
		"voices": func(_ *caller, c pion.TrackLocalContext, source uint32) error {
			_, err := c.WriteStream().WriteRTP(&rtp.Header{Version: 2, PayloadType: opusType, SSRC: source},
				make([]byte, 1000))
			return err
		},
		"reports": func(c *caller, _ pion.TrackLocalContext, source uint32) error {
			return c.WriteRTCP([]rtcp.Packet{
				&rtcp.ReceiverReport{Reports: []rtcp.ReceptionReport{{SSRC: source}, {SSRC: ^source}}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := start(t, Timing{})
			track := newRaw("flood")
			c := l.dial(t, "", adds(track))
			s := got(t, l.opened)
			bound := got(t, track.bound)
			before := heap()
			for n := 0; !isOver(s.done); n++ {
				if n > 200_000 {
					t.Fatal("the call goes on after 200,000 sources")
				}
				if flood(c, bound, rand.Uint32()) != nil || n%50 == 0 { // not connected yet, or closed
					time.Sleep(time.Millisecond)
				}
			}
			got(t, s.done)
			if grown := heap() - before; grown > 16<<20 {
				t.Errorf("%d KiB more are in use", grown>>10)
			}
		})
	}
}

// isOver reports whether done is closed.
func isOver(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// adds lets a client add a track besides its voice.
func adds(track pion.TrackLocal) func(*caller) error {
	return func(c *caller) error {
		_, err := c.AddTrack(track)
		return err
	}
}

// A stream that is not read buffers a limited amount.
func TestAStreamBuffersALimitedAmount(t *testing.T) {
	streams := streams{excess: func(error) { t.Error("one stream is too many") }}
	s := streams.begin(packetio.RTPBufferPacket, 1)
	kept := 0
	for {
		_, err := s.Write(make([]byte, 1000))
		if errors.Is(err, packetio.ErrFull) {
			break
		}
		if kept++; err != nil || kept > streamBuffer/1000 {
			t.Fatalf("%d packets of 1,000 bytes: %v", kept, err)
		}
	}
	if n, err := s.Read(make([]byte, 1500)); n != 1000 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if n := streams.open.Load(); n != 0 {
		t.Errorf("%d streams are open", n)
	}
}

// isHeard speaks until the session hears a voice.
func (c *caller) isHeard(t *testing.T, s *talk) {
	t.Helper()
	e, err := audio.NewCallEncoder()
	if err != nil {
		t.Fatal(err)
	}
	said := vowel(time.Second)
	for n := 0; n < 1000; n++ {
		at := n * frameSamples % (len(said) - frameSamples)
		packet, err := e.Encode(said[at : at+frameSamples])
		if err != nil {
			t.Fatal(err)
		}
		p := rtp.Packet{Header: rtp.Header{Version: 2, SequenceNumber: uint16(n),
			Timestamp: uint32(n) * opusFormat.Ticks(audio.CallFrame)}, Payload: packet}
		if err := c.voice.WriteRTP(&p); err != nil {
			t.Fatal(err)
		}
		for len(s.heard) > 0 {
			if level(<-s.heard) > 0.1 {
				return
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("a voice of 20 s was not heard")
}

// A client that sends valid checks from ever new addresses is disconnected: the library
// stores a candidate for each.
func TestAFloodOfAddressesEndsTheCall(t *testing.T) {
	l := start(t, Timing{})
	w := newWifi(t, l.server.Port())
	l.between = w
	var mu sync.Mutex
	var check []byte // one that the client sent
	w.refuse(func(packet []byte) bool {
		mu.Lock()
		defer mu.Unlock()
		if len(packet) > 20 && packet[0] == 0 && packet[1] == 1 { // a binding request (RFC 8489, section 5)
			check = append([]byte(nil), packet...)
		}
		return false
	})
	c := l.dial(t, "")
	s := got(t, l.opened)
	if err := s.Line.Send(t.Context(), contract.AssistantMessage{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	got(t, c.messages)
	for n := 0; !isOver(s.done); n++ {
		if n > 20_000 {
			t.Fatal("the call goes on with 20,000 addresses")
		}
		mu.Lock()
		packet := check
		mu.Unlock()
		from, err := net.Dial("udp4", "127.0.0.1:"+l.server.Port())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = from.Write(packet)
		_ = from.Close()
		if n%50 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
}

// The offers of one call may not keep adding m-lines.
func TestOffersWithEverNewSectionsAreRefused(t *testing.T) {
	l := start(t, Timing{})
	c := l.dial(t, "")
	s := got(t, l.opened)
	refused := ""
	for n := 0; refused == ""; n++ {
		if n > 50 {
			t.Fatal("fifty offers with new m-lines were accepted")
		}
		offer := c.LocalDescription().SDP
		for m := range maxSections - 2 {
			offer += strings.Replace(section(offer, "audio"), "a=mid:0", fmt.Sprintf("a=mid:more-%d-%d", n, m), 1)
		}
		if code, said, _ := bring(t, http.MethodPatch, c.at, sdpType, offer); code != http.StatusOK {
			refused = said
		}
	}
	if !strings.HasPrefix(refused, "body: ") {
		t.Errorf("refused with %s", refused)
	}
	c.isHeard(t, s)
	s.end(contract.CloseNormal, "")
}

// A message longer than the receive buffer ends the call with that reason, because nothing
// after it could arrive.
func TestAMessageThatNeverEndsEndsTheCall(t *testing.T) {
	l := start(t, Timing{})
	l.answered = func(answer string) string {
		return strings.Replace(answer, fmt.Sprint("a=max-message-size:", maxMessage), "a=max-message-size:9000000",
			1)
	}
	c := l.dial(t, "")
	s := got(t, l.opened)
	if err := s.Line.Send(t.Context(), contract.AssistantMessage{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	got(t, c.messages)
	if err := c.words.SendText(`{"type":"user_input","text":"Hi"}`); err != nil {
		t.Fatal(err)
	}
	got(t, s.got)
	if err := c.words.SendText(strings.Repeat("a", 8<<20)); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	speaking := make(chan struct{})
	go func() { // like a client that is not muted
		defer close(speaking)
		c.say(gone)
	}()
	defer func() {
		close(gone)
		<-speaking
	}()
	if m := got(t, c.messages); !strings.Contains(m, `"code":1009`) || !strings.Contains(m, "262144 bytes") {
		t.Errorf("the client got %s", m)
	}
	got(t, s.done)
}

// say speaks until gone is closed or the connection is.
func (c *caller) say(gone <-chan struct{}) {
	for n := 0; ; n++ {
		// silence
		p := rtp.Packet{Header: rtp.Header{Version: 2, SequenceNumber: uint16(n),
			Timestamp: uint32(n) * opusFormat.Ticks(audio.CallFrame)}, Payload: []byte{0xf8, 0xff, 0xfe}}
		if errors.Is(c.voice.WriteRTP(&p), net.ErrClosed) {
			return
		}
		select {
		case <-gone:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// A series of messages of the maximum length does not end the call.
func TestManyLongMessagesArrive(t *testing.T) {
	l := start(t, Timing{})
	c := l.dial(t, "")
	s := got(t, l.opened)
	if err := s.Line.Send(t.Context(), contract.AssistantMessage{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	got(t, c.messages)
	gone, speaking := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(speaking)
		c.say(gone)
	}()
	long := `{"type":"user_input","text":"Hi"` + strings.Repeat(" ", maxMessage-100) + `}`
	for range 40 {
		if err := c.words.SendText(long); err != nil {
			t.Fatal(err)
		}
	}
	defer func() {
		close(gone)
		<-speaking
	}()
	for range 40 {
		if m := got(t, s.got); m != (contract.UserInput{Text: "Hi"}) {
			t.Errorf("the session got %+v", m)
		}
	}
	s.end(contract.CloseNormal, "")
}
