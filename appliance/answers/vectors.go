package answers

import (
	"encoding/binary"
	"math"
	"slices"
	"sync"

	"parley/appliance/engine"
)

// width is the length of a vector.
const width = engine.SentenceDimensions

// vectors holds the vectors of all ways of asking of a set, in the order of the items, and then those of what the items
// say. Each number has a byte, so that 25,000 ways take 10 MB. On six desks of 20 answers, 12 ways each, and 960
// questions that changed the cosine of the nearest way by 0.002 at most, and the nearest item of two questions.
type vectors struct {
	begins []int // number of the first way of each item, and the number of all ways, with which what is said begins

	mu      sync.RWMutex
	numbers []int8    // width for each way
	scales  []float32 // of the numbers of each way; 0 for a way that is not embedded yet
}

func newVectors(begins []int) *vectors {
	all := begins[len(begins)-1] + len(begins) - 1
	return &vectors{
		begins:  begins,
		numbers: make([]int8, all*width),
		scales:  make([]float32, all),
	}
}

// set sets the vector of a way.
func (v *vectors) set(way int, p packed) {
	v.mu.Lock()
	defer v.mu.Unlock()
	copy(v.numbers[way*width:], p.numbers[:])
	v.scales[way] = p.scale
}

// has reports whether a way is embedded.
func (v *vectors) has(way int) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.scales[way] != 0
}

// cosines returns the cosine of each way with a vector of length 1, and NaN for those that are not embedded yet.
// 25,000 ways take about 4 ms.
func (v *vectors) cosines(with []float32) []float32 {
	return v.cosinesOf(with, 0, len(v.scales), nil)
}

// cosinesOf is like cosines for the ways from begin to before end. It returns them in into, if that is long enough.
func (v *vectors) cosinesOf(with []float32, begin, end int, into []float32) []float32 {
	q := fixed(with)
	v.mu.RLock()
	defer v.mu.RUnlock()
	into = slices.Grow(into[:0], end-begin)
	for way := begin; way < end; way++ {
		cosine := float32(math.NaN())
		if scale := v.scales[way]; scale != 0 {
			cosine = float32(dot((*[width]int8)(v.numbers[way*width:]), &q)) * scale / one
		}
		into = append(into, cosine)
	}
	return into
}

// mean returns the mean of the vectors of an item's ways, at length 1; zeros if none is embedded.
func (v *vectors) mean(item int) []float32 {
	sum, single := make([]float32, width), make([]float32, width)
	for way := v.begins[item]; way < v.begins[item+1]; way++ {
		v.vector(way, single)
		for d, x := range single {
			sum[d] += x
		}
	}
	if length := float32(math.Sqrt(float64(dotFloats(sum, sum)))); length > 0 {
		for d := range sum {
			sum[d] /= length
		}
	}
	return sum
}

// dotFloats returns the dot product of two vectors of one length.
func dotFloats(a, b []float32) (sum float32) {
	for d, x := range a {
		sum += x * b[d]
	}
	return sum
}

// vector writes the vector of a way into out; zeros if it is not embedded.
func (v *vectors) vector(way int, out []float32) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for d, n := range v.numbers[way*width : (way+1)*width] {
		out[d] = float32(n) * v.scales[way]
	}
}

// one is the number 1 in fixed point. The sum of width products of a byte and a number of at most one fits in 32 bits:
// its amount is at most 127 · √width · one, since the numbers have the length one.
const one = 1 << 16

// fixed returns a vector in fixed point.
func fixed(v []float32) (q [width]int32) {
	for d, x := range v[:width] {
		q[d] = int32(math.Round(float64(x) * one))
	}
	return q
}

// dot returns the dot product. Four sums in parallel halve its time.
func dot(a *[width]int8, b *[width]int32) int32 {
	var s0, s1, s2, s3 int32
	for d := 0; d < width; d += 4 {
		s0 += int32(a[d]) * b[d]
		s1 += int32(a[d+1]) * b[d+1]
		s2 += int32(a[d+2]) * b[d+2]
		s3 += int32(a[d+3]) * b[d+3]
	}
	return s0 + s1 + s2 + s3
}

// packed is a vector with a byte for each number. Number d is numbers[d] times scale.
type packed struct {
	scale   float32
	numbers [width]int8
}

func pack(v []float32) (p packed) {
	var most float64
	for _, x := range v {
		most = max(most, math.Abs(float64(x)))
	}
	scale := max(most/127, math.SmallestNonzeroFloat32)
	p.scale = float32(scale)
	for d, x := range v[:width] {
		p.numbers[d] = int8(math.Round(float64(x) / scale))
	}
	return p
}

// bytes returns what is stored of a vector: the scale and the numbers.
func (p packed) bytes() []byte {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+width), math.Float32bits(p.scale))
	for _, n := range p.numbers {
		b = append(b, byte(n))
	}
	return b
}

// unpack returns the vector of bytes; false if they are none.
func unpack(b []byte) (p packed, ok bool) {
	if len(b) != 4+width {
		return p, false
	}
	p.scale = math.Float32frombits(binary.LittleEndian.Uint32(b))
	for d := range p.numbers {
		p.numbers[d] = int8(b[4+d])
	}
	return p, p.scale > 0 && p.scale < 1 // neither 0 nor NaN nor infinite
}
