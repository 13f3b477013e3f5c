package isolate

import (
	"encoding/binary"
	"fmt"
	"io"
)

// MaxFrame bounds a request and a reply, in bytes: once a library has written past
// a buffer, the process may send anything.
const MaxFrame = 1 << 20

// frameHead is how many bytes the length of a frame takes.
const frameHead = 4

// appendFrame appends a frame as it goes over a pipe: its length, and its bytes.
func appendFrame(b, frame []byte) ([]byte, error) {
	if len(frame) > MaxFrame {
		return b, fmt.Errorf("cage: a frame of %d bytes; at most %d are taken", len(frame), MaxFrame)
	}
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(frame))), frame...), nil
}

// readFrame reads a frame into buf, which grows as it needs to.
func readFrame(r io.Reader, buf []byte) ([]byte, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return buf, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > MaxFrame {
		return buf, fmt.Errorf("cage: a frame of %d bytes; at most %d are taken", n, MaxFrame)
	}
	if int(n) > cap(buf) {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	_, err := io.ReadFull(r, buf)
	return buf, err
}
