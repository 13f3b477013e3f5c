package face

import (
	"context"
	"math"
	"slices"

	"parley/appliance/engine"
)

const (
	// smallestFace is the side in pixels that the smallest wanted face has where it is searched: the net
	// finds faces of 30 to 300 pixels well.
	smallestFace = 30
	// levelRatio is how much smaller the picture is made each time, to find larger faces: most are seen at
	// two or three sizes.
	levelRatio = 2
	// smallestLevel is the longest side of the smallest picture that is searched: a face that fills it is
	// found. A picture is enlarged to twice that, but not more than maxEnlarged times.
	smallestLevel = 112
	maxEnlarged   = 4
	// cell is the number of which the sides of the net's pictures are multiples.
	cell = 32
	// maxTile is the most pixels that are searched at once: 20 ms of one core, and 40 MB. A larger picture is
	// searched in tiles that overlap by tileOverlap pixels, more than the faces that the next level leaves to
	// this one.
	maxTile     = 300_000
	tileOverlap = 128
	// sameFace is the overlap, as intersection over the smaller box, above which two boxes show one face.
	sameFace = 0.5
	// maxCandidates bounds the faces of a picture: of a full hall.
	maxCandidates = 300
)

// Detection is a rectangle in a picture, in pixels, with the log-odds that it is a face.
type Detection = struct{ X, Y, Width, Height, LogOdds float64 }

// detect returns the boxes in a picture that look like a face of at least minSide pixels, the best
// first.
func (f *Finder) detect(ctx context.Context, u *engine.Urgency, p Picture, minSide float64) ([]Detection, error) {
	longest := float64(max(p.Width, p.Height))
	side := max(min(longest*smallestFace/max(minSide, 1), longest), min(2*smallestLevel, longest*maxEnlarged))
	level := p
	var all []Detection
	for {
		scale := side / longest
		width := max(1, int(math.Round(float64(p.Width)*scale)))
		height := max(1, int(math.Round(float64(p.Height)*scale)))
		err := f.gate.Do(ctx, u, 1, func() error { level = level.scaled(width, height); return nil })
		if err != nil {
			return nil, err
		}
		found, err := f.detectLevel(ctx, u, level)
		if err != nil {
			return nil, err
		}
		for _, d := range found {
			all = append(all, Detection{
				X:       d.X / scale,
				Y:       d.Y / scale,
				Width:   d.Width / scale,
				Height:  d.Height / scale,
				LogOdds: d.LogOdds,
			})
		}
		if side /= levelRatio; side < smallestLevel {
			return distinct(all), nil
		}
	}
}

// detectLevel searches a picture as it is, tile by tile.
func (f *Finder) detectLevel(ctx context.Context, u *engine.Urgency, p Picture) (all []Detection, err error) {
	lefts, tops, width, height := tiles(p.Width, p.Height)
	for _, top := range tops {
		for _, left := range lefts {
			t := p.tile(left, top, width, height)
			found, err := f.nets.Detect(ctx, u, t.RGB, t.Width, t.Height)
			if err != nil {
				return nil, err
			}
			for _, d := range found {
				d.X, d.Y = d.X+float64(left), d.Y+float64(top)
				all = append(all, d)
			}
		}
	}
	return all, nil
}

// tiles divides a picture into equal tiles of at most maxTile pixels, and returns where they begin.
func tiles(width, height int) (lefts, tops []int, tileWidth, tileHeight int) {
	columns, rows := 1, 1
	tileWidth, tileHeight = width, height
	for tileWidth*tileHeight > maxTile {
		if tileWidth > tileHeight {
			columns++
		} else {
			rows++
		}
		tileWidth = (width + (columns-1)*tileOverlap + columns - 1) / columns
		tileHeight = (height + (rows-1)*tileOverlap + rows - 1) / rows
	}
	for i := range columns {
		lefts = append(lefts, min(i*(tileWidth-tileOverlap), width-tileWidth))
	}
	for i := range rows {
		tops = append(tops, min(i*(tileHeight-tileOverlap), height-tileHeight))
	}
	return lefts, tops, tileWidth, tileHeight
}

// distinct returns the best box of each face, the best first.
func distinct(all []Detection) (best []Detection) {
	slices.SortStableFunc(all, func(a, b Detection) int { return int(math.Copysign(1, b.LogOdds-a.LogOdds)) })
	for _, d := range all {
		if len(best) == maxCandidates {
			break
		}
		if !slices.ContainsFunc(best, func(b Detection) bool { return overlap(boxOf(b), boxOf(d)) > sameFace }) {
			best = append(best, d)
		}
	}
	return best
}

func boxOf(d Detection) Box { return Box{d.X, d.Y, d.Width, d.Height} }

// overlap returns which part of the smaller box the other one covers.
func overlap(a, b Box) float64 {
	width := min(a.X+a.Width, b.X+b.Width) - max(a.X, b.X)
	height := min(a.Y+a.Height, b.Y+b.Height) - max(a.Y, b.Y)
	return max(width, 0) * max(height, 0) / max(1e-9, min(a.Width*a.Height, b.Width*b.Height))
}
