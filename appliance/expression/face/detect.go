// Package face finds faces in pictures and measures their expressions: how likely each of 48
// feelings shows in a face. It also tells persons apart. docs/expression.md says what is measured,
// what is only derived, and how accurate it is.
package face

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"slices"

	pigo "github.com/esimov/pigo/core"

	"parley/appliance/engine"
)

// facefinder is the cascade of github.com/esimov/pigo 1.4.6, under the MIT licence beside it.
//
//go:embed weights/facefinder
var facefinder []byte

const (
	// searchedFace is the side in pixels that the smallest face has where it is searched: a larger picture is
	// made smaller first, because the cascade needs no more.
	searchedFace = 24
	// scaleStep and shiftStep are how much larger the next window is, and how far windows are apart, as a
	// part of their side.
	scaleStep = 1.1
	shiftStep = 0.1
	// sameFace is the overlap, as intersection over union, above which two windows show one face.
	sameFace = 0.2
)

// A Picture has 3 bytes a pixel, red, green and blue, row by row from the top.
type Picture struct {
	Width, Height int
	RGB           []byte
}

// check returns an error if the picture has another size than it says.
func (p Picture) check() error {
	if p.Width < 1 || p.Height < 1 || len(p.RGB)/3/p.Width != p.Height || len(p.RGB) != 3*p.Width*p.Height {
		return fmt.Errorf("a picture of %d × %d pixels has %d bytes", p.Width, p.Height, len(p.RGB))
	}
	return nil
}

// A Box is a square in a picture, in pixels from its top left corner.
type Box struct{ X, Y, Side float64 }

// candidate is a window in which the cascade sees a face.
type candidate struct {
	box   Box
	score float64 // of all windows that show it
}

// detector searches for faces.
type detector struct {
	cascade *pigo.Pigo
	gate    *engine.Gate
}

func newDetector(gate *engine.Gate) (*detector, error) {
	c, err := pigo.NewPigo().Unpack(facefinder)
	if err != nil {
		return nil, fmt.Errorf("the cascade that finds faces: %w", err)
	}
	return &detector{c, gate}, nil
}

// candidates returns the windows of at least minSide pixels that look like a face, the best first.
// It passes the gate once for each size of window.
func (d *detector) candidates(ctx context.Context, u *engine.Urgency, p Picture, minSide float64) ([]candidate, error) {
	minSide = max(minSide, searchedFace)
	factor := searchedFace / minSide
	var small grey
	if err := d.gate.Do(ctx, u, 1, func() error { small = shrunk(p, factor); return nil }); err != nil {
		return nil, err
	}
	parameters := pigo.CascadeParams{
		ShiftFactor: shiftStep,
		ScaleFactor: scaleStep,
		ImageParams: pigo.ImageParams{
			Pixels: small.pixels,
			Rows:   small.height,
			Cols:   small.width,
			Dim:    small.width,
		},
	}
	var windows []pigo.Detection
	for side := searchedFace; side <= min(small.width, small.height); side = nextSide(side) {
		parameters.MinSize, parameters.MaxSize = side, side
		err := d.gate.Do(ctx, u, 1, func() error {
			windows = append(windows, d.cascade.RunCascade(parameters, 0)...)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	var found []candidate
	scaleX, scaleY := float64(p.Width)/float64(small.width), float64(p.Height)/float64(small.height)
	for _, w := range d.cascade.ClusterDetections(windows, sameFace) {
		side := float64(w.Scale)
		found = append(found, candidate{
			box: Box{
				X:    (float64(w.Col) - side/2) * scaleX,
				Y:    (float64(w.Row) - side/2) * scaleY,
				Side: side * scaleX,
			},
			score: float64(w.Q),
		})
	}
	slices.SortFunc(found, func(a, b candidate) int { return int(math.Copysign(1, b.score-a.score)) })
	return found, nil
}

// nextSide is the side of the next larger window.
func nextSide(side int) int { return int(math.Ceil(float64(side) * scaleStep)) }

// grey is a picture of 1 byte a pixel.
type grey struct {
	width, height int
	pixels        []byte
}

// probability returns how likely the window is a face.
func (c candidate) probability() float64 { return 1 / (1 + math.Exp(-(2*math.Log(c.score) - 1))) }
