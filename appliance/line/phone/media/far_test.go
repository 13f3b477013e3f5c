package media

import (
	"encoding/binary"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	pionrtp "github.com/pion/rtp"
)

// far is a far end that the test plays, packet by packet.
type far struct {
	socket    *net.UDPConn
	port      string
	to        netip.AddrPort // the box
	sequence  uint16
	timestamp uint32
	ssrc      uint32
}

func newFar(t *testing.T) *far {
	t.Helper()
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: loopback.AsSlice()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	return &far{
		socket: socket,
		port:   strconv.Itoa(socket.LocalAddr().(*net.UDPAddr).Port),
		ssrc:   77,
	}
}

// offer offers a call with lines in which PORT is the port of f, and returns the answer.
func (f *far) offer(t *testing.T, e *end, l ...string) string {
	t.Helper()
	answer, err := e.Answer([]byte(head + strings.ReplaceAll(lines(l...), "PORT", f.port)))
	if err != nil {
		t.Fatal(err)
	}
	f.to = netip.AddrPortFrom(loopback, e.sockets.port)
	return string(answer)
}

// next returns the next packet of the box.
func (f *far) next(t *testing.T) *pionrtp.Packet {
	t.Helper()
	p, ok := f.receive(t, 5*time.Second)
	if !ok {
		t.Fatal("no packet has come for 5 s")
	}
	return p
}

// receive returns the next packet of the box, if one comes in time.
func (f *far) receive(t *testing.T, in time.Duration) (*pionrtp.Packet, bool) {
	t.Helper()
	buffer := make([]byte, 2048)
	if err := f.socket.SetReadDeadline(time.Now().Add(in)); err != nil {
		t.Fatal(err)
	}
	n, _, err := f.socket.ReadFromUDPAddrPort(buffer)
	if err != nil {
		return nil, false
	}
	var p pionrtp.Packet
	if err := p.Unmarshal(buffer[:n]); err != nil {
		t.Fatal(err)
	}
	return &p, true
}

// silent fails the test if a packet comes, after those that are on their way.
func (f *far) silent(t *testing.T) {
	t.Helper()
	for {
		if _, ok := f.receive(t, 5*time.Millisecond); !ok {
			break
		}
	}
	if _, ok := f.receive(t, 100*time.Millisecond); ok {
		t.Error("the box sends")
	}
}

// raw sends bytes.
func (f *far) raw(t *testing.T, packet []byte) {
	t.Helper()
	if _, err := f.socket.WriteToUDPAddrPort(packet, f.to); err != nil {
		t.Fatal(err)
	}
}

// send sends the next packet, with a payload of 8 kHz.
func (f *far) send(t *testing.T, payloadType uint8, payload []byte) {
	t.Helper()
	packet, err := (&pionrtp.Packet{
		Header: pionrtp.Header{
			Version:        2,
			PayloadType:    payloadType,
			SequenceNumber: f.sequence,
			Timestamp:      f.timestamp,
			SSRC:           f.ssrc,
		},
		Payload: payload,
	}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	f.sequence++
	f.timestamp += 160
	f.raw(t, packet)
}

// loud returns 20 ms of a loud tone in µ-law.
func loud() []byte {
	frame := make([]byte, 160)
	for i := range frame {
		frame[i] = 0x10 | byte(i/8%2)<<7 // a square wave of 500 Hz
	}
	return frame
}

// event returns the payload of a key press.
func eventOf(code byte, ended bool, volume byte, duration uint16) []byte {
	b := binary.BigEndian.AppendUint16([]byte{code, volume}, duration)
	if ended {
		b[1] |= 0x80
	}
	return b
}
