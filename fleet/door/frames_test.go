package door

import (
	"testing"

	"pgregory.net/rapid"
)

// However the bytes of frames are cut into pieces, the end of each frame is known.
func TestTheEndOfEachFrameIsKnown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var stream []byte
		ends := map[int]bool{0: true}
		closes := -1
		for range rapid.IntRange(1, 8).Draw(t, "frames") {
			op := rapid.SampledFrom([]byte{0, 1, 2, 8, 9, 10}).Draw(t, "op")
			size := rapid.SampledFrom([]int{0, 1, 125, 126, 127, 300, 65_535, 65_536, 70_000}).Draw(t, "size")
			masked := rapid.Bool().Draw(t, "masked")
			if op == opClose && closes < 0 {
				closes = len(stream)
			}
			stream = append(stream, frameOf(op, size, masked)...)
			ends[len(stream)] = true
		}
		var f frames
		for at := 0; at < len(stream); {
			if f.between() != ends[at] {
				t.Fatalf("at %d: between is %v", at, f.between())
			}
			n := min(rapid.IntRange(1, 50_000).Draw(t, "piece"), len(stream)-at)
			f.pass(stream[at : at+n])
			at += n
		}
		if !f.between() || f.closed != (closes >= 0) {
			t.Fatalf("at the end: between %v, closed %v", f.between(), f.closed)
		}
	})
}

func frameOf(op byte, size int, masked bool) []byte {
	b := []byte{0x80 | op, 0}
	switch {
	case size < 126:
		b[1] = byte(size)
	case size < 1<<16:
		b[1] = 126
		b = append(b, byte(size>>8), byte(size))
	default:
		b[1] = 127
		b = append(b, 0, 0, 0, 0, byte(size>>24), byte(size>>16), byte(size>>8), byte(size))
	}
	if masked {
		b[1] |= 0x80
		b = append(b, 1, 2, 3, 4)
	}
	return append(b, make([]byte, size)...)
}
