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
	// maxSections bounds the m-lines of an offer. A call needs two, and a browser that also
	// offers its camera has a few more. Each one is a transceiver with its own buffers and
	// goroutines.
	maxSections = 8
	// maxCandidates bounds the addresses that a client may name during a call. A machine
	// with a dozen networks names three for each.
	maxCandidates = 100
	// maxTransceivers bounds the transceivers of a call over all its offers: the library
	// adds those of later offers to the earlier ones.
	maxTransceivers = 2 * maxSections
	// maxAddresses bounds the addresses from which a client may send during a call. A phone
	// on a train changes its address about fifty times an hour, by two routes each.
	maxAddresses = 500
	// maxChannels is the number of extra data channels that are closed before the call is
	// ended: each is a goroutine with 64 KiB of buffers.
	maxChannels = 16
)

// checkOffer refuses an offer that no real client makes, before it is processed.
func checkOffer(offer string) error {
	if err := checkAudio(offer); err != nil {
		return err
	}
	if !strings.Contains(strings.ToLower(offer), " opus/48000") {
		return contract.ErrInvalid{Field: "body", Why: "the offer has no Opus, the codec of calls: " +
			"expected a=rtpmap:<number> opus/48000/2 among the codecs of m=audio"}
	}
	if n := linesOf(offer, "m="); n > maxSections {
		return contract.ErrInvalid{Field: "body", Why: fmt.Sprintf("the offer has %d m-lines; at most %d are "+
			"allowed, and a call needs one of audio and one of a data channel", n, maxSections)}
	}
	return checkFingerprints(offer)
}

// checkAudio refuses an offer without encrypted audio.
func checkAudio(offer string) error {
	there := false
	for s := range mediaSections(offer) {
		if s.kind() != "audio" {
			continue
		}
		if there = true; s.open() && strings.HasPrefix(s.protocol(), "RTP/AVP") {
			return contract.ErrInvalid{Field: "body", Why: fmt.Sprintf("m=audio uses %.40q, which is not "+
				"encrypted: expected UDP/TLS/RTP/SAVPF, with a=fingerprint", s.protocol())}
		}
	}
	if !there {
		return contract.ErrInvalid{Field: "body",
			Why: "the offer has no audio: expected an SDP with an m=audio section, whose direction is sendrecv"}
	}
	return nil
}

// checkFirst refuses a first offer without audio.
func checkFirst(offer string) error {
	for s := range mediaSections(offer) {
		if s.kind() == "audio" && s.open() {
			return nil
		}
	}
	return contract.ErrInvalid{Field: "body", Why: "the offer has m=audio with port 0, which rejects audio: " +
		"expected port 9, or that of a candidate"}
}

// checkFingerprints refuses an offer with an invalid certificate hash. The library accepts
// any text, and then waits for a certificate that matches.
func checkFingerprints(offer string) error {
	for line := range strings.Lines(offer) {
		if hash, ok := strings.CutPrefix(strings.TrimSpace(line), "a=fingerprint:"); ok && !isFingerprint(hash) {
			return contract.ErrInvalid{Field: "body", Why: fmt.Sprintf("a=fingerprint is %.120q, which is not the "+
				"hash of a certificate: expected its name and all its bytes, such as sha-256 and 32 bytes as 0A:1B:2C",
				hash)}
		}
	}
	return nil
}

// isFingerprint reports whether a text is the hash of a certificate (RFC 8122, section 5).
// The length is checked for known hashes.
func isFingerprint(s string) bool {
	name, value, _ := strings.Cut(s, " ")
	sum, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(value), ":", ""))
	if wanted, known := map[string]int{"sha-1": 20, "sha-224": 28, "sha-256": 32, "sha-384": 48,
		"sha-512": 64}[strings.ToLower(name)]; known && len(sum) != wanted {
		return false
	}
	return err == nil && len(sum) > 0
}

// linesOf counts the lines that begin with a text.
func linesOf(sdp, with string) (n int) {
	for line := range strings.Lines(sdp) {
		if strings.HasPrefix(line, with) {
			n++
		}
	}
	return n
}

// bounds limits what the library stores for a call.
type bounds struct {
	streams
	addresses map[address]bool // used by the goroutine that answers connectivity checks
}

// address is an address from which a client has sent.
type address struct {
	host string
	port int
}

func newBounds(excess func(error)) *bounds {
	return &bounds{streams: streams{excess: excess}, addresses: map[address]bool{}}
}

// check counts the addresses of an authenticated client. The library chooses the route.
func (b *bounds) check(_ *stun.Message, _, from ice.Candidate, _ *ice.CandidatePair) (choose bool) {
	b.addresses[address{from.Address(), from.Port()}] = true
	if len(b.addresses) > maxAddresses {
		b.excess(errAddresses)
	}
	return false
}

// count counts the candidates of an offer. An offer that restarts ICE replaces all earlier
// ones. c.offers is held.
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

// ufrag returns the ICE user name fragment of a description, which identifies the
// connection.
func ufrag(sdp string) string {
	_, after, _ := strings.Cut(sdp, "a=ice-ufrag:")
	name, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(name)
}

func tooManyCandidates(n int) error {
	return contract.ErrInvalid{Field: "body",
		Why: fmt.Sprintf("too many candidates (%d): at most %d are allowed in a call", n, maxCandidates)}
}

// addCandidates adds addresses of the client.
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
	// stallInterval is the interval of the checks for a message that never ends.
	stallInterval = 2 * time.Second
	// stallChecks is how many checks in a row must fail. On a busy machine complete
	// messages may wait for some seconds.
	stallChecks = 3
	// stallBuffer is how many bytes without a complete message count as an endless one:
	// more than the longest allowed message needs, and less than the buffer that an endless
	// one fills, after which nothing more comes.
	stallBuffer = receiveBuffer - maxMessage
	// stallFlow is how many bytes between two checks do not count as part of a message:
	// acknowledgements of what the box sends.
	stallFlow = 16 << 10
)

// inflow monitors the client's data channels. The library waits for the end of a message of
// any length, buffers at most receiveBuffer of it, and reports nothing; after that no
// message comes through.
type inflow struct {
	received func() uint64 // bytes so far; must not be called while the library waits for a message handler

	mu       sync.Mutex
	handling int  // messages in handlers; others wait behind them
	progress bool // a message came or a handler ended since the last check
	checked  time.Time
	seen     uint64 // received at the last check
	base     uint64 // received after the newest message, without stallFlow
	over     int    // number of failed checks in a row
}

// message records a message; taken is called when its handler has ended. It does not call
// the library: a closing call waits for the handlers while it holds the lock that received
// needs.
func (f *inflow) message() (taken func()) {
	f.note(1)
	return func() { f.note(-1) }
}

func (f *inflow) note(taking int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handling += taking
	f.progress = true
}

// stalls reports, at intervals, whether the client is sending a message that never ends.
func (f *inflow) stalls(now time.Time) bool {
	f.mu.Lock()
	due := now.Sub(f.checked) >= stallInterval
	f.mu.Unlock()
	if !due {
		return false
	}
	bytes := f.received() // without the lock, which message handlers need
	f.mu.Lock()
	defer f.mu.Unlock()
	if grown := bytes - f.seen; f.progress {
		f.base = bytes
	} else if grown < stallFlow {
		f.base += grown
	}
	f.progress, f.checked, f.seen = false, now, bytes
	if f.handling > 0 || bytes <= f.base || bytes-f.base <= stallBuffer {
		f.over = 0
		return false
	}
	f.over++
	return f.over >= stallChecks
}

// endStalled ends a call when a message does not end, as a WebSocket ends at a message that
// is too long.
func (c *Call) endStalled() {
	c.Close(contract.CloseTooBig, fmt.Sprintf("a message may have at most %d bytes", maxMessage))
	c.session.HangUp()
}

// takeChannel takes the client's channel for messages, and closes others.
func (c *Call) takeChannel(d *pion.DataChannel) {
	if d.Label() == channelLabel && c.channel.open(d) {
		return
	}
	if c.extraChannels.Add(1) > maxChannels {
		c.lifecycle.Drop(errChannels)
		return
	}
	_ = d.Close()
}
