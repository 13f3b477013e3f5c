package webrtc

import (
	"sync/atomic"
	"time"

	"github.com/pion/rtcp"
)

// roundTrip is how what is sent comes to the client.
type roundTrip struct {
	nanoseconds  atomic.Int64 // there and back
	lossyReports int          // reports that are still to come without a loss, of who reads them
}

// maxRoundTrip bounds what is believed of a client: nobody talks over more.
const maxRoundTrip = 2 * time.Second

const (
	// lossThreshold is the share of its packets that a client may miss, of 256, for the
	// codec's own making up to do: a twentieth of them is heard.
	lossThreshold = 5
	// lossyReportCount is for how many reports a network that has lost so much counts as one
	// that does: half a minute of browsers', which send one each five seconds.
	lossyReportCount = 6
)

// lossy tells whether packets are lost on the way, by the newest reports and those
// before.
func (t *roundTrip) lossy(reports []rtcp.ReceptionReport) bool {
	t.lossyReports = max(0, t.lossyReports-1)
	for _, r := range reports {
		if r.FractionLost >= lossThreshold {
			t.lossyReports = lossyReportCount
		}
	}
	return t.lossyReports > 0
}

// push reads the reports of a client: the time since the sender's report that
// they answer, less that for which the client kept it (RFC 3550, section 6.4.1).
func (t *roundTrip) update(reports []rtcp.ReceptionReport, now time.Time) {
	for _, r := range reports {
		if r.LastSenderReport == 0 {
			continue // it has not seen one
		}
		passed := ntpMiddle(now) - r.LastSenderReport - r.Delay
		took := time.Duration(passed) * time.Second / 65536
		if took <= maxRoundTrip {
			t.nanoseconds.Store(int64(took))
		}
	}
}

// ntpMiddle is a moment as reports have it: the middle 32 bits of an NTP timestamp,
// in 1/65536 s.
func ntpMiddle(t time.Time) uint32 {
	const sinceNTP = 2208988800 // seconds from 1900 to 1970
	seconds := uint64(t.Unix()) + sinceNTP
	fraction := uint64(t.Nanosecond()) << 16 / uint64(time.Second)
	return uint32(seconds<<16 | fraction)
}

// delay is how long it takes from a packet's sending until it is heard.
func (t *roundTrip) delay() time.Duration { return time.Duration(t.nanoseconds.Load())/2 + playout }
