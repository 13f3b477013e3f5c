package audio

import (
	"math"
	"testing"
)

// Every octet's sample is encoded as that octet. µ-law alone has two for silence.
func TestG711RoundTrip(t *testing.T) {
	for b := range 256 {
		if got := toALaw(alaw(byte(b))); got != byte(b) {
			t.Errorf("A-law: %#02x is %v, which is encoded as %#02x", b, alaw(byte(b)), got)
		}
		want := byte(b)
		if want == 0x7f {
			want = 0xff
		}
		if got := toMuLaw(mulaw(byte(b))); got != want {
			t.Errorf("µ-law: %#02x is %v, which is encoded as %#02x", b, mulaw(byte(b)), got)
		}
	}
}

// The ends of the segments, and the samples between the last two decisions in each, are those of
// tables 1a and 2a of ITU-T G.711.
func TestG711Tables(t *testing.T) {
	for _, law := range []struct {
		name              string
		scale             float32
		ends, values      []float32
		encode            func(float32) byte
		decode            func(byte) float32
		loudest, quietest byte
	}{
		{"A-law", 4096, []float32{4096, 2048, 1024, 512, 256, 128, 64},
			[]float32{4032, 2016, 1008, 504, 252, 126, 63}, toALaw, alaw, 0xaa, 0xd5},
		{"µ-law", 8192, []float32{8159, 4063, 2015, 991, 479, 223, 95, 31},
			[]float32{8031, 3999, 1983, 975, 471, 219, 93, 30}, toMuLaw, mulaw, 0x80, 0xff},
	} {
		for i, end := range law.ends {
			below, above := law.encode((end-0.25)/law.scale), law.encode((end+0.25)/law.scale)
			if got := law.decode(below) * law.scale; got != law.values[i] {
				t.Errorf("%s: below %v is %v, want %v", law.name, end, got, law.values[i])
			}
			if i > 0 && below == above {
				t.Errorf("%s: %v is no decision", law.name, end)
			}
		}
		for x, want := range map[float32]byte{1: law.loudest, 0: law.quietest, float32(math.Inf(1)): law.loudest,
			float32(math.NaN()): law.quietest, -1: law.loudest & 0x7f} {
			if got := law.encode(x); got != want {
				t.Errorf("%s: %v is %#02x, want %#02x", law.name, x, got, want)
			}
		}
	}
}
