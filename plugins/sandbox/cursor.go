package sandbox

import "encoding/binary"

// cursor reads the bytes of a module. Once something is not there or not well
// formed it is bad, and all that is read from it after that is zero.
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

// number reads an unsigned LEB128 of 32 bits.
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

// count reads the length of a list, whose entries have a byte each at least: more
// than there are bytes is a lie.
func (c *cursor) count() uint32 {
	n := c.number()
	if int64(n) > int64(len(c.b)-c.at) {
		c.bad = true
		return 0
	}
	return n
}

// skip leaves out n bytes.
func (c *cursor) skip(n int64) {
	if c.bad || n > int64(len(c.b)-c.at) {
		c.bad = true
		return
	}
	c.at += int(n)
}

// leb leaves out a LEB128 of at most most bytes; last is its last byte.
func (c *cursor) leb(most int) (last byte) {
	for range most {
		if last = c.byte(); last < 0x80 {
			return last
		}
	}
	c.bad = true
	return 0
}

// bytes reads as many bytes as a number before them says.
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
