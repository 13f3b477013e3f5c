package onnx

import "fmt"

// The sides of the square pictures that the nets of faces take, in pixels.
const (
	FaceSide     = 112 // colour, for the classes and the landmarks
	GreyFaceSide = 64  // grey, for the classes
	IdentitySide = 150 // colour, for the identity
)

// The sizes of the outputs.
const (
	FaceClasses  = 7
	landmarkSize = 2 * 68 // x and y of each point
	identitySize = 128
)

// denseNet is the graph of two nets of face-api, for the classes and for the landmarks: four blocks
// of separable convolutions whose outputs are summed, an average pool and a linear layer.
func denseNet(weights map[string]weightTensor) (builtGraph, error) {
	g := newGraphBuilder(weights)
	x := g.relu(g.conv(graphInputName, squareConv{
		filters: "dense0/conv0/filters",
		bias:    "dense0/conv0/bias",
		stride:  2,
		same:    true,
	}))
	x = g.denseBlock(x, "dense0")
	for _, block := range []string{"dense1", "dense2", "dense3"} {
		x = g.denseBlock(g.relu(g.denseConv(x, block+"/conv0", 2)), block)
	}
	x = g.flatten(g.pool("AveragePool", x, 7, 2, false))
	x = g.node("Gemm", []string{x, g.named("fc/weights", 2), g.named("fc/bias", 1)})
	outputs := int64(g.weight("fc/bias", 1).shape[0])
	if outputs == FaceClasses {
		x = g.softmax(x)
	}
	return g.model(x, []int64{1, 3, FaceSide, FaceSide}, []int64{1, outputs})
}

// denseBlock adds three convolutions, each of the sum of what came before it.
func (g *graphBuilder) denseBlock(x, name string) string {
	sum := x
	for _, conv := range []string{"/conv1", "/conv2", "/conv3"} {
		sum = g.add(sum, g.denseConv(g.relu(sum), name+conv, 1))
	}
	return g.relu(sum)
}

func (g *graphBuilder) denseConv(x, name string, stride int) string {
	return g.separable(x, name+"/depthwise_filter", name+"/pointwise_filter", name+"/bias", stride)
}

// ferNet is the graph of the net of the Python package fer (mini-Xception): two convolutions, four
// blocks of separable convolutions with a shortcut, and a convolution to one plane a class.
func ferNet(weights map[string]weightTensor) (builtGraph, error) {
	g := newGraphBuilder(weights)
	x := graphInputName
	for i := 1; i <= 2; i++ {
		x = g.conv(x, squareConv{filters: fmt.Sprintf("conv2d_%d/kernel", i), stride: 1})
		x = g.relu(g.normalised(x, i))
	}
	for i := 1; i <= 4; i++ {
		shortcut := g.conv(x, squareConv{filters: fmt.Sprintf("conv2d_%d/kernel", i+2), stride: 2, same: true})
		y := g.relu(g.normalised(g.ferSeparable(x, 2*i-1), 3*i+1))
		y = g.normalised(g.ferSeparable(y, 2*i), 3*i+2)
		x = g.add(g.pool("MaxPool", y, 3, 2, true), g.normalised(shortcut, 3*i))
	}
	x = g.conv(x, squareConv{filters: "conv2d_7/kernel", bias: "conv2d_7/bias", stride: 1, same: true})
	return g.classesOfPlanes(x)
}

func (g *graphBuilder) ferSeparable(x string, i int) string {
	name := fmt.Sprintf("separable_conv2d_%d", i)
	return g.separable(x, name+"/depthwise_kernel", name+"/pointwise_kernel", "", 1)
}

// normalised adds the ith batch normalisation.
func (g *graphBuilder) normalised(x string, i int) string {
	inputs := []string{x}
	for _, of := range []string{"gamma", "beta", "moving_mean", "moving_variance"} {
		inputs = append(inputs, g.named(fmt.Sprintf("batch_normalization_%d/%s", i, of), 1))
	}
	return g.node("BatchNormalization", inputs, attribute{"epsilon", float32(0.001)})
}

// classesOfPlanes averages each plane and ends the graph with the classes' probabilities.
func (g *graphBuilder) classesOfPlanes(x string) (builtGraph, error) {
	x = g.softmax(g.flatten(g.node("GlobalAveragePool", []string{x})))
	return g.model(x, []int64{1, 1, GreyFaceSide, GreyFaceSide}, []int64{1, FaceClasses})
}

// emotionNet is the graph of the net "emotion" of the library Human, an Xception of two blocks. Its
// normalisations are already part of the convolutions. The tensors without a name of their own are
// numbered by the converter.
func emotionNet(weights map[string]weightTensor) (builtGraph, error) {
	const prefix = "StatefulPartitionedCall/model_1/"
	g := newGraphBuilder(weights)
	conv := func(x, name string, stride int, same bool) string {
		return g.conv(x, squareConv{
			filters: prefix + name + "_weights",
			bias:    prefix + name + "_bn_offset",
			stride:  stride,
			same:    same,
		})
	}
	separable := func(x, depthwise string, i int) string {
		name := fmt.Sprintf("%sseparable_conv2d_%d/separable_conv2d", prefix, i)
		return g.separable(x, depthwise, name+"_weights", name+"_bn_offset", 1)
	}
	x := g.relu(conv(graphInputName, "conv2d_1/Conv2D", 2, false))
	x = g.relu(conv(x, "conv2d_2/Conv2D", 1, false))
	y := separable(g.relu(separable(x, "unknown_9", 1)), "unknown_15", 2)
	x = g.add(g.pool("MaxPool", y, 3, 2, true), conv(x, "conv2d_3/Conv2D", 2, true))
	y = separable(g.relu(separable(g.relu(x), "unknown_26", 3)), "unknown_32", 4)
	x = g.add(g.pool("MaxPool", y, 3, 2, true), conv(x, "conv2d_4/Conv2D", 2, true))
	x = g.conv(x, squareConv{filters: "unknown_43", bias: "unknown_44", stride: 1, same: true})
	return g.classesOfPlanes(x)
}

// identityNet is the graph of face-api's recognition net, a residual net. Its output is a position
// in 128 dimensions. Face-api takes two faces that are less than 0.6 apart for one person.
func identityNet(weights map[string]weightTensor) (builtGraph, error) {
	g := newGraphBuilder(weights)
	x := g.pool("MaxPool", g.relu(g.scaledConv(graphInputName, "conv32_down", 2, false)), 3, 2, false)
	for _, name := range []string{"conv32_1", "conv32_2", "conv32_3", "conv64_down", "conv64_1", "conv64_2",
		"conv64_3", "conv128_down", "conv128_1", "conv128_2", "conv256_down", "conv256_1", "conv256_2",
		"conv256_down_out"} {
		x = g.residual(x, name)
	}
	x = g.flatten(g.node("GlobalAveragePool", []string{x}))
	x = g.node("MatMul", []string{x, g.named("fc", 2)})
	return g.model(x, []int64{1, 3, IdentitySide, IdentitySide}, []int64{1, identitySize})
}

// scaledConv adds a convolution whose output is then scaled and moved, channel by channel.
func (g *graphBuilder) scaledConv(x, name string, stride int, same bool) string {
	x = g.conv(x, squareConv{
		filters: name + "/conv/filters",
		bias:    name + "/conv/bias",
		stride:  stride,
		same:    same,
	})
	x = g.node("Mul", []string{x, g.planes(name + "/scale/weights")})
	return g.add(x, g.planes(name+"/scale/biases"))
}

// planes adds a weight of one number a channel, shaped [channels, 1, 1].
func (g *graphBuilder) planes(name string) string {
	w := g.weight(name, 1)
	return g.constant(name, weightTensor{[]int{w.shape[0], 1, 1}, w.values})
}

// residual adds two convolutions and the shortcut around them. A "down" layer halves the picture:
// its shortcut is pooled and gets more channels, which are 0; where its convolutions give one row
// and column less than the shortcut, these are 0.
func (g *graphBuilder) residual(x, name string) string {
	down, grows, short := downLayer(name)
	y := g.relu(g.scaledConv(x, name+"/conv1", 1+down, down == 0))
	y = g.scaledConv(y, name+"/conv2", 1, true)
	if down == 1 {
		x = g.pool("AveragePool", x, 2, 2, false)
	}
	if grows > 0 {
		x = g.padded(x, grows, 0)
	}
	if short {
		y = g.padded(y, 0, 1)
	}
	return g.relu(g.add(x, y))
}

// downLayer returns 1 for a layer that halves the picture, how many channels it adds, and whether
// its convolutions come out one row and column short: for pictures of even size, which are 8 and 4
// pixels at these layers.
func downLayer(name string) (down, grows int, short bool) {
	switch name {
	case "conv64_down":
		return 1, 32, false
	case "conv128_down":
		return 1, 64, false
	case "conv256_down":
		return 1, 128, true
	case "conv256_down_out":
		return 1, 0, true
	}
	return 0, 0, false
}

// padded adds zeros: channels, and rows at the bottom and columns at the right.
func (g *graphBuilder) padded(x string, channels, rows int) string {
	name := fmt.Sprintf("pad %d %d", channels, rows)
	if !g.written[name] {
		g.written[name] = true
		g.fields = append(g.fields, shapeInitializer(name, 0, 0, 0, 0, 0, int64(channels), int64(rows), int64(rows))...)
	}
	return g.node("Pad", []string{x, name})
}
