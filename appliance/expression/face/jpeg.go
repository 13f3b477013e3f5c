package face

import (
	"bytes"
	"image"
	"image/jpeg"
	"math"
)

const (
	// saveMargin is how much around the box of a face is stored with it, in sides of the box.
	saveMargin  = 0.25
	jpegQuality = 90
)

// JPEG returns the picture of a face with a margin, as a JPEG file.
func (p Picture) JPEG(b Box) ([]byte, error) {
	margin := max(b.Width, b.Height) * saveMargin
	within := func(at float64, size int) int { return int(min(max(at, 0), float64(size))) }
	left, top := within(math.Floor(b.X-margin), p.Width), within(math.Floor(b.Y-margin), p.Height)
	right := within(math.Ceil(b.X+b.Width+margin), p.Width)
	bottom := within(math.Ceil(b.Y+b.Height+margin), p.Height)
	img := image.NewRGBA(image.Rect(0, 0, right-left, bottom-top))
	for y := range bottom - top {
		row := p.RGB[3*((top+y)*p.Width+left):]
		for x := range right - left {
			copy(img.Pix[img.PixOffset(x, y):], []byte{row[3*x], row[3*x+1], row[3*x+2], 0xff})
		}
	}
	var out bytes.Buffer
	err := jpeg.Encode(&out, img, &jpeg.Options{Quality: jpegQuality})
	return out.Bytes(), err
}
