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

const (
	// brightPart of the samples of a picture that is well lit are at least darkest bright; those of a darker
	// one are raised to bright, but no more than maxGain times, since noise rises too.
	brightPart = 0.01
	darkest    = 96
	bright     = 192
	maxGain    = 8.0
	sampleStep = 31 // a prime, so that samples come from all columns and colours
)

// brightened returns the picture, or a brighter copy if it is dark all over. The nets hardly see a
// face of a fifth of its usual brightness.
func (p Picture) brightened() Picture {
	var counts [256]int
	for i := 0; i < len(p.RGB); i += sampleStep {
		counts[p.RGB[i]]++
	}
	left, level := int(brightPart*float64(len(p.RGB)/sampleStep)), len(counts)-1
	for ; level > 0 && left >= counts[level]; level-- {
		left -= counts[level]
	}
	if level >= darkest {
		return p
	}
	gain := min(bright/float64(max(level, 1)), maxGain)
	var raised [256]byte
	for i := range raised {
		raised[i] = byte(min(float64(i)*gain, 255))
	}
	out := Picture{p.Width, p.Height, make([]byte, len(p.RGB))}
	for i, x := range p.RGB {
		out.RGB[i] = raised[x]
	}
	return out
}

// tile returns a part of the picture. It is black at the right and at the bottom, up to the next
// multiple of cell.
func (p Picture) tile(left, top, width, height int) Picture {
	out := Picture{Width: (width + cell - 1) / cell * cell, Height: (height + cell - 1) / cell * cell}
	out.RGB = make([]byte, 3*out.Width*out.Height)
	for y := range height {
		from := 3 * ((top+y)*p.Width + left)
		copy(out.RGB[3*y*out.Width:], p.RGB[from:from+3*width])
	}
	return out
}

// scaled returns the picture at another size. Each pixel is the mean of those that it covers; where
// the picture is enlarged, pixels repeat.
func (p Picture) scaled(width, height int) Picture {
	if width == p.Width && height == p.Height {
		return p
	}
	out := Picture{width, height, make([]byte, 3*width*height)}
	sums := make([]int, 3*p.Width) // of the rows that one row covers
	for y := range height {
		top, bottom := span(y, height, p.Height)
		clear(sums)
		for row := top; row < bottom; row++ {
			for i, x := range p.RGB[3*row*p.Width : 3*(row+1)*p.Width] {
				sums[i] += int(x)
			}
		}
		for x := range width {
			left, right := span(x, width, p.Width)
			var sum [3]int
			for i := 3 * left; i < 3*right; i += 3 {
				sum[0], sum[1], sum[2] = sum[0]+sums[i], sum[1]+sums[i+1], sum[2]+sums[i+2]
			}
			for c, s := range sum {
				out.RGB[3*(y*width+x)+c] = byte(s / ((right - left) * (bottom - top)))
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

// cut returns what the frame shows, size × size pixels. Points outside the picture have the colour of
// the nearest edge. A large frame is first made smaller, so that each pixel of the picture counts.
func (p Picture) cut(f frame, size int) Picture {
	if by := int(f.side / float64(size)); by > 1 {
		return p.reduced(&f, by).cut(f, size)
	}
	out := Picture{size, size, make([]byte, 3*size*size)}
	step := f.side / float64(size)
	sin, cos := math.Sincos(f.angle)
	for i := range size * size {
		var sum [3]float64
		for j := range points * points {
			// The position in the frame, from its centre.
			u := (float64(i%size)+(float64(j%points)+0.5)/points)*step - f.side/2
			v := (float64(i/size)+(float64(j/points)+0.5)/points)*step - f.side/2
			p.at(f.x+u*cos-v*sin, f.y+u*sin+v*cos, &sum)
		}
		for c := range 3 {
			out.RGB[3*i+c] = byte(sum[c]/(points*points) + 0.5)
		}
	}
	return out
}

// points is how many points across a pixel of a cut give its mean: a pixel covers less than two of the
// picture.
const points = 2

// reduced returns the part of the picture around a frame, each side smaller by a whole factor, and
// changes the frame to show the same in it.
func (p Picture) reduced(f *frame, by int) Picture {
	reach := f.side*math.Sqrt2/2 + float64(by) // to the corners
	within := func(at float64, size int) int { return int(min(max(at, 0), float64(size))) }
	left, top := within(f.x-reach, p.Width-1), within(f.y-reach, p.Height-1)
	right, bottom := max(left+1, within(f.x+reach, p.Width)), max(top+1, within(f.y+reach, p.Height))
	out := Picture{Width: (right - left + by - 1) / by, Height: (bottom - top + by - 1) / by}
	out.RGB = make([]byte, 3*out.Width*out.Height)
	for i := range out.Width * out.Height {
		x, y := left+i%out.Width*by, top+i/out.Width*by
		var sum [3]int
		var n int
		for row := y; row < min(y+by, bottom); row++ {
			line := p.RGB[3*(row*p.Width+x) : 3*(row*p.Width+min(x+by, right))]
			for k := 0; k < len(line); k += 3 {
				sum[0], sum[1], sum[2] = sum[0]+int(line[k]), sum[1]+int(line[k+1]), sum[2]+int(line[k+2])
			}
			n += len(line) / 3
		}
		for c := range 3 {
			out.RGB[3*i+c] = byte((sum[c] + n/2) / n)
		}
	}
	scale := float64(by)
	*f = frame{(f.x - float64(left)) / scale, (f.y - float64(top)) / scale, f.side / scale, f.angle}
	return out
}

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
