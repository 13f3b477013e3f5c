package webrtc

import (
	"io"
	"sync/atomic"

	"github.com/pion/transport/v5/packetio"
)

const (
	// maxStreams bounds the sources (SSRC) of a client's packets, including reports. A call
	// has four, and two for each additional track. The library creates one for each number
	// in a packet, and never deletes any.
	maxStreams = 64
	// streamBuffer bounds the unread bytes of a source: two seconds of a voice of the best
	// quality.
	streamBuffer = 64 << 10
)

// streams counts the sources of one client.
type streams struct {
	open   atomic.Int32
	excess func(error) // called when there are too many
}

// begin creates a source, for the library.
func (s *streams) begin(packetio.BufferPacketType, uint32) io.ReadWriteCloser {
	b := &stream{packets: packetio.NewBuffer(), of: s}
	b.packets.SetLimitSize(streamBuffer)
	if s.open.Add(1) > maxStreams {
		_ = b.Close()
		s.excess(errStreams)
	}
	return b
}

// stream is the buffer of one source. It has no deadlines: the library reads when there is
// something.
type stream struct {
	packets *packetio.Buffer
	of      *streams
	closed  atomic.Bool
}

// Read waits for a packet and returns it.
func (s *stream) Read(packet []byte) (int, error) {
	n, _, err := s.packets.Read(packet, nil)
	return n, err
}

// Write adds a packet; the error is packetio.ErrFull if the buffer is full.
func (s *stream) Write(packet []byte) (int, error) { return s.packets.Write(packet, nil) }

// Close removes the source.
func (s *stream) Close() error {
	if !s.closed.Swap(true) {
		s.of.open.Add(-1)
	}
	return s.packets.Close()
}
