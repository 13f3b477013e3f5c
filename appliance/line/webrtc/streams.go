package webrtc

import (
	"io"
	"sync/atomic"

	"github.com/pion/transport/v5/packetio"
)

const (
	// maxStreams is how many sources (SSRC) of a client's packets are kept at a
	// time, those of reports among them. A call has four, and two for each track
	// beside the voice; the library makes one for whatever number a packet has,
	// and forgets none.
	maxStreams = 64
	// streamBuffer is how many bytes of a source wait to be read. A voice of the best
	// quality fills it in two seconds, an unread one keeps no more.
	streamBuffer = 64 << 10
)

// streams counts the sources of one client's packets.
type streams struct {
	open   atomic.Int32
	excess func(error) // there are too many
}

// begin is what the library calls for each of them.
func (s *streams) begin(packetio.BufferPacketType, uint32) io.ReadWriteCloser {
	b := &stream{packets: packetio.NewBuffer(), of: s}
	b.packets.SetLimitSize(streamBuffer)
	if s.open.Add(1) > maxStreams {
		_ = b.Close()
		s.excess(errStreams)
	}
	return b
}

// stream is what waits to be read of one source. Deadlines are the library's, which
// reads a voice when there is something.
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

// Write adds a packet; packetio.ErrFull says that there is no room for it.
func (s *stream) Write(packet []byte) (int, error) { return s.packets.Write(packet, nil) }

// Close forgets the source.
func (s *stream) Close() error {
	if !s.closed.Swap(true) {
		s.of.open.Add(-1)
	}
	return s.packets.Close()
}
