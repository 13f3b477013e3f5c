package audio

import "math/bits"

// The companding laws of ITU-T G.711, tables 1 and 2, on the scale of 16-bit samples. A-law
// has 13 of these bits, and µ-law 14.

// alaw expands an octet.
func alaw(b byte) float32 {
	b ^= 0x55
	mantissa := int(b & 0x0f)
	v := mantissa<<4 + 8
	if e := b >> 4 & 7; e > 0 {
		v = (v + 0x100) << (e - 1)
	}
	if b&0x80 == 0 {
		v = -v
	}
	return float32(v) / (1 << 15)
}

// toALaw returns the octet of the interval that holds a sample.
func toALaw(x float32) byte {
	x = bounded(x)
	sign := byte(0x80)
	if x < 0 {
		sign, x = 0, -x
	}
	v := min(int(x*(1<<15)), 1<<15-1)
	segment := max(bits.Len(uint(v))-8, 0)
	return (sign | byte(segment<<4) | byte(v>>(max(segment, 1)+3)&0x0f)) ^ 0x55
}

// muLawBias moves the segments of µ-law to powers of two.
const muLawBias = 0x84

// mulaw expands an octet.
func mulaw(b byte) float32 {
	b = ^b
	v := (int(b&0x0f)<<3+muLawBias)<<(b>>4&7) - muLawBias
	if b&0x80 != 0 {
		v = -v
	}
	return float32(v) / (1 << 15)
}

// toMuLaw returns the octet of the interval that holds a sample.
func toMuLaw(x float32) byte {
	x = bounded(x)
	sign := byte(0)
	if x < 0 {
		sign, x = 0x80, -x
	}
	v := min(int(x*(1<<15))+muLawBias, 1<<15-1)
	segment := bits.Len(uint(v)) - 8
	return ^(sign | byte(segment<<4) | byte(v>>(segment+3)&0x0f))
}
