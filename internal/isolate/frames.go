package isolate

import (
	"encoding/binary"
	"fmt"
	"io"
)

// MaxFrame bounds a request and a reply, in bytes: a process that was taken over may send
// anything.
const MaxFrame = 1 << 20

// frameHead is the size of a frame's length, in bytes.
const frameHead = 4

// appendFrame appends a frame in its form on a pipe: its length, then its bytes.
func appendFrame(b, frame []byte) ([]byte, error) {
	if len(frame) > MaxFrame {
		return b, fmt.Errorf("cage: a frame of %d bytes; at most %d are taken", len(frame), MaxFrame)
	}
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(frame))), frame...), nil
}

// readFrame reads a frame into buf, which grows as needed.
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
