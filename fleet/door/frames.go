package door

import "encoding/binary"

// frames follows the frames of a WebSocket (RFC 6455, section 5.2) that pass by, to know where one ends: the door may
// add one of its own there.
type frames struct {
	header [14]byte
	have   int    // bytes of the header
	left   uint64 // bytes of the frame after the header
	closed bool   // a close frame has begun
}

// pass follows p.
func (f *frames) pass(p []byte) {
	for len(p) > 0 {
		if f.left > 0 {
			n := min(f.left, uint64(len(p)))
			f.left -= n
			p = p[n:]
			continue
		}
		f.header[f.have] = p[0]
		f.have++
		p = p[1:]
		if f.have < f.headerBytes() {
			continue
		}
		f.left = f.payload()
		f.closed = f.closed || f.header[0]&0x0f == opClose
		f.have = 0
	}
}

// between reports whether the next byte begins a frame.
func (f *frames) between() bool { return f.have == 0 && f.left == 0 }

// headerBytes is the length of the header, as far as its first bytes say it.
func (f *frames) headerBytes() int {
	if f.have < 2 {
		return 2
	}
	n := 2
	switch f.header[1] & 0x7f {
	case 126:
		n += 2
	case 127:
		n += 8
	}
	if f.header[1]&0x80 != 0 {
		n += 4 // the mask
	}
	return n
}

func (f *frames) payload() uint64 {
	switch n := f.header[1] & 0x7f; n {
	case 126:
		return uint64(binary.BigEndian.Uint16(f.header[2:]))
	case 127:
		return binary.BigEndian.Uint64(f.header[2:])
	default:
		return uint64(n)
	}
}

const (
	opClose = 8
	// maxReason is what fits into a close frame beside the code.
	maxReason = 123
)

// closeFrame returns the close frame of a server.
func closeFrame(code uint16, reason string) []byte {
	if len(reason) > maxReason {
		reason = reason[:maxReason] // ASCII
	}
	frame := []byte{0x80 | opClose, byte(2 + len(reason))}
	frame = binary.BigEndian.AppendUint16(frame, code)
	return append(frame, reason...)
}
