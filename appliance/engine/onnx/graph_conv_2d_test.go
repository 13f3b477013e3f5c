package onnx

import (
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/internal/packtest"
)

// convolution is a model with one node and its weights. ConvInteger has bytes as input and int32s
// as output, so it is put between two casts.
type convolution struct {
	operator                      string
	in, out                       int
	kernel, stride, dilation, pad uint64
	packed                        bool
}

func (c convolution) model() []byte {
	attribute := func(name string, values ...uint64) []byte {
		a := appendBytes(nil, attributeName, []byte(name))
		if c.packed {
			var packed []byte
			for _, v := range values {
				packed = append(packed, byte(v))
			}
			a = appendBytes(a, attributeNumbers, packed)
		} else {
			a = appendNumbers(a, attributeNumbers, values...)
		}
		return appendBytes(nil, nodeAttribute, appendNumbers(a, attributeType, attributeIsInts))
	}
	shape := []uint64{uint64(c.out), uint64(c.in), c.kernel}
	in, out := "x", "y"
	element := uint64(elementIsFloat32)
	if c.operator == "ConvTranspose" {
		shape[0], shape[1] = shape[1], shape[0]
	} else {
		in, out, element = "bytes", "sums", 2
	}
	node := nodeField(c.operator, []string{in, "weights"}, out)
	for _, a := range [][]byte{
		attribute("kernel_shape", c.kernel), attribute("strides", c.stride),
		attribute("dilations", c.dilation), attribute("pads", c.pad, c.pad),
	} {
		node = append(node, a...)
	}
	w := appendNumbers(appendNumbers(nil, tensorDims, shape...), tensorElementType, element)
	w = appendBytes(w, tensorName, []byte("weights"))
	w = appendBytes(w, tensorRawData, c.weights(int(shape[0]*shape[1]*shape[2]), element))
	graph := appendBytes(nil, graphInitializer, w)
	if element == 2 {
		graph = appendBytes(graph, graphNode, castTo("x", in, 2))
	}
	graph = appendBytes(graph, graphNode, node)
	if element == 2 {
		graph = appendBytes(graph, graphNode, castTo(out, "y", elementIsFloat32))
	}
	graph = appendBytes(graph, valueName+1, []byte("one"))
	graph = appendBytes(graph, graphInput, floatTensor("x"))
	graph = appendBytes(graph, graphOutput, floatTensor("y"))
	const irVersion, opset, opsetVersion = 1, 8, 2
	model := appendBytes(appendNumbers(nil, irVersion, 8), opset, appendNumbers(nil, opsetVersion, 15))
	return appendBytes(model, modelGraph, graph)
}

// weights are raw numbers: bytes, or floats with an exponent near that of 1.
func (c convolution) weights(n int, element uint64) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var raw []byte
	for range n {
		b := byte(r.Uint32())
		if element == elementIsFloat32 {
			raw = append(raw, byte(r.Uint32()), byte(r.Uint32()), b&0x7f, 0x3e+b&0x80)
		} else {
			raw = append(raw, b)
		}
	}
	return raw
}

func castTo(in, out string, element uint64) []byte {
	const attributeInt, isInt = 3, 2
	a := appendNumbers(appendBytes(nil, attributeName, []byte("to")), attributeInt, element)
	return appendBytes(nodeField("Cast", []string{in}, out), nodeAttribute, appendNumbers(a, attributeType, isInt))
}

func TestPlanarConvolutionsGiveTheSameBits(t *testing.T) {
	rt := openRuntime(t)
	rapid.Check(t, func(t *rapid.T) {
		few := func(name string, least, most int) int { return rapid.IntRange(least, most).Draw(t, name) }
		c := convolution{
			operator: rapid.SampledFrom(planarOperators).Draw(t, "operator"),
			in:       few("in", 1, 9),
			out:      few("out", 1, 9),
			kernel:   uint64(few("kernel", 1, 7)),
			stride:   uint64(few("stride", 1, 4)),
			dilation: uint64(few("dilation", 1, 3)),
			packed:   rapid.Bool().Draw(t, "packed"),
		}
		c.pad = uint64(few("pad", 0, int(c.kernel-1)/2))
		model := c.model()
		flat, err := planarModel(nil, model)
		if err != nil {
			t.Fatal(err)
		}
		if len(flat) <= len(model) {
			t.Fatal("nothing was changed")
		}
		places := few("places", 24, 60)
		x := make([]float32, c.in*places)
		for i := range x {
			x[i] = float32(i * 37 % 251)
		}
		want, got := runOnce(t, rt, model, x, c.in), runOnce(t, rt, flat, x, c.in)
		if len(want) == 0 || !slices.Equal(want, got) {
			t.Fatalf("%d numbers of the model and %d of the planar one differ", len(want), len(got))
		}
	})
}

func runOnce(t rapid.TB, rt *Runtime, model []byte, x []float32, channels int) []float32 {
	s, err := rt.LoadBytes("one", model, SessionOptions{Inputs: []string{"x"}, Outputs: []string{"y"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	in, err := NewTensor(x, 1, int64(channels), int64(len(x)/channels))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Destroy()
	out := make([]Value, 1)
	if err := s.Run([]Value{in}, out); err != nil {
		t.Fatal(err)
	}
	defer out[0].Destroy()
	y, err := Floats(out[0])
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(y)
}

// TestKokoroSaysTheSameAsItsFile also checks that the planar model takes less processor time: half
// on a quiet machine.
func TestKokoroSaysTheSameAsItsFile(t *testing.T) {
	rt := openRuntime(t)
	file, release, err := readModel(packtest.File(t, "kokoro", "model.onnx"), kokoroPatch)
	if err != nil {
		t.Fatal(err)
	}
	asItIs, err := rt.LoadBytes("as it is", file, SessionOptions{
		Threads: kokoroThreads, Inputs: []string{"tokens", "style", "speed"},
		Outputs: []string{"audio", kokoroDurations},
	})
	if err := release(); err != nil {
		t.Error(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer closeOrFail(t, asItIs)
	k := openKokoro(t, rt)
	style, err := k.style("af_heart")
	if err != nil {
		t.Fatal(err)
	}
	ids := k.alphabet.phrase("", "həlˈoʊ", "").ids
	loaded := k.session
	defer func() { k.session = loaded }()
	var sound [2][]float32
	quickest := [2]time.Duration{time.Hour, time.Hour}
	for range 3 {
		for i, s := range []*Session{asItIs, loaded} {
			k.session = s
			begun := processorTime(t)
			if sound[i], _, err = k.run(t.Context(), ids, style[:kokoroStyle], 1); err != nil {
				t.Fatal(err)
			}
			quickest[i] = min(quickest[i], processorTime(t)-begun)
		}
	}
	if len(sound[0]) < kokoroRateHz/4 || !slices.Equal(sound[0], sound[1]) {
		t.Errorf("%d samples of the file, %d as it is loaded, not the same", len(sound[0]), len(sound[1]))
	}
	if quickest[1] > quickest[0]*7/10 {
		t.Errorf("the rewritten model takes %v, the original %v", quickest[1], quickest[0])
	}
}

// processorTime returns the processor time of this process.
func processorTime(t *testing.T) time.Duration {
	var had syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &had); err != nil {
		t.Fatal(err)
	}
	return time.Duration(had.Utime.Nano() + had.Stime.Nano())
}

func TestWeightsThatSomethingElseUsesStayAsTheyAre(t *testing.T) {
	c := convolution{
		operator: "ConvTranspose",
		in:       2,
		out:      3,
		kernel:   3,
		stride:   1,
		dilation: 1,
	}
	graph, _, err := graphOf(c.model())
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range [][]byte{
		nodeField("Identity", []string{"weights"}, "kept"),
		appendBytes(nodeField("If", []string{"x"}, "kept"), nodeAttribute, appendBytes(nil, attributeGraph, nil)),
	} {
		model := appendBytes(nil, modelGraph, append(slices.Clone(graph), appendBytes(nil, graphNode, node)...))
		flat, err := planarModel(nil, model)
		if err != nil || !slices.Equal(model, flat) {
			t.Errorf("%d bytes became %d (%v)", len(model), len(flat), err)
		}
	}
}

func TestABrokenModelIsNotPlanar(t *testing.T) {
	model := convolution{
		operator: "ConvInteger",
		in:       2,
		out:      3,
		kernel:   3,
		stride:   1,
		dilation: 1,
	}.model()
	for n := 1; n < len(model); n++ {
		if _, err := planarModel(nil, model[:n]); err == nil {
			t.Errorf("the first %d of %d bytes: no error", n, len(model))
		}
	}
	rapid.Check(t, func(t *rapid.T) { // noise in the model causes no panic
		noisy := slices.Clone(model)
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			noisy[rapid.IntRange(0, len(noisy)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		_, _ = planarModel(nil, noisy)
	})
}
