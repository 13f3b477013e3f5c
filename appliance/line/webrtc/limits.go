package webrtc

import (
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/stun/v4"
	pion "github.com/pion/webrtc/v4"

	"parley/appliance/contract"
)

const (
	// maxSections is how many m-lines an offer may have. A call needs two, a
	// browser that offers its camera too has a few more; each is a transceiver
	// with buffers and goroutines of its own.
	maxSections = 8
	// maxCandidates is how many addresses a client may name in the whole of a
	// call. A machine with a dozen networks names three for each.
	maxCandidates = 100
	// maxTransceivers is how many of them a call may come to over all its offers:
	// the library makes those of later offers beside the earlier ones.
	maxTransceivers = 2 * maxSections
	// maxAddresses is from how many addresses a client may come in a call. A phone
	// on a train changes its own some fifty times an hour, by two ways each.
	maxAddresses = 500
	// maxChannels is how many data channels beside the one of the messages are
	// closed before the client is taken for one that means harm: each is a
	// goroutine with 64 KiB for its messages.
	maxChannels = 16
)

// checkOffer refuses, before anything is made of it, an offer that no client
// makes.
func checkOffer(offer string) error {
	if err := checkAudio(offer); err != nil {
		return err
	}
	if !strings.Contains(strings.ToLower(offer), " opus/48000") {
		return contract.ErrInvalid{Field: "body", Why: "the offer has no Opus, which is how voices go over a call: " +
			"expected a=rtpmap:<number> opus/48000/2 among the codecs of m=audio"}
	}
	if n := linesOf(offer, "m="); n > maxSections {
		return contract.ErrInvalid{Field: "body", Why: fmt.Sprintf("the offer has %d m-lines; at most %d are "+
			"allowed, and a call needs one of audio and one of a data channel", n, maxSections)}
	}
	return checkFingerprints(offer)
}

// checkAudio refuses an offer over which no voice could go protected.
func checkAudio(offer string) error {
	there := false
	for s := range mediaSections(offer) {
		if s.kind() != "audio" {
			continue
		}
		if there = true; s.open() && strings.HasPrefix(s.protocol(), "RTP/AVP") {
			return contract.ErrInvalid{Field: "body", Why: fmt.Sprintf("m=audio goes by %.40q, which protects "+
				"nothing: expected UDP/TLS/RTP/SAVPF, with a=fingerprint", s.protocol())}
		}
	}
	if !there {
		return contract.ErrInvalid{Field: "body",
			Why: "the offer has no audio: expected an SDP with an m=audio section, whose direction is sendrecv"}
	}
	return nil
}

// checkFirst refuses a first offer that wants no audio: there would be no call.
func checkFirst(offer string) error {
	for s := range mediaSections(offer) {
		if s.kind() == "audio" && s.open() {
			return nil
		}
	}
	return contract.ErrInvalid{Field: "body", Why: "the offer has m=audio with port 0, as of audio that the client " +
		"does not want: expected port 9, or that of a candidate"}
}

// checkFingerprints refuses an offer whose client could never come: the library
// takes any text for the hash of a certificate, and waits for one that has it.
func checkFingerprints(offer string) error {
	for line := range strings.Lines(offer) {
		if hash, ok := strings.CutPrefix(strings.TrimSpace(line), "a=fingerprint:"); ok && !isFingerprint(hash) {
			return contract.ErrInvalid{Field: "body", Why: fmt.Sprintf("a=fingerprint is %.120q, the hash of no "+
				"certificate: expected its name and all of its bytes, such as sha-256 and 32 of them as 0A:1B:2C",
				hash)}
		}
	}
	return nil
}

// isFingerprint tells whether a text is the hash of a certificate (RFC 8122, section
// 5). A hash that is known has as many bytes as it makes.
func isFingerprint(s string) bool {
	name, value, _ := strings.Cut(s, " ")
	sum, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(value), ":", ""))
	if wanted, known := map[string]int{"sha-1": 20, "sha-224": 28, "sha-256": 32, "sha-384": 48,
		"sha-512": 64}[strings.ToLower(name)]; known && len(sum) != wanted {
		return false
	}
	return err == nil && len(sum) > 0
}

// linesOf counts the lines that begin so.
func linesOf(sdp, with string) (n int) {
	for line := range strings.Lines(sdp) {
		if strings.HasPrefix(line, with) {
			n++
		}
	}
	return n
}

// bounds are how much of a client's the library may keep for a call.
type bounds struct {
	streams
	addresses map[address]bool // socket the goroutine that answers checks
}

// address is one that a client has come from.
type address struct {
	host string
	port int
}

func newBounds(excess func(error)) *bounds {
	return &bounds{streams: streams{excess: excess}, addresses: map[address]bool{}}
}

// check notes where a client comes from, which has shown that it is the one. It
// leaves the choice of a way to the library.
func (b *bounds) check(_ *stun.Message, _, from ice.Candidate, _ *ice.CandidatePair) (choose bool) {
	b.addresses[address{from.Address(), from.Port()}] = true
	if len(b.addresses) > maxAddresses {
		b.excess(errAddresses)
	}
	return false
}

// count notes the candidates of an offer that is to be taken. One that begins anew
// brings those of another network in the place of all before. c.offers is held.
func (c *Call) count(offer string) error {
	n := linesOf(offer, "a=candidate:")
	if ufrag(offer) == ufrag(c.remote) {
		n += c.candidates
	}
	if n > maxCandidates {
		return tooManyCandidates(n)
	}
	c.candidates = n
	return nil
}

// ufrag names the connection that a description is of.
func ufrag(sdp string) string {
	_, after, _ := strings.Cut(sdp, "a=ice-ufrag:")
	name, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(name)
}

func tooManyCandidates(n int) error {
	return contract.ErrInvalid{Field: "body",
		Why: fmt.Sprintf("the client has named %d candidates; a call has %d at most", n, maxCandidates)}
}

// addCandidates takes further addresses of the client.
func (c *Call) addCandidates(f fragment) error {
	c.offers.Lock()
	defer c.offers.Unlock()
	if n := c.candidates + len(f.candidates); n > maxCandidates {
		return tooManyCandidates(n)
	}
	for _, candidate := range f.candidates {
		mid := f.mid
		if err := c.pc.AddICECandidate(pion.ICECandidateInit{Candidate: candidate, SDPMid: &mid}); err != nil {
			return contract.ErrInvalid{Field: "body", Why: fmt.Sprintf("not a candidate: %.200s", err.Error())}
		}
		c.candidates++
	}
	return nil
}

const (
	// stallInterval is how often it is looked whether a message never ends.
	stallInterval = 2 * time.Second
	// stallChecks is how often in a row it has to look so: on a busy machine messages
	// that have come whole may wait to be taken for some seconds.
	stallChecks = 3
	// stallBuffer is how many bytes without a message are taken for one: more than the
	// longest that is allowed has around it, and less than the room that one without
	// an end fills, after which nothing more comes.
	stallBuffer = receiveBuffer - maxMessage
	// stallFlow is how many bytes between two looks are taken for none of a message:
	// acknowledgements of what the box sends.
	stallFlow = 16 << 10
)

// inflow is what has come on a client's channels. The library waits for the end of
// a message however long it gets, holds no more than receiveBuffer of it, and tells
// nobody: then no message comes through any more.
type inflow struct {
	received func() uint64 // bytes so far; not to be asked while the library waits for a message to be taken

	mu     sync.Mutex
	taking int  // messages that the session is being given: others wait behind them
	came   bool // a message, or the end of taking one, since the newest look
	looked time.Time
	seen   uint64 // received then
	base   uint64 // received at the look behind the newest message, and what was none since
	over   int    // looks in a row at which too much had come since
}

// message notes that one has come; taken is called when the session has it. It
// asks the library nothing: at its end a call waits for those who take messages,
// and holds what the number of bytes is asked under.
func (f *inflow) message() (taken func()) {
	f.note(1)
	return func() { f.note(-1) }
}

func (f *inflow) note(taking int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.taking += taking
	f.came = true
}

// stalls tells, now and then, whether what comes is one message that never ends.
func (f *inflow) stalls(now time.Time) bool {
	f.mu.Lock()
	due := now.Sub(f.looked) >= stallInterval
	f.mu.Unlock()
	if !due {
		return false
	}
	bytes := f.received() // not under the lock, which who takes a message wants
	f.mu.Lock()
	defer f.mu.Unlock()
	if grown := bytes - f.seen; f.came {
		f.base = bytes
	} else if grown < stallFlow {
		f.base += grown
	}
	f.came, f.looked, f.seen = false, now, bytes
	if f.taking > 0 || bytes <= f.base || bytes-f.base <= stallBuffer {
		f.over = 0
		return false
	}
	f.over++
	return f.over >= stallChecks
}

// endStalled ends a call of which no message comes through any more, as a socket
// checkETag ended by one that is too long.
func (c *Call) endStalled() {
	c.Close(contract.CloseTooBig, fmt.Sprintf("a message may have %d bytes", maxMessage))
	c.session.HangUp()
}

// takeChannel takes the client's channel of messages, and closes others.
func (c *Call) takeChannel(d *pion.DataChannel) {
	if d.Label() == channelLabel && c.channel.open(d) {
		return
	}
	if c.strangers.Add(1) > maxChannels {
		c.lifecycle.Drop(errChannels)
		return
	}
	_ = d.Close()
}
