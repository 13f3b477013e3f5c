package onnx

import (
	"context"
	"errors"
	"fmt"
	"math"

	"parley/appliance/engine"
)

// DetectorCell is the side of the cells into which the detector divides a picture, in pixels. The
// sides of a picture are multiples of it.
const DetectorCell = 32

// detectorNet is the graph of face-api's tiny face detector (tiny YOLO v2 with separable
// convolutions), for pictures of any size. Its output has 25 planes of one number a cell: for each
// of five anchors the place, the size and the score of a face.
func detectorNet(weights map[string]weightTensor) (builtGraph, error) {
	g := newGraphBuilder(weights)
	x := g.leaky(g.conv(graphInputName, squareConv{filters: "conv0/filters", bias: "conv0/bias", stride: 1}))
	for i := 1; i <= 5; i++ {
		x = g.pool("MaxPool", x, 2, 2, true)
		name := fmt.Sprintf("conv%d", i)
		x = g.leaky(g.separable(x, name+"/depthwise_filter", name+"/pointwise_filter", name+"/bias", 1))
	}
	x = g.pool("MaxPool", x, 2, 1, true)
	x = g.conv(x, squareConv{filters: "conv8/filters", bias: "conv8/bias", stride: 1})
	return g.model(x, []int64{1, 3, -1, -1}, []int64{1, detectorPlanes * int64(len(detectorAnchors)), -1, -1})
}

// leaky adds a rectifier that passes a tenth of each negative number.
func (g *graphBuilder) leaky(x string) string {
	return g.node("LeakyRelu", []string{x}, attribute{"alpha", float32(0.1)})
}

// detectorAnchors are the usual sizes of faces, in cells.
var detectorAnchors = [...][2]float64{{1.603231, 2.094468}, {6.041143, 7.080126}, {2.882459, 3.518061},
	{4.266906, 5.178857}, {9.041765, 10.66308}}

// detectorPlanes is how many planes an anchor has: x, y, width, height, score.
const detectorPlanes = 5

// DetectedFace is a rectangle in a picture, in pixels, with the log-odds that it is a face.
type DetectedFace = struct{ X, Y, Width, Height, LogOdds float64 }

// Detect returns the faces in a picture of 3 bytes a pixel, several for one face. Width and height
// are multiples of DetectorCell. Faces of 30 to 300 pixels are found well. It holds one core for
// about 50 ms per million pixels.
func (f *Faces) Detect(ctx context.Context, u *engine.Urgency, rgb []byte, width, height int) (
	found []DetectedFace, err error) {
	columns, rows := width/DetectorCell, height/DetectorCell
	if columns < 1 || rows < 1 || columns*DetectorCell != width || rows*DetectorCell != height ||
		len(rgb) != 3*width*height {
		return nil, fmt.Errorf("onnx: a picture of %d bytes for a detector of faces on %d × %d pixels", len(rgb), width,
			height)
	}
	err = f.gate.Do(ctx, u, 1, func() error {
		planes := make([]float32, len(rgb))
		colourPlanes(planes, rgb, detectorMean)
		out, err := f.detector.runOnce(planes, 1, 3, int64(height), int64(width))
		if err == nil {
			found = detections(out, columns, rows)
		}
		return err
	})
	return found, err
}

// minLogOdds is that of a probability of 0.2, below the 0.5 that face-api takes for a face.
const minLogOdds = -1.4

// detections decodes the output of the detector.
func detections(out []float32, columns, rows int) (found []DetectedFace) {
	cells := columns * rows
	sigmoid := func(x float32) float64 { return 1 / (1 + math.Exp(-float64(x))) }
	for i, anchor := range detectorAnchors {
		for cell := range cells {
			plane := func(n int) float32 { return out[(i*detectorPlanes+n)*cells+cell] }
			if plane(4) < minLogOdds {
				continue
			}
			width := math.Exp(float64(plane(2))) * anchor[0] * DetectorCell
			height := math.Exp(float64(plane(3))) * anchor[1] * DetectorCell
			found = append(found, DetectedFace{
				X:       (float64(cell%columns)+sigmoid(plane(0)))*DetectorCell - width/2,
				Y:       (float64(cell/columns)+sigmoid(plane(1)))*DetectorCell - height/2,
				Width:   width,
				Height:  height,
				LogOdds: float64(plane(4)),
			})
		}
	}
	return found
}

// runOnce runs the net on an input of that shape and returns a copy of its output.
func (n *faceNet) runOnce(input []float32, shape ...int64) (out []float32, err error) {
	session, _, err := n.loaded()
	if err != nil {
		return nil, err
	}
	in, err := NewTensor(input, shape...)
	if err != nil {
		return nil, err
	}
	outputs := []Value{nil}
	defer func() { err = errors.Join(err, destroy(append(outputs, in))) }()
	if err := session.Run([]Value{in}, outputs); err != nil {
		return nil, err
	}
	return Floats(outputs[0])
}
