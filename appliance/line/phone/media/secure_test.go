package media

import (
	"strings"
	"testing"
	"time"

	"parley/appliance/engine"
)

// speaks checks that both sides of a call hear each other, encrypted or not.
func speaks(t *testing.T, a, b *end, encrypted bool) {
	t.Helper()
	time.Sleep(60 * time.Millisecond) // of a new stream the first packet is not heard
	before := map[*end]int{a: len(a.heard()), b: len(b.heard())}
	say(t, a, "a", 300*time.Millisecond)
	say(t, b, "b", 300*time.Millisecond)
	for _, e := range []*end{a, b} {
		e.until(t, "the voice", func() bool {
			return len(voiced(e.heard()[before[e]:])) > engine.SpeechRateHz*27/100
		})
		if s := e.Stats(); s.Encrypted != encrypted {
			t.Errorf("the figures are %+v", s)
		}
	}
	time.Sleep(50 * time.Millisecond)
}

func secure() Options {
	o := options()
	o.Secure = true
	return o
}

// drop removes the lines of an offer that have a text.
func drop(offer, text string) string {
	var kept strings.Builder
	for line := range strings.Lines(offer) {
		if !strings.Contains(line, text) {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

func same(offer string) string { return offer }

func TestKeysInTheDescriptionsEncryptTheCall(t *testing.T) {
	for _, s := range suites() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			a, b := newEnd(t, secure()), newEnd(t, options())
			connect(t, a, b, func(offer string) string { // with this suite alone
				crypto := "a=crypto:" + writeCrypto("9", s, a.local.master(s))
				return drop(offer, "a=crypto:") + crypto + "\r\n"
			})
			if a.agreed.Load().keys.suite != s {
				t.Errorf("the suite is %s", a.agreed.Load().keys.suite.name)
			}
			speaks(t, a, b, true)
		})
	}
}

// An encrypted call drops packets without encryption.
func TestAnEncryptedCallTakesNoOtherPackets(t *testing.T) {
	f, e := newFar(t), newEnd(t, options())
	f.offer(t, e, "m=audio PORT RTP/SAVP 0", "a=crypto:1 AES_CM_128_HMAC_SHA1_80 "+key128)
	for range 10 {
		f.send(t, 0, loud())
	}
	time.Sleep(200 * time.Millisecond)
	if got := e.Stats(); got.PacketsReceived != 0 || len(voiced(e.heard())) > 0 {
		t.Errorf("of packets without encryption the figures are %+v", got)
	}
}

// A description that comes again keeps the keys and their counts; one with another key begins
// anew, both ways.
func TestNewKeysDuringACall(t *testing.T) {
	t.Parallel()
	a, b := newEnd(t, secure()), newEnd(t, options())
	connect(t, a, b, same)
	speaks(t, a, b, true)
	before, stream := b.agreed.Load().keys, b.out.stream()
	connect(t, a, b, same)
	if b.agreed.Load().keys != before || b.out.stream() != stream {
		t.Error("the same description begins new streams")
	}
	speaks(t, a, b, true)
	a.local.masters = map[string][]byte{} // as if another telephone took over
	connect(t, a, b, same)
	if b.agreed.Load().keys == before || b.out.stream() == stream {
		t.Error("another key begins no new streams")
	}
	speaks(t, a, b, true)
}

// An answer without keys to an offer with keys is refused.
func TestEncryptionIsNotTakenBack(t *testing.T) {
	a, b := newEnd(t, secure()), newEnd(t, options())
	offer, err := a.Offer()
	if err != nil {
		t.Fatal(err)
	}
	answer, err := b.Answer([]byte(strings.ReplaceAll(drop(string(offer), "a=crypto"), "RTP/SAVP", "RTP/AVP")))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Accept(answer); err == nil {
		t.Error("the call goes on without encryption")
	}
}

// offerDTLS makes an end offer DTLS, which it does by itself only during such a call.
func offerDTLS(t *testing.T, a *end, setup string) func(string) string {
	return func(offer string) string {
		t.Helper()
		attributes, err := a.local.dtlsLines(setup)
		if err != nil {
			t.Fatal(err)
		}
		a.local.layout = []section{{kind: "audio", protocol: "UDP/TLS/RTP/SAVP"}}
		a.agreed.Store(&agreement{security: byDTLS})
		return strings.ReplaceAll(offer, "RTP/AVP", "UDP/TLS/RTP/SAVP") +
			"a=rtcp-mux\r\na=" + strings.Join(attributes, "\r\na=") + "\r\n"
	}
}

func TestAHandshakeEncryptsTheCall(t *testing.T) {
	for _, setup := range []string{"actpass", "active", "passive"} {
		t.Run(setup, func(t *testing.T) {
			t.Parallel()
			a, b := newEnd(t, options()), newEnd(t, options())
			connect(t, a, b, offerDTLS(t, a, setup))
			speaks(t, a, b, true)
			association := b.agreed.Load().association
			connect(t, b, a, same) // a later offer of the other side keeps the keys
			if b.agreed.Load().association != association {
				t.Error("a later offer begins another handshake")
			}
			speaks(t, a, b, true)
		})
	}
}

// Nobody else's certificate is accepted.
func TestAHandshakeWithSomebodyElseGivesNoKeys(t *testing.T) {
	a, b := newEnd(t, options()), newEnd(t, options())
	change := offerDTLS(t, a, "actpass")
	connect(t, a, b, func(offer string) string {
		offer = change(offer)
		at := strings.Index(offer, "sha-256 ") + len("sha-256 ")
		return offer[:at] + strings.Repeat("00:", 31) + "00" + offer[at+95:]
	})
	time.Sleep(500 * time.Millisecond)
	if _, ready := b.agreed.Load().crypto(); ready {
		t.Error("there are keys")
	}
}

// During a call the other side can be replaced: by one at another address, with another codec
// and other keys. Until it has answered, the one before is heard.
func TestAnotherFarEndTakesOver(t *testing.T) {
	t.Parallel()
	for _, encrypted := range []bool{false, true} {
		o := options()
		o.Secure = encrypted
		a, first, second := newEnd(t, o), newEnd(t, options()), newEnd(t, options())
		connect(t, a, first, same)
		speaks(t, a, first, encrypted)
		if _, err := a.Offer(); err != nil { // nobody answers it
			t.Fatal(err)
		}
		speaks(t, a, first, encrypted)
		connect(t, a, second, only("PCMA"))
		speaks(t, a, second, encrypted)
		first.Close()
		speaks(t, a, second, encrypted)
	}
}
