package webrtc

import (
	"sync/atomic"
	"time"

	"github.com/pion/rtcp"
)

// trip is how what is sent comes to the client.
type trip struct {
	nanoseconds atomic.Int64 // there and back
	wary        int          // reports that are still to come without a loss, of who reads them
}

// mostTrip bounds what is believed of a client: nobody talks over more.
const mostTrip = 2 * time.Second

const (
	// muchLost is the share of its packets that a client may miss, of 256, for the
	// codec's own making up to do: a twentieth of them is heard.
	muchLost = 5
	// waryFor is for how many reports a network that has lost so much counts as one
	// that does: half a minute of browsers', which send one each five seconds.
	waryFor = 6
)

// loses tells whether packets are lost on the way, by the newest reports and those
// before.
func (t *trip) loses(reports []rtcp.ReceptionReport) bool {
	t.wary = max(0, t.wary-1)
	for _, r := range reports {
		if r.FractionLost >= muchLost {
			t.wary = waryFor
		}
	}
	return t.wary > 0
}

// take reads the reports of a client: the time since the sender's report that
// they answer, less that for which the client kept it (RFC 3550, section 6.4.1).
func (t *trip) take(reports []rtcp.ReceptionReport, now time.Time) {
	for _, r := range reports {
		if r.LastSenderReport == 0 {
			continue // it has not seen one
		}
		passed := middle(now) - r.LastSenderReport - r.Delay
		took := time.Duration(passed) * time.Second / 65536
		if took <= mostTrip {
			t.nanoseconds.Store(int64(took))
		}
	}
}

// middle is a moment as reports have it: the middle 32 bits of an NTP timestamp,
// in 1/65536 s.
func middle(t time.Time) uint32 {
	const sinceNTP = 2208988800 // seconds from 1900 to 1970
	seconds := uint64(t.Unix()) + sinceNTP
	fraction := uint64(t.Nanosecond()) << 16 / uint64(time.Second)
	return uint32(seconds<<16 | fraction)
}

// delay is how long it takes from a packet's sending until it is heard.
func (t *trip) delay() time.Duration { return time.Duration(t.nanoseconds.Load())/2 + playout }
