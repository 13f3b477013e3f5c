package media

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// lines joins the lines of a description as they go over the wire.
func lines(l ...string) string { return strings.Join(l, "\r\n") + "\r\n" }

// head is the beginning of a description.
const head = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"

const key128 = "inline:WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz"

// want is what an answer has and has not.
type want struct{ has, lacks []string }

func (w want) check(t *testing.T, text string) {
	t.Helper()
	for _, line := range w.has {
		if !strings.Contains(text, line+"\r\n") {
			t.Errorf("the answer has no line %q", line)
		}
	}
	for _, part := range w.lacks {
		if strings.Contains(text, part) {
			t.Errorf("the answer has %q", part)
		}
	}
	if t.Failed() {
		t.Logf("the answer is\n%s", text)
	}
}

func TestOffersOfTelephonesAreAnswered(t *testing.T) {
	for name, c := range map[string]struct {
		offer string
		want  want
	}{
		"static numbers without rtpmap": {
			head + lines("m=audio 4000 RTP/AVP 8 0 101", "a=rtpmap:101 telephone-event/8000"),
			want{[]string{"m=audio PORT RTP/AVP 8 101", "a=rtpmap:8 PCMA/8000", "a=rtpmap:101 telephone-event/8000",
				"a=fmtp:101 0-15", "a=ptime:20", "a=sendrecv"}, []string{"PCMU", "rtcp-mux"}},
		},
		"Opus with the events of its clock rate": {
			head + lines("m=audio 4000 RTP/AVP 96 0 97 98", "a=rtpmap:96 OPUS/48000/2",
				"a=rtpmap:97 telephone-event/48000", "a=rtpmap:98 telephone-event/8000", "a=rtcp-mux"),
			want{[]string{"m=audio PORT RTP/AVP 96 97", "a=rtpmap:96 opus/48000/2", "a=rtcp-mux"}, nil},
		},
		"the first codec that the box has": {
			head + lines("m=audio 4000 RTP/AVP 18 3 9 0 13", "a=rtpmap:18 G729/8000", "a=rtpmap:3 GSM/8000",
				"a=ptime:30", "a=sendonly"),
			want{[]string{"m=audio PORT RTP/AVP 9 13", "a=rtpmap:9 G722/8000", "a=rtpmap:13 CN/8000",
				"a=ptime:30", "a=recvonly"}, []string{"telephone-event"}},
		},
		"a fax, a camera and an unknown protocol besides": {
			head + lines("m=image 4010 udptl t38", "m=video 4002 RTP/AVP 99", "a=rtpmap:99 H264/90000",
				"m=audio 4004 XTP/YES 0", "m=audio 4000/2 RTP/AVPF 0", "a=recvonly"),
			want{[]string{"m=image 0 udptl t38", "m=video 0 RTP/AVP 99", "m=audio 0 XTP/YES 0",
				"m=audio PORT RTP/AVPF 0", "a=sendonly"}, []string{"H264"}},
		},
		"the encrypted one of two": {
			head + lines("m=audio 4000 RTP/AVP 0", "m=audio 4002 RTP/SAVP 0",
				"a=crypto:1 F8_128_HMAC_SHA1_80 "+key128, "a=crypto:2 AES_CM_128_HMAC_SHA1_32 "+key128+"|2^31|1:4"),
			want{[]string{"m=audio 0 RTP/AVP 0", "m=audio PORT RTP/SAVP 0"}, []string{"a=crypto:1"}},
		},
		"a suite under its older name": {
			head + lines("m=audio 4000 RTP/SAVP 0", "a=crypto:1 AES_CM_256_HMAC_SHA1_80 inline:"+
				"YUJDZGVmZ2hpSktsbW9QUXJzVHVWd3l6MTIzNDU2YUJDZGVmZ2hpSktsbW9QUQ=="),
			want{[]string{"m=audio PORT RTP/SAVP 0"}, nil},
		},
		"encryption where both can": {
			head + lines("m=audio 4000 RTP/AVP 0", "a=crypto:7 AES_CM_128_HMAC_SHA1_80 "+key128+" WSH=64"),
			want{[]string{"m=audio PORT RTP/AVP 0"}, nil},
		},
		"no encryption with parameters that the box cannot keep": {
			head + lines("m=audio 4000 RTP/AVP 0",
				"a=crypto:1 AES_CM_128_HMAC_SHA1_80 "+key128+" UNENCRYPTED_SRTP"),
			want{[]string{"m=audio PORT RTP/AVP 0"}, []string{"crypto"}},
		},
		"DTLS whose attributes are above the m-lines": {
			head + lines("a=setup:actpass", "a=fingerprint:sha-256 00:01", "m=audio 4000 UDP/TLS/RTP/SAVPF 0",
				"a=candidate:1 1 UDP 1 192.0.2.1 4000 typ host", "a=ice-ufrag:abcd"),
			want{[]string{"m=audio PORT UDP/TLS/RTP/SAVPF 0", "a=setup:active"}, []string{"candidate", "ice"}},
		},
		"bare newlines, names as numbers, unknown lines": {
			"v=0\no=me x y IN IP4 pbx.example\ns=\nb=HUH:1\nt=0 0\nz=?\n" +
				"m=audio 4000 RTP/AVP 0\nc=IN IP4 127.0.0.1\na=inactive\n",
			want{[]string{"m=audio PORT RTP/AVP 0", "a=inactive"}, nil},
		},
		"IPv6 and an old mistake": {
			"v=0\r\no=- 1 1 IN IP6 ::1\r\ns=-\r\nc=IN IP6 ::1\r\nt=0 0\r\n" +
				lines("m=audio 4000 RTP/AVP 9", "a=rtpmap:9 G722/16000"),
			want{[]string{"a=rtpmap:9 G722/8000"}, nil},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnd(t, options())
			answer, err := e.Answer([]byte(c.offer))
			if err != nil {
				t.Fatal(err)
			}
			port := fmt.Sprintf("m=audio %d ", e.sockets.port)
			if !strings.Contains(string(answer), port) {
				t.Errorf("the answer has no port %d:\n%s", e.sockets.port, answer)
			}
			c.want.check(t, strings.ReplaceAll(string(answer), port, "m=audio PORT "))
		})
	}
}

func TestOffersThatCannotBeTakenChangeNothing(t *testing.T) {
	e := newEnd(t, options())
	good := head + lines("m=audio 4000 RTP/AVP 0")
	if _, err := e.Answer([]byte(good)); err != nil {
		t.Fatal(err)
	}
	before := e.agreed.Load()
	for offer, wanted := range map[string]error{
		"":                                   ErrSDP,
		"v=1\r\nm=audio 1 RTP/AVP 0\r\n":     ErrSDP,
		head:                                 ErrSDP,
		head + "m=audio 70000 RTP/AVP 0\r\n": ErrSDP,
		head + "m=audio x\r\n":               ErrSDP,
		head + strings.Repeat("m=a 1 b c\r\n", 33):                                             ErrSDP,
		head + strings.Repeat("a=x\r\n", 20000):                                                ErrSDP,
		head + "m=audio 1 RTP/AVP" + strings.Repeat(" 0", 129) + "\r\n":                        ErrSDP,
		head + "m=audio 4000 RTP/AVP 18 999 -1\r\n":                                            ErrNoCodec,
		head + "m=audio 0 RTP/AVP 0\r\n":                                                       ErrNoCodec,
		head + "m=video 4000 RTP/AVP 0\r\n":                                                    ErrNoCodec,
		head + "m=image 4000 udptl t38\r\n":                                                    ErrNoCodec,
		head + "m=audio 4000 RTP/SAVP 0\r\n":                                                   ErrNoCodec,
		head + "m=audio 4000 UDP/TLS/RTP/SAVP 0\r\n":                                           ErrNoCodec,
		head + "m=audio 4000 RTP/SAVP 0\r\na=crypto:\r\n":                                      ErrNoCodec,
		head + "m=audio 4000 RTP/SAVP 0\r\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:AAAA\r\n": ErrNoCodec,
	} {
		if _, err := e.Answer([]byte(offer)); !errors.Is(err, wanted) {
			t.Errorf("%.80q: the error is %v, want %v", offer, err, wanted)
		}
	}
	if e.agreed.Load() != before {
		t.Error("the call has changed")
	}
}

// The version of the box's description rises when something in it changes, and only then.
func TestTheVersionTellsOfChanges(t *testing.T) {
	e := newEnd(t, options())
	version := func(offer string) string {
		t.Helper()
		answer, err := e.Answer([]byte(offer))
		if err != nil {
			t.Fatal(err)
		}
		_, o, _ := strings.Cut(string(answer), "o=parley ")
		return strings.Fields(o)[1]
	}
	first := version(head + "m=audio 4000 RTP/AVP 0\r\n")
	if again := version(head + "m=audio 4000 RTP/AVP 0\r\n"); again != first {
		t.Errorf("the version is %s after %s", again, first)
	}
	if other := version(head + "m=audio 4000 RTP/AVP 8\r\n"); other == first {
		t.Errorf("the version is %s for another codec too", other)
	}
}

// The far end chooses the length of the packets that it gets.
func TestPacketsHaveTheLengthThatIsAskedFor(t *testing.T) {
	for ptime, length := range map[string]time.Duration{"a=ptime:10": 10, "a=ptime:25": 20, "a=ptime:60": 60,
		"a=ptime:200": 60, "a=ptime:-1": 20, "a=x:1": 20} {
		far := newFar(t)
		e := newEnd(t, options())
		far.offer(t, e, "m=audio PORT RTP/AVP 0", ptime)
		var before uint32
		for n := range 4 {
			p := far.next(t)
			if want := int(length) * 8; len(p.Payload) != want || n > 0 && p.Timestamp-before != uint32(want) {
				t.Errorf("%s: a packet has %d bytes, and comes %d after the one before; want %d", ptime, len(p.Payload),
					p.Timestamp-before, want)
			}
			before = p.Timestamp
		}
	}
}

// The numbers of an offer during a call are all different, whichever the far end has taken.
func TestLaterOffersKeepNumbersApart(t *testing.T) {
	all := "m=audio 4000 RTP/AVP"
	var maps []string
	for n := 96; n < 128; n++ {
		all += fmt.Sprintf(" %d", n)
		maps = append(maps, fmt.Sprintf("a=rtpmap:%d opus/48000/2", n))
	}
	for _, l := range [][]string{
		{"m=audio 4000 RTP/AVP 0 111 110", "a=rtpmap:111 telephone-event/8000", "a=rtpmap:110 opus/48000/2"},
		{"m=audio 4000 RTP/AVP 101 0", "a=rtpmap:101 opus/48000/2"},
		append([]string{all}, maps...),
	} {
		e := newEnd(t, options())
		if _, err := e.Answer([]byte(head + lines(l...))); err != nil {
			t.Fatal(err)
		}
		offer, err := e.Offer()
		if err != nil {
			t.Fatal(err)
		}
		d, err := parse(offer)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, number := range d.sections[0].formats {
			if seen[number] || d.sections[0].formatName(number) == "" {
				t.Errorf("number %s comes twice or has no name in\n%s", number, offer)
			}
			seen[number] = true
		}
	}
}
