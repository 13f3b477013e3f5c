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
		// reports have the middle 32 bits of NTP timestamps
		passed := uint32(NTP(now)>>16) - r.LastSenderReport - r.Delay
		took := time.Duration(passed) * time.Second / 65536
		if took <= maxRoundTrip {
			t.nanoseconds.Store(int64(took))
		}
	}
}

// NTP returns a time as an NTP timestamp: seconds since 1900, in units of 2^-32 s.
func NTP(t time.Time) uint64 {
	const sinceNTP = 2208988800 // seconds from 1900 to 1970
	return uint64(t.Unix()+sinceNTP)<<32 | uint64(t.Nanosecond())<<32/uint64(time.Second)
}

// Measured returns the newest round-trip time, 0 if none is known.
func (t *RoundTrip) Measured() time.Duration { return time.Duration(t.nanoseconds.Load()) }

// Delay returns the time from the sending of a packet until it is played.
func (t *RoundTrip) Delay() time.Duration { return t.Measured()/2 + playout }
