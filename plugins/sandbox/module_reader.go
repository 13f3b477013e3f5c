package sandbox

import "encoding/binary"

// cursor reads the bytes of a module. After a read past the end, or of something malformed,
// bad is set and all further reads return zero.
type cursor struct {
	b   []byte
	at  int
	bad bool
}

func (c *cursor) byte() byte {
	if c.bad || c.at >= len(c.b) {
		c.bad = true
		return 0
	}
	c.at++
	return c.b[c.at-1]
}

// number reads an unsigned 32-bit LEB128.
func (c *cursor) number() uint32 {
	if !c.bad {
		n, length := binary.Uvarint(c.b[c.at:min(c.at+5, len(c.b))])
		if length > 0 && n < 1<<32 {
			c.at += length
			return uint32(n)
		}
	}
	c.bad = true
	return 0
}

// count reads the length of a list. Each entry has at least one byte, so a length beyond
// the remaining bytes is false.
func (c *cursor) count() uint32 {
	n := c.number()
	if int64(n) > int64(len(c.b)-c.at) {
		c.bad = true
		return 0
	}
	return n
}

// skip skips n bytes.
func (c *cursor) skip(n int64) {
	if c.bad || n > int64(len(c.b)-c.at) {
		c.bad = true
		return
	}
	c.at += int(n)
}

// leb skips a LEB128 of at most most bytes; last is its last byte.
func (c *cursor) leb(most int) (last byte) {
	for range most {
		if last = c.byte(); last < 0x80 {
			return last
		}
	}
	c.bad = true
	return 0
}

// bytes reads a length and as many bytes.
func (c *cursor) bytes() []byte {
	n := c.number()
	begin := c.at
	c.skip(int64(n))
	if c.bad {
		return nil
	}
	return c.b[begin:c.at]
}

func (c *cursor) left() int { return len(c.b) - c.at }
