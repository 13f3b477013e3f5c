package media

import (
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/pion/rtcp"
	pionrtp "github.com/pion/rtp"

	"parley/appliance/contract"
	"parley/appliance/line/rtp"
)

// reportInterval is the mean time between reports (RFC 3550, section 6.2). It varies by half,
// so that those of many calls do not come together.
const reportInterval = 5 * time.Second

// reports is the state of the reports that are sent.
type reports struct {
	due       time.Time // of the next one
	packets   uint32    // sent so far
	octets    uint32    // of their payloads
	timestamp uint32    // of the newest packet
	at        time.Time // when it was sent
}

// restart begins the count for a new stream.
func (r *reports) restart() { *r = reports{due: r.due} }

// sent counts a packet.
func (r *reports) sent(octets int, timestamp uint32, now time.Time) {
	r.packets++
	r.octets += uint32(octets)
	r.timestamp, r.at = timestamp, now
}

// report sends a report when it is due. mu is held.
func (o *sender) report(at time.Time) {
	if at.Before(o.reports.due) {
		return
	}
	first := o.reports.due.IsZero()
	o.reports.due = at.Add(reportInterval/2 + rand.N(reportInterval))
	if !first {
		o.writeReports()
	}
}

// goodbye tells the far end that the stream ends (RFC 3550, section 6.6).
func (o *sender) goodbye() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.a != nil {
		o.writeReports(&rtcp.Goodbye{Sources: []uint32{o.ssrc}})
	}
}

// writeReports sends a report on what was sent and received, with more packets behind it.
func (o *sender) writeReports(more ...rtcp.Packet) {
	now := time.Now()
	received := o.s.in.report(o.format.ClockHz, now)
	var report rtcp.Packet = &rtcp.ReceiverReport{SSRC: o.ssrc, Reports: received}
	if r := o.reports; r.packets > 0 {
		report = &rtcp.SenderReport{
			SSRC:        o.ssrc,
			NTPTime:     rtp.NTP(now),
			RTPTime:     r.timestamp + o.format.Ticks(now.Sub(r.at)),
			PacketCount: r.packets,
			OctetCount:  r.octets,
			Reports:     received,
		}
	}
	name := rtcp.NewCNAMESourceDescription(o.ssrc, strconv.FormatUint(o.s.local.session, 36))
	packet, err := rtcp.Marshal(append([]rtcp.Packet{report, name}, more...))
	k, ready := o.a.crypto()
	to := o.s.target.Load()
	if err != nil || !ready || to == nil || to.rtcp.Addr().IsUnspecified() || to.rtcp.Port() == 0 {
		return
	}
	if k != nil {
		if packet, err = k.outReports.EncryptRTCP(nil, packet, nil); err != nil {
			return
		}
	}
	socket := o.s.sockets.rtcp
	if o.a.mux {
		socket = o.s.sockets.rtp
	}
	_, _ = socket.WriteToUDPAddrPort(packet, to.rtcp)
}

// runReports receives reports through their own port until the session ends.
func (r *receiver) runReports() {
	packet := make([]byte, maxReceived)
	for {
		n, from, err := r.s.sockets.rtcp.ReadFromUDPAddrPort(packet)
		switch {
		case err == nil && n < maxReceived:
			r.s.protect(func() { r.receiveReports(packet[:n], unmapped(from), time.Now()) })
		case errors.Is(err, net.ErrClosed):
			return
		}
	}
}

// receiveReports takes a packet of reports. Without encryption it has to come from the far
// end's address.
func (r *receiver) receiveReports(packet []byte, from netip.AddrPort, now time.Time) {
	r.reporting.Lock()
	defer r.reporting.Unlock()
	a, to := r.s.agreed.Load(), r.s.target.Load()
	if a == nil || to == nil || len(packet) < 8 || packet[0]>>6 != 2 {
		return
	}
	k, ready := a.crypto()
	if !ready || k == nil && from.Addr() != to.rtp.Addr() && from.Addr() != a.remote.rtcp.Addr() {
		return
	}
	if k != nil {
		var err error
		if packet, err = k.inReports.DecryptRTCP(nil, packet, nil); err != nil {
			return
		}
	}
	all, err := rtcp.Unmarshal(packet)
	if err != nil {
		return
	}
	r.s.note(now)
	r.s.retarget(func(t *targets) { t.rtcp = from })
	for _, p := range all {
		switch p := p.(type) {
		case *rtcp.SenderReport:
			r.noteSender(p, now)
			r.reported(p.Reports, now)
		case *rtcp.ReceiverReport:
			r.reported(p.Reports, now)
		}
	}
}

// reported takes the far end's reports on the box's stream.
func (r *receiver) reported(all []rtcp.ReceptionReport, now time.Time) {
	ours := all[:0]
	for _, one := range all {
		if one.SSRC == r.s.out.stream() {
			ours = append(ours, one)
		}
	}
	if len(ours) > 0 {
		r.s.round.Update(ours, now)
		r.lossy.Store(r.s.round.Lossy(ours))
	}
}

// stream returns the number of the stream that is sent.
func (o *sender) stream() uint32 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ssrc
}

// reception counts the packets that come (RFC 3550, appendix A.1, A.3 and A.8).
type reception struct {
	ssrc             uint32
	first, highest   uint32 // extended sequence numbers
	received         int
	earlier          struct{ received, lost int } // of streams before this one
	reportedLost     int                          // at the newest report
	reportedWanted   int
	timestamp        uint32 // of the newest packet of sound
	arrived          time.Time
	jitter           float64 // in seconds
	senderReport     uint32  // middle of the time in the far end's newest report
	senderReportCame time.Time
}

// maxJump is by how much sequence numbers may jump within a stream (RFC 3550, appendix A.1).
const maxJump = 3000

// note counts a packet; clockHz is 0 for one that is not sound.
func (r *receiver) note(p *pionrtp.Packet, clockHz int, begins bool, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &r.reception
	ahead := int16(p.SequenceNumber - uint16(c.highest))
	if begins || ahead > maxJump || ahead < -maxJump {
		*c = c.next(p)
	} else if ahead > 0 {
		c.highest += uint32(ahead)
	}
	c.received++
	if clockHz == 0 {
		return
	}
	if sent := int32(p.Timestamp - c.timestamp); !c.arrived.IsZero() && sent > 0 && int(sent) < clockHz {
		difference := now.Sub(c.arrived).Seconds() - float64(sent)/float64(clockHz)
		c.jitter += (max(difference, -difference) - c.jitter) / 16
	}
	c.timestamp, c.arrived = p.Timestamp, now
}

// next returns the count for a stream that begins with a packet.
func (c *reception) next(p *pionrtp.Packet) reception {
	n := reception{
		ssrc:    p.SSRC,
		first:   uint32(p.SequenceNumber),
		highest: uint32(p.SequenceNumber),
		jitter:  c.jitter,
	}
	n.earlier.received, n.earlier.lost = c.earlier.received+c.received, c.earlier.lost+c.lost()
	return n
}

// wanted returns how many packets the far end has sent of this stream.
func (c *reception) wanted() int {
	if c.received == 0 {
		return 0
	}
	return int(c.highest-c.first) + 1
}

// lost returns how many of them have not come. Duplicates count as those.
func (c *reception) lost() int { return max(0, c.wanted()-c.received) }

// stats returns the figures so far.
func (r *receiver) stats() contract.PhoneMedia {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &r.reception
	return contract.PhoneMedia{
		PacketsReceived: c.earlier.received + c.received,
		PacketsLost:     c.earlier.lost + c.lost(),
		JitterMS:        c.jitter * 1000,
	}
}

// noteSender records when the far end has sent a report, for the round-trip time.
func (r *receiver) noteSender(p *rtcp.SenderReport, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reception.senderReport, r.reception.senderReportCame = uint32(p.NTPTime>>16), now
}

// report returns the reports on the far end's stream, with a clock rate: one, or none before it
// begins.
func (r *receiver) report(clockHz int, now time.Time) []rtcp.ReceptionReport {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &r.reception
	if c.received == 0 {
		return nil
	}
	wanted, lost := c.wanted(), c.lost()
	report := rtcp.ReceptionReport{
		SSRC:               c.ssrc,
		TotalLost:          uint32(min(lost, 1<<23-1)),
		LastSequenceNumber: c.highest,
		Jitter:             uint32(c.jitter * float64(clockHz)),
	}
	if sent := wanted - c.reportedWanted; sent > 0 {
		report.FractionLost = uint8(min(255, max(0, lost-c.reportedLost)*256/sent))
	}
	c.reportedWanted, c.reportedLost = wanted, lost
	if !c.senderReportCame.IsZero() {
		report.LastSenderReport = c.senderReport
		report.Delay = uint32(now.Sub(c.senderReportCame) * 65536 / time.Second)
	}
	return []rtcp.ReceptionReport{report}
}
