package face

import "math"

// shrunk returns the picture in grey, smaller by factor, 0 to 1: each pixel is the mean of those
// that it covers.
func shrunk(p Picture, factor float64) grey {
	g := grey{
		width:  max(1, int(math.Round(float64(p.Width)*factor))),
		height: max(1, int(math.Round(float64(p.Height)*factor))),
	}
	g.pixels = make([]byte, g.width*g.height)
	for y := range g.height {
		top, bottom := span(y, g.height, p.Height)
		for x := range g.width {
			left, right := span(x, g.width, p.Width)
			var sum, n int
			for row := top; row < bottom; row++ {
				line := p.RGB[3*(row*p.Width+left) : 3*(row*p.Width+right)]
				for i := 0; i < len(line); i += 3 {
					sum += luminance(line[i], line[i+1], line[i+2])
				}
				n += right - left
			}
			g.pixels[y*g.width+x] = byte(sum / (n * 256))
		}
	}
	return g
}

// span returns the part of size pixels that the ith of n pixels covers; at least one.
func span(i, n, size int) (from, to int) {
	from = i * size / n
	return from, max(from+1, (i+1)*size/n)
}

// luminance returns 256 times the brightness of a pixel, by ITU-R BT.601.
func luminance(r, g, b byte) int { return 77*int(r) + 150*int(g) + 29*int(b) }

// grey returns the picture without colour.
func (p Picture) grey() []byte {
	pixels := make([]byte, len(p.RGB)/3)
	for i := range pixels {
		pixels[i] = byte(luminance(p.RGB[3*i], p.RGB[3*i+1], p.RGB[3*i+2]) / 256)
	}
	return pixels
}

// frame is a square in a picture that may be turned: its centre, its side, and the angle of its
// upper edge in radians, clockwise.
type frame struct{ x, y, side, angle float64 }

// cut returns what the frame shows, size × size pixels. Each pixel is the mean of enough points to
// miss none of the picture; points outside it have the colour of the nearest edge.
func (p Picture) cut(f frame, size int) Picture {
	out := Picture{size, size, make([]byte, 3*size*size)}
	step := f.side / float64(size)
	points := min(max(1, int(math.Ceil(step))), maxPoints)
	sin, cos := math.Sincos(f.angle)
	for i := range size * size {
		var sum [3]float64
		for j := range points * points {
			// The position in the frame, from its centre.
			u := (float64(i%size)+(float64(j%points)+0.5)/float64(points))*step - f.side/2
			v := (float64(i/size)+(float64(j/points)+0.5)/float64(points))*step - f.side/2
			p.at(f.x+u*cos-v*sin, f.y+u*sin+v*cos, &sum)
		}
		for c := range 3 {
			out.RGB[3*i+c] = byte(sum[c]/float64(points*points) + 0.5)
		}
	}
	return out
}

// maxPoints bounds the points across a pixel of a cut: a face of 4,000 pixels has 36 of its pixels
// across one of 112, and 16 of them give the mean to a step of brightness.
const maxPoints = 16

// at adds the colour at a point, interpolated between the four pixels around it.
func (p Picture) at(x, y float64, sum *[3]float64) {
	x = min(max(x-0.5, 0), float64(p.Width-1))
	y = min(max(y-0.5, 0), float64(p.Height-1))
	left, top := int(x), int(y)
	dx, dy := x-float64(left), y-float64(top)
	right, bottom := min(left+1, p.Width-1), min(top+1, p.Height-1)
	a, b := 3*(top*p.Width+left), 3*(top*p.Width+right)
	c, d := 3*(bottom*p.Width+left), 3*(bottom*p.Width+right)
	for i := range sum {
		upper := float64(p.RGB[a+i])*(1-dx) + float64(p.RGB[b+i])*dx
		lower := float64(p.RGB[c+i])*(1-dx) + float64(p.RGB[d+i])*dx
		sum[i] += upper*(1-dy) + lower*dy
	}
}
