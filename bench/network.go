package bench

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// badNetwork lies between a caller and the switchboard, loses some of the media both
// ways, and has the rest come late and out of order. What sets the call up passes.
type badNetwork struct {
	loss   float64       // share of the packets
	jitter time.Duration // by which a packet comes late at most, evenly spread

	inner, outer net.PacketConn // towards the switchboard, and the caller
	box          net.Addr
	packets      sync.WaitGroup

	mu     sync.Mutex
	caller net.Addr
	over   bool
}

// interpose begins one, and returns the answer whose addresses lead through it.
func interpose(answer string, loss float64, jitter time.Duration) (*badNetwork, string, error) {
	_, candidate, _ := strings.Cut(answer, "a=candidate:")
	fields := strings.Fields(candidate) // foundation component udp priority address port
	if len(fields) < 6 {
		return nil, "", errors.New("the answer has no address")
	}
	box, err := net.ResolveUDPAddr("udp4", net.JoinHostPort(fields[4], fields[5]))
	if err != nil {
		return nil, "", err
	}
	n := &badNetwork{loss: loss, jitter: jitter, box: box}
	if n.inner, err = net.ListenPacket("udp4", "127.0.0.1:0"); err != nil {
		return nil, "", err
	}
	if n.outer, err = net.ListenPacket("udp4", "127.0.0.1:0"); err != nil {
		_ = n.inner.Close()
		return nil, "", err
	}
	n.packets.Go(func() { n.carry(n.outer, n.inner, true) })
	n.packets.Go(func() { n.carry(n.inner, n.outer, false) })
	own := strconv.Itoa(n.outer.LocalAddr().(*net.UDPAddr).Port)
	return n, strings.ReplaceAll(answer, " "+fields[5]+" typ host", " "+own+" typ host"), nil
}

func (n *badNetwork) close() {
	n.mu.Lock()
	n.over = true
	n.mu.Unlock()
	_ = n.inner.Close()
	_ = n.outer.Close()
	n.packets.Wait()
}

func (n *badNetwork) carry(from, to net.PacketConn, fromCaller bool) {
	buf := make([]byte, 2048)
	for {
		size, addr, err := from.ReadFrom(buf)
		if err != nil {
			return
		}
		media := size > 0 && buf[0] >= 128 && buf[0] < 192 // RFC 7983
		if media && rand.Float64() < n.loss {
			continue
		}
		late := time.Duration(0)
		if media && n.jitter > 0 {
			late = rand.N(n.jitter)
		}
		n.pass(append([]byte(nil), buf[:size]...), addr, to, fromCaller, late)
	}
}

// pass has a packet arrive, later.
func (n *badNetwork) pass(packet []byte, from net.Addr, by net.PacketConn, fromCaller bool, late time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	to := n.box
	if fromCaller {
		n.caller = from
	} else {
		to = n.caller
	}
	if n.over || to == nil {
		return
	}
	n.packets.Add(1)
	time.AfterFunc(late, func() {
		defer n.packets.Done()
		_, _ = by.WriteTo(packet, to)
	})
}

const (
	// listenerBuffer is for how long a listener waits for a packet: what browsers
	// keep back on a network that is not quiet.
	listenerBuffer = 60 * time.Millisecond
	// gapBegins is how much in a row no codec makes up for.
	gapBegins = 100 * time.Millisecond
)

// arrival is a packet of a voice that goes on without a pause.
type arrival struct {
	Number uint16
	At     time.Time
}

// listened is what a listener makes of packets: the share of the frames that were
// lost or came too late, which are concealed, and how many rows of them are longer
// than that can be done for.
func listened(came []arrival, frame time.Duration) (concealed float64, gaps int) {
	if len(came) == 0 {
		return 1, 0
	}
	first := came[0].Number
	frames := 0
	start := came[0].At // of the packet that took the shortest time, less its place
	for _, c := range came {
		n := int(int16(c.Number - first))
		frames = max(frames, n+1)
		if at := c.At.Add(-time.Duration(n) * frame); at.Before(start) {
			start = at
		}
	}
	inTime := make([]bool, frames)
	for _, c := range came {
		n := int(int16(c.Number - first))
		inTime[max(0, n)] = inTime[max(0, n)] || !c.At.After(start.Add(time.Duration(n)*frame+listenerBuffer))
	}
	missing, row := 0, 0
	for _, there := range inTime {
		if there {
			row = 0
			continue
		}
		missing++
		if row++; time.Duration(row)*frame == gapBegins {
			gaps++
		}
	}
	return float64(missing) / float64(frames), gaps
}
