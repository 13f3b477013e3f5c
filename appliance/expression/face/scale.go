package face

import (
	"fmt"
	"math"
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

// tile is a part of a picture.
type tile struct{ left, top, width, height int }

// scaled returns a tile of the picture at another size. Each pixel is the mean of those that it
// covers; where the picture is enlarged, pixels repeat. The result is black at the right and at the
// bottom up to the next multiple of cell.
func (p Picture) scaled(width, height int, t tile) Picture {
	out := Picture{Width: (t.width + cell - 1) / cell * cell, Height: (t.height + cell - 1) / cell * cell}
	out.RGB = make([]byte, 3*out.Width*out.Height)
	columns := make([][2]int, t.width)
	for x := range columns {
		columns[x][0], columns[x][1] = span(t.left+x, width, p.Width)
	}
	sums := make([]int, 3*p.Width) // of the rows that one row covers
	from, to := 3*columns[0][0], 3*columns[t.width-1][1]
	for y := range t.height {
		top, bottom := span(t.top+y, height, p.Height)
		clear(sums)
		for row := top; row < bottom; row++ {
			line := p.RGB[3*row*p.Width : 3*(row+1)*p.Width]
			for i := from; i < to; i++ {
				sums[i] += int(line[i])
			}
		}
		for x, c := range columns {
			var sum [3]int
			for i := 3 * c[0]; i < 3*c[1]; i += 3 {
				sum[0], sum[1], sum[2] = sum[0]+sums[i], sum[1]+sums[i+1], sum[2]+sums[i+2]
			}
			n := (c[1] - c[0]) * (bottom - top)
			for i, s := range sum {
				out.RGB[3*(y*out.Width+x)+i] = byte(s / n)
			}
		}
	}
	return out
}

// span returns the part of size pixels that the ith of n pixels covers; at least one.
func span(i, n, size int) (from, to int) {
	from = i * size / n
	return from, max(from+1, (i+1)*size/n)
}

// grey returns the brightness of the pixels, by ITU-R BT.601.
func (p Picture) grey() []byte {
	pixels := make([]byte, len(p.RGB)/3)
	for i := range pixels {
		r, g, b := int(p.RGB[3*i]), int(p.RGB[3*i+1]), int(p.RGB[3*i+2])
		pixels[i] = byte((77*r + 150*g + 29*b) / 256)
	}
	return pixels
}

// frame is a square in a picture that may be turned: its centre, its side, and the angle of its
// upper edge in radians, clockwise.
type frame struct{ x, y, side, angle float64 }

// cut returns what the frame shows, size × size pixels. Each pixel is the mean of enough points to
// miss none of the picture. Points outside it have the colour of the nearest edge.
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

// maxPoints bounds the points across a pixel of a cut: 16 × 16 of them give the mean to a step of
// brightness, however large the face is.
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
