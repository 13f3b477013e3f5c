package media

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pion/rtcp"
)

// reportNow makes an end send its next report at once.
func reportNow(e *end) {
	e.out.mu.Lock()
	defer e.out.mu.Unlock()
	e.out.reports.due = time.Now()
}

// nextReports returns the packets of the next reports that come to a socket.
func nextReports(t *testing.T, socket *net.UDPConn) []rtcp.Packet {
	t.Helper()
	buffer := make([]byte, 2048)
	_ = socket.SetReadDeadline(time.Now().Add(5 * time.Second))
	for {
		n, _, err := socket.ReadFromUDPAddrPort(buffer)
		if err != nil {
			t.Fatalf("no reports: %v", err)
		}
		if buffer[1] < 192 {
			continue // sound, with rtcp-mux
		}
		all, err := rtcp.Unmarshal(buffer[:n])
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
}

// The box reports what it has sent and what has arrived, and learns the round-trip time from the
// reports of the far end; through a port of their own or that of the sound.
func TestReportsGoBothWays(t *testing.T) {
	t.Parallel()
	for _, mux := range []bool{false, true} {
		f, e := newFar(t), newEnd(t, options())
		own, err := net.ListenUDP("udp4", &net.UDPAddr{IP: loopback.AsSlice()})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = own.Close() }()
		socket, to := own, netip.AddrPortFrom(loopback, e.sockets.port+1)
		extra := "a=rtcp:" + strconv.Itoa(own.LocalAddr().(*net.UDPAddr).Port)
		if mux {
			socket, extra, to = f.socket, "a=rtcp-mux", netip.AddrPortFrom(loopback, e.sockets.port)
		}
		answer := f.offer(t, e, "m=audio PORT RTP/AVP 0", extra)
		if got := strings.Contains(answer, "a=rtcp-mux"); got != mux {
			t.Errorf("rtcp-mux is %v in the answer", got)
		}
		first := f.next(t)
		for n := range 20 { // four of them are lost
			if n%5 == 3 {
				f.sequence++
				f.timestamp += 160
			} else {
				f.send(t, 0, loud())
			}
		}
		e.until(t, "the packets", func() bool { return e.Stats().PacketsReceived == 16 })
		reportNow(e)
		all := nextReports(t, socket)
		sr, ok := all[0].(*rtcp.SenderReport)
		if !ok || sr.SSRC != first.SSRC || sr.PacketCount == 0 || sr.OctetCount != sr.PacketCount*160 {
			t.Fatalf("the report is %v", all[0])
		}
		if r := sr.Reports[0]; r.SSRC != f.ssrc || r.TotalLost != 4 || r.FractionLost < 45 || r.FractionLost > 55 {
			t.Errorf("of 20 packets, of which 4 are lost, it says %+v", r)
		}
		if d, ok := all[1].(*rtcp.SourceDescription); !ok || d.Chunks[0].Source != first.SSRC {
			t.Errorf("behind it comes %v", all[1])
		}
		time.Sleep(30 * time.Millisecond)
		packet, err := rtcp.Marshal([]rtcp.Packet{&rtcp.ReceiverReport{SSRC: f.ssrc, Reports: []rtcp.ReceptionReport{{
			SSRC:             first.SSRC,
			FractionLost:     30,
			LastSenderReport: uint32(sr.NTPTime >> 16),
		}}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := socket.WriteToUDPAddrPort(packet, to); err != nil {
			t.Fatal(err)
		}
		e.until(t, "the round-trip time", func() bool { return e.Stats().RoundTripMS > 0 })
		if ms := e.Stats().RoundTripMS; ms < 30 || ms > 500 {
			t.Errorf("the round-trip time is %.1f ms", ms)
		}
		if !e.in.lossy.Load() {
			t.Error("a loss of an eighth does not count")
		}
		e.Close()
		all = nextReports(t, socket)
		if _, ok := all[len(all)-1].(*rtcp.Goodbye); !ok {
			t.Errorf("the call ends with %v", all)
		}
	}
}

// Reports of strangers count for nothing.
func TestReportsOfStrangersAreIgnored(t *testing.T) {
	f, e := newFar(t), newEnd(t, options())
	f.offer(t, e, "m=audio PORT RTP/AVP 0")
	stranger := netip.MustParseAddrPort("198.51.100.1:5000")
	packet, err := rtcp.Marshal([]rtcp.Packet{&rtcp.ReceiverReport{SSRC: 1}})
	if err != nil {
		t.Fatal(err)
	}
	before := *e.target.Load()
	heard := e.Session.heard.Load()
	e.in.receiveReports(packet, stranger, time.Now())
	if *e.target.Load() != before || e.Session.heard.Load() != heard {
		t.Error("a stranger's report counts")
	}
}
