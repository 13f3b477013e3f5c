package rtp

import (
	"sync/atomic"
	"time"

	"github.com/pion/rtcp"
)

// RoundTrip measures the connection to the client.
type RoundTrip struct {
	nanoseconds  atomic.Int64 // round-trip time
	lossyReports int          // until the connection counts as lossless
}

const (
	// maxRoundTrip bounds the round-trip times that are believed.
	maxRoundTrip = 2 * time.Second
	// playout is the size of clients' jitter buffers: browsers hold 40 to 80 ms on a quiet
	// network.
	playout = 60 * time.Millisecond
	// lossThreshold is the packet loss, of 256, up to which the codec's concealment is
	// enough. A loss of a twentieth is audible.
	lossThreshold = 5
	// lossyReportCount is for how many reports a connection counts as lossy after a loss:
	// half a minute with browsers, which send a report every five seconds.
	lossyReportCount = 6
)

// Lossy reports whether packets are lost, by the new reports and the earlier ones.
func (t *RoundTrip) Lossy(reports []rtcp.ReceptionReport) bool {
	t.lossyReports = max(0, t.lossyReports-1)
	for _, r := range reports {
		if r.FractionLost >= lossThreshold {
			t.lossyReports = lossyReportCount
		}
	}
	return t.lossyReports > 0
}

// Update computes the round-trip time from the client's reports: the time since the sender
// report that they answer, less the client's delay (RFC 3550, section 6.4.1).
func (t *RoundTrip) Update(reports []rtcp.ReceptionReport, now time.Time) {
	for _, r := range reports {
		if r.LastSenderReport == 0 {
			continue // the client has not seen a sender report
		}
		passed := ntpMiddle(now) - r.LastSenderReport - r.Delay
		took := time.Duration(passed) * time.Second / 65536
		if took <= maxRoundTrip {
			t.nanoseconds.Store(int64(took))
		}
	}
}

// ntpMiddle returns a time in the format of reports: the middle 32 bits of an NTP
// timestamp, in 1/65536 s.
func ntpMiddle(t time.Time) uint32 {
	const sinceNTP = 2208988800 // seconds from 1900 to 1970
	seconds := uint64(t.Unix()) + sinceNTP
	fraction := uint64(t.Nanosecond()) << 16 / uint64(time.Second)
	return uint32(seconds<<16 | fraction)
}

// Delay returns the time from the sending of a packet until it is played.
func (t *RoundTrip) Delay() time.Duration { return time.Duration(t.nanoseconds.Load())/2 + playout }
