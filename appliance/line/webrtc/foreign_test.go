package webrtc

import (
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

// Clients choose the length of packets. Losses are concealed at any length, and late
// packets are waited for.
func TestPacketsOfAnyLengthAreHeard(t *testing.T) {
	for _, length := range []time.Duration{10 * time.Millisecond, 20 * time.Millisecond, 40 * time.Millisecond,
		60 * time.Millisecond} {
		t.Run(length.String(), func(t *testing.T) {
			said, samples := vowel(3*time.Second), audio.Samples(length, audio.CallRateHz)
			e, err := audio.NewCallEncoder()
			if err != nil {
				t.Fatal(err)
			}
			h, err := newJitterBuffer()
			if err != nil {
				t.Fatal(err)
			}
			var ear []float32
			var late *rtp.Packet
			for n := range len(said) / samples {
				packet, err := e.Encode(said[n*samples : (n+1)*samples])
				if err != nil {
					t.Fatal(err)
				}
				p := &rtp.Packet{Header: rtp.Header{SequenceNumber: uint16(65500 + n), Timestamp: uint32(n * samples)},
					Payload: append([]byte(nil), packet...)}
				switch {
				case n%10 == 5: // is lost
				case n%10 == 8: // and this one arrives after the next
					late = p
				default:
					ear = append(ear, h.Push(p)...)
					if late != nil {
						ear, late = append(ear, h.Push(late)...), nil
					}
				}
			}
			ear = append(ear, h.Flush()...)
			if len(ear) < 3*engine.SpeechRateHz-2*audio.Samples(length, engine.SpeechRateHz) {
				t.Fatalf("of 3 s %d ms are heard", len(ear)/16)
			}
			ear = ear[1600 : len(ear)-1600]
			// a packet of 10 ms carries no redundant copy of the last
			if got, want := level(ear), level(said); got < want*0.6 || got > want*1.2 {
				t.Errorf("it is heard with a level of %.3f, want %.3f", got, want)
			}
			whole(t, "the user", ear, level(ear))
		})
	}
}

// A client with a camera, two microphones and a keypad is heard like any other: all but the
// first voice is refused or ignored.
func TestOtherTracksAndTypesAreIgnored(t *testing.T) {
	l := start(t, Timing{})
	keys := newRaw("keys")
	c := l.dial(t, "", func(c *caller) error {
		_, err := c.AddTransceiverFromKind(pion.RTPCodecTypeVideo,
			pion.RTPTransceiverInit{Direction: pion.RTPTransceiverDirectionRecvonly})
		return err
	}, adds(keys))
	s := got(t, l.opened)
	bound := got(t, keys.bound)
	for n := range 20 {
		if _, err := bound.WriteStream().WriteRTP(&rtp.Header{
			Version:        2,
			PayloadType:    126,
			SSRC:           uint32(bound.SSRC()),
			SequenceNumber: uint16(n),
		}, []byte{1, 10, 0, 160}); err != nil {
			t.Fatal(err)
		}
	}
	c.isHeard(t, s)
	s.end(contract.CloseNormal, "")
}

// Pressed keys, comfort noise and empty packets do not change the voice around them, also
// if they come first.
func TestPressedKeysAndComfortNoiseAreNotVoice(t *testing.T) {
	l := start(t, Timing{})
	voice := newRaw("voice")
	c := l.dial(t, "", func(c *caller) error { return c.GetSenders()[0].ReplaceTrack(voice) })
	s := got(t, l.opened)
	bound := got(t, voice.bound)
	e, err := audio.NewCallEncoder()
	if err != nil {
		t.Fatal(err)
	}
	said, sequence := vowel(2*time.Second), uint16(0)
	send := func(kind uint8, n int, payload []byte) {
		t.Helper()
		if _, err := bound.WriteStream().WriteRTP(&rtp.Header{
			Version:        2,
			PayloadType:    kind,
			SSRC:           uint32(bound.SSRC()),
			SequenceNumber: sequence,
			Timestamp:      uint32(n * frameSamples),
		}, payload); err != nil {
			t.Fatal(err)
		}
		sequence++
	}
	for n := range len(said) / frameSamples {
		packet, err := e.Encode(said[n*frameSamples : (n+1)*frameSamples])
		if err != nil {
			t.Fatal(err)
		}
		if n%7 == 0 {
			send(126, n, []byte{5, 10, 0, 160}) // RFC 4733
			send(13, n, []byte{40})             // RFC 3389
			send(opusType, n, nil)
			send(opusType, n, []byte{0xff}) // broken
		}
		send(opusType, n, packet)
		time.Sleep(2 * time.Millisecond)
	}
	voiced := 0
	for voiced < engine.SpeechRateHz*3/2 {
		if pcm := got(t, s.heard); level(pcm) > 0.05 {
			voiced += len(pcm)
		}
	}
	s.end(contract.CloseNormal, "")
	_ = c
}

// A client may replace its microphone by another.
func TestAReplacedTrackIsHeard(t *testing.T) {
	l := start(t, Timing{})
	c := l.dial(t, "")
	s := got(t, l.opened)
	c.isHeard(t, s)
	for n := range 3 {
		if err := c.RemoveTrack(c.GetSenders()[0]); err != nil {
			t.Fatal(err)
		}
		track, err := pion.NewTrackLocalStaticRTP(opus, fmt.Sprint("other", n), "caller")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.AddTrack(track); err != nil {
			t.Fatal(err)
		}
		answer, _ := c.offer(t, http.MethodPatch, c.at, nil)
		if err := c.SetRemoteDescription(pion.SessionDescription{Type: pion.SDPTypeAnswer, SDP: answer}); err != nil {
			t.Fatal(err)
		}
		for len(s.heard) > 0 {
			<-s.heard
		}
		c.voice = track
		c.isHeard(t, s)
	}
	s.end(contract.CloseNormal, "")
}

// A call belongs to its account: other accounts get 404.
func TestCallsOfOtherAccountsAreNotFound(t *testing.T) {
	l := start(t, Timing{})
	c := l.dial(t, "")
	s := got(t, l.opened)
	id := c.at[len(l.http.URL+"/call/"):]
	if err := l.server.HangUp("other", id); err == nil {
		t.Error("another's call was ended")
	}
	if err := l.server.Change(nil, nil, "other", id); err == nil {
		t.Error("another's call was changed")
	}
	c.isHeard(t, s)
	s.end(contract.CloseNormal, "")
}

// GStreamer's webrtcbin makes such offers by default: each m-line has its own connection.
// The voice gets one.
func TestAnOfferWithoutABundleGroupGetsAVoiceCall(t *testing.T) {
	l := start(t, Timing{})
	l.offered = func(offer string) string { return without(offer, bundle) }
	c := l.dial(t, "")
	sdp := c.RemoteDescription().SDP
	if !strings.Contains(sdp, "m=audio 9 ") || !strings.Contains(sdp, "m=application 0 ") ||
		strings.Contains(sdp, bundle) {
		t.Errorf("answered with %s", sdp)
	}
	s := got(t, l.opened)
	c.speak(t, vowel(time.Second), 0, func(int) bool { return false })
	for heard := 0; heard < 8000; {
		if pcm := got(t, s.heard); level(pcm) > 0.01 {
			heard += len(pcm)
		}
	}
	// Messages have no channel to the client, and do not wait for one.
	for range maxQueued/maxMessage + 5 {
		if err := s.Line.Send(t.Context(),
			contract.AssistantMessage{ID: strings.Repeat("a", maxMessage-1000)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Line.Play(t.Context(), contract.Sound{ID: "a", PCM: vowel(time.Second), Last: true}); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		got(t, c.packets)
	}
	s.end(contract.CloseNormal, "")
}

// reoffers sends a later offer with changes, and returns the direction of the voice in the
// answer.
func (c *caller) reoffers(t *testing.T, change func(offer string) string) (way string) {
	t.Helper()
	offer, err := c.CreateOffer(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetLocalDescription(offer); err != nil {
		t.Fatal(err)
	}
	code, answer, _ := bring(t, http.MethodPatch, c.at, sdpType, change(offer.SDP))
	if code != http.StatusOK {
		t.Fatalf("%d: %s", code, answer)
	}
	for s := range mediaSections(answer) {
		if s.takesVoice() || s.kind() == "audio" && way == "" {
			way = s.direction()
		}
	}
	// The test's client cannot hold a call itself, so its behaviour then is not tested.
	plain := withDirections(answer, func(s mediaSection) (string, string) { return s.direction(), sendrecv })
	if err := c.SetRemoteDescription(pion.SessionDescription{Type: pion.SDPTypeAnswer, SDP: plain}); err != nil {
		t.Fatal(err)
	}
	return way
}

// hears waits for the box's voice. On a busy machine a client that has just received an
// answer misses the first second: then the box speaks again.
func (c *caller) hears(t *testing.T, s *talk) {
	t.Helper()
	for len(c.packets) > 0 {
		<-c.packets
	}
	for came, tries := 0, 0; came < 20; tries++ {
		if tries == 20 {
			t.Fatal("of 20 seconds of voice not one was heard")
		}
		if err := s.Line.Play(t.Context(), contract.Sound{ID: "a", PCM: vowel(time.Second), Last: true}); err != nil {
			t.Fatal(err)
		}
		over := time.After(1500 * time.Millisecond)
	listening:
		for came = 0; came < 20; came++ {
			select {
			case <-c.packets:
			case <-over:
				break listening
			}
		}
	}
}

// A client that holds the call, its microphone or its loudspeaker talks and hears again
// when it resumes.
func TestAHeldCallCanBeResumed(t *testing.T) {
	for asked, want := range map[string]string{inactive: inactive, sendonly: recvonly, recvonly: sendonly} {
		t.Run(asked, func(t *testing.T) {
			l := start(t, Timing{})
			c := l.dial(t, "")
			s := got(t, l.opened)
			c.isHeard(t, s)
			for range 2 {
				held := func(offer string) string {
					return withDirections(offer, func(mediaSection) (string, string) { return sendrecv, asked })
				}
				if way := c.reoffers(t, held); way != want {
					t.Errorf("asked for %s the answer says %s, want %s", asked, way, want)
				}
				if way := c.reoffers(t, func(offer string) string { return offer }); way != sendrecv {
					t.Errorf("after the hold the answer says %s", way)
				}
				c.hears(t, s)
				c.isHeard(t, s)
			}
			s.end(contract.CloseNormal, "")
		})
	}
}

// A client that ends the m-line of its voice and adds another hears the box there.
func TestTheVoiceFollowsTheClientsSection(t *testing.T) {
	l := start(t, Timing{})
	c := l.dial(t, "")
	s := got(t, l.opened)
	c.hears(t, s)
	for n := range 3 {
		if err := c.GetTransceivers()[n].Stop(); err != nil {
			t.Fatal(err)
		}
		track, err := pion.NewTrackLocalStaticRTP(opus, fmt.Sprint("other", n), "caller")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.AddTransceiverFromTrack(track); err != nil {
			t.Fatal(err)
		}
		ended := c.GetTransceivers()[n].Mid()
		c.reoffers(t, func(offer string) string {
			s, _ := sectionByMid(offer, ended)
			return strings.Replace(offer, string(s), strings.Replace(string(s), "audio 9", "audio 0", 1), 1)
		})
		c.voice = track
		c.hears(t, s)
		c.isHeard(t, s)
	}
	s.end(contract.CloseNormal, "")
}
