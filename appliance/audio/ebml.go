package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// The elements of EBML itself (RFC 8794, 11).
const (
	ebmlHeader  = 0x1A45DFA3
	ebmlDocType = 0x4282
	ebmlVoid    = 0xEC
	ebmlCRC     = 0xBF
)

// ebmlUnknown is the size of an element that ends where its parent's next child begins, as live
// encoders write it.
const ebmlUnknown = math.MaxInt64

// errMore reports an incomplete element.
var errMore = errors.New("more bytes are needed")

// ebmlHead parses an element's header: its id with the marker bits, the length of the header,
// and the size of the body.
func ebmlHead(b []byte) (id uint32, head int, size int64, err error) {
	if len(b) == 0 {
		return 0, 0, 0, errMore
	}
	n := bits.LeadingZeros8(b[0]) + 1
	if n > 4 {
		return 0, 0, 0, fmt.Errorf("no element begins with %#02x", b[0])
	}
	if len(b) < n {
		return 0, 0, 0, errMore
	}
	for _, c := range b[:n] {
		id = id<<8 | uint32(c)
	}
	v, m, err := ebmlVint(b[n:])
	if err != nil {
		return 0, 0, 0, err
	}
	if v == 1<<(7*m)-1 {
		return id, n + m, ebmlUnknown, nil
	}
	if v > 1<<48 { // 256 TiB, so that stream positions cannot overflow
		return 0, 0, 0, fmt.Errorf("element %#x of %d bytes", id, v)
	}
	return id, n + m, int64(v), nil
}

// ebmlVint parses a number of variable length (RFC 8794, 4), and returns its length too.
func ebmlVint(b []byte) (v uint64, n int, err error) {
	if len(b) == 0 {
		return 0, 0, errMore
	}
	n = bits.LeadingZeros8(b[0]) + 1
	if n > 8 {
		return 0, 0, errors.New("a number of more than 8 bytes")
	}
	if len(b) < n {
		return 0, 0, errMore
	}
	v = uint64(b[0]) & (1<<(8-n) - 1)
	for _, c := range b[1:n] {
		v = v<<8 | uint64(c)
	}
	return v, n, nil
}

// ebmlEach calls do with the children of a complete element.
func ebmlEach(b []byte, do func(id uint32, data []byte) error) error {
	for len(b) > 0 {
		id, head, size, err := ebmlHead(b)
		if err == nil && int64(len(b)-head) < size {
			err = errMore
		}
		if err != nil {
			if err == errMore {
				return errors.New("an element is longer than the element around it")
			}
			return err
		}
		if err := do(id, b[head:head+int(size)]); err != nil {
			return err
		}
		b = b[head+int(size):]
	}
	return nil
}

// ebmlInt and ebmlUint parse a number of up to 8 bytes.
func ebmlInt(b []byte) int64 {
	n := min(len(b), 8)
	return int64(ebmlUint(b)<<(64-8*n)) >> (64 - 8*n)
}

func ebmlUint(b []byte) uint64 {
	var full [8]byte
	n := min(len(b), 8)
	copy(full[8-n:], b[:n])
	return binary.BigEndian.Uint64(full[:])
}

func checkDocType(body []byte) error {
	return ebmlEach(body, func(id uint32, data []byte) error {
		if d := string(data); id == ebmlDocType && d != "webm" && d != "matroska" {
			return fmt.Errorf("document type %q; allowed are \"webm\" and \"matroska\"", d)
		}
		return nil
	})
}
