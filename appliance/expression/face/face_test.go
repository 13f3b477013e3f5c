package face

import (
	"context"
	"image"
	_ "image/jpeg"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"parley/appliance/engine"
	"parley/appliance/engine/onnx"
	"parley/internal/packtest"
)

// The classes, in their order.
const (
	angry = iota
	disgust
	fear
	happy
	sad
	surprise
	neutral
)

// openFinder returns a Finder with the nets of the pack.
func openFinder(t testing.TB) *Finder {
	t.Helper()
	rt, err := onnx.Open(packtest.File(t, "runtime-onnx", "libonnxruntime.so"))
	if err != nil {
		t.Fatal(err)
	}
	gate := engine.NewGate(2)
	nets := onnx.OpenFaces(rt, filepath.Dir(packtest.File(t, "faces", "pack.json")), gate)
	t.Cleanup(func() {
		if err := nets.Close(); err != nil {
			t.Error(err)
		}
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return New(nets, gate)
}

func readPicture(t testing.TB, name string) Picture {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, _, err := image.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	p := blank(img.Bounds().Dx(), img.Bounds().Dy())
	for i := range p.Width * p.Height {
		r, g, b, _ := img.At(i%p.Width, i/p.Width).RGBA()
		p.RGB[3*i], p.RGB[3*i+1], p.RGB[3*i+2] = byte(r>>8), byte(g>>8), byte(b>>8)
	}
	return p
}

// blank returns a picture of one grey.
func blank(width, height int) Picture {
	p := Picture{width, height, make([]byte, 3*width*height)}
	for i := range p.RGB {
		p.RGB[i] = 128
	}
	return p
}

// paste copies a picture to a position of p.
func (p Picture) paste(from Picture, x, y int) {
	for row := range from.Height {
		copy(p.RGB[3*((y+row)*p.Width+x):], from.RGB[3*row*from.Width:3*(row+1)*from.Width])
	}
}

// turned returns the picture turned about its centre.
func (p Picture) turned(degrees float64) Picture {
	middle := float64(p.Width) / 2
	return p.cut(frame{middle, middle, float64(p.Width), -degrees * math.Pi / 180}, p.Width)
}

// darkened returns the picture with a part of its brightness.
func (p Picture) darkened(part float64) Picture {
	dark := Picture{p.Width, p.Height, make([]byte, len(p.RGB))}
	for i, x := range p.RGB {
		dark.RGB[i] = byte(float64(x) * part)
	}
	return dark
}

func find(t testing.TB, f *Finder, p Picture) []Face {
	t.Helper()
	faces, err := f.Find(context.Background(), p, Options{MinSide: 60, MinProbability: 0.99, Identify: true})
	if err != nil {
		t.Fatal(err)
	}
	return faces
}

// holds reports whether a box contains a point and is not much larger than a face of that size.
func (b Box) holds(x, y, side float64) bool {
	return b.X < x && x < b.X+b.Width && b.Y < y && y < b.Y+b.Height && b.Height > 0.75*side && b.Height < 1.3*side
}

func TestTwoFacesHaveABoxEachAndTheirExpressions(t *testing.T) {
	f := openFinder(t)
	p := blank(900, 520)
	p.paste(readPicture(t, "collins.jpg"), 0, 0)
	p.paste(readPicture(t, "mean.jpg"), 700, 250)
	faces := find(t, f, p)
	if len(faces) != 2 {
		t.Fatalf("%d faces: %v", len(faces), faces)
	}
	for _, one := range faces {
		switch {
		case one.Box.holds(224, 112, 110): // the nose of the first, and the size of the face
			if one.Classes[happy] < 0.9 {
				t.Errorf("a smile is happy with %.2f", one.Classes[happy])
			}
		case one.Box.holds(780, 352, 110):
			if one.Classes[neutral] < 0.7 {
				t.Errorf("a mean of faces is neutral with %.2f", one.Classes[neutral])
			}
		default:
			t.Errorf("no face is at %v", one.Box)
		}
	}
	if d := apart(faces[0].Identity, faces[1].Identity); d < samePerson {
		t.Errorf("two persons are %.2f apart", d)
	}
}

func TestAPersonIsRecognisedInAnotherPicture(t *testing.T) {
	f := openFinder(t)
	p := readPicture(t, "collins.jpg")
	small := p.cut(frame{256, 256, 512, 0}, 300)
	var people People
	for i, other := range []Picture{p, p.darkened(0.6), p.darkened(0.1), small, p.turned(8), p.turned(-8)} {
		faces := find(t, f, other)
		if len(faces) != 1 {
			t.Errorf("picture %d: %d faces", i, len(faces))
			continue
		}
		if n := people.Recognise(faces); n[0] != 0 {
			t.Errorf("picture %d: person %d", i, n[0])
		}
	}
	if n := people.Recognise(find(t, f, readPicture(t, "mean.jpg"))); len(n) != 1 || n[0] != 1 {
		t.Errorf("another person: %v", n)
	}
}

func TestPicturesWithoutFacesHaveNone(t *testing.T) {
	f := openFinder(t)
	p := readPicture(t, "collins.jpg")
	noise := blank(640, 480)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range noise.RGB {
		noise.RGB[i] = byte(r.IntN(12)) // of a camera whose lid is shut
	}
	for name, p := range map[string]Picture{
		"noise":        noise,
		"grey":         blank(640, 480),
		"black":        blank(640, 480).darkened(0),
		"upside down":  p.turned(180),
		"a space suit": p.cut(frame{256, 400, 224, 0}, 512),
	} {
		if faces := find(t, f, p); len(faces) != 0 {
			t.Errorf("%s: %v", name, faces)
		}
	}
}

func TestPicturesOfAnySizeAreSearched(t *testing.T) {
	f := openFinder(t)
	for _, size := range [][2]int{{1, 1}, {1, 5000}, {5000, 1}, {23, 23}, {24, 24}, {25, 300}, {61, 61}} {
		if faces := find(t, f, blank(size[0], size[1])); len(faces) != 0 {
			t.Errorf("%v: %v", size, faces)
		}
	}
	for _, p := range []Picture{{}, {2, 2, make([]byte, 11)}, {-1, -1, make([]byte, 3)}, {1 << 62, 4, nil}} {
		if _, err := f.Find(t.Context(), p, Options{}); err == nil {
			t.Errorf("%d × %d with %d bytes was searched", p.Width, p.Height, len(p.RGB))
		}
	}
}

func TestTilesCoverThePicture(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {960, 540}, {4096, 3072}, {1, 20_000}, {20_000, 31}, {301, 1000}} {
		lefts, tops, w, h := tiles(size[0], size[1])
		if w*h > maxTile || len(lefts)*len(tops) > 120 {
			t.Errorf("%v: %d × %d tiles of %d × %d", size, len(lefts), len(tops), w, h)
		}
		for _, side := range []struct {
			at         []int
			tile, size int
		}{{lefts, w, size[0]}, {tops, h, size[1]}} {
			end := 0
			for i, at := range side.at {
				if at < 0 || i == 0 && at != 0 || i > 0 && at > end-tileOverlap {
					t.Errorf("%v: a tile begins at %d, the one before it ends at %d", size, at, end)
				}
				end = at + side.tile
			}
			if end != side.size {
				t.Errorf("%v: the last tile ends at %d of %d", size, end, side.size)
			}
		}
	}
}

func TestACutShowsTheSameAtEachScale(t *testing.T) {
	// Brightness rises to the right and to the bottom.
	p := blank(1200, 1200)
	for i := range p.Width * p.Height {
		x, y := i%p.Width, i/p.Width
		p.RGB[3*i], p.RGB[3*i+1], p.RGB[3*i+2] = byte(x/6), byte(y/6), 0
	}
	for _, f := range []frame{{600, 600, 50, 0}, {600, 600, 111, 1}, {500, 600, 230, -0.5}, {600, 500, 700, 0.3},
		{1200, 0, 400, 0}, {-5000, 9000, 300, 0}, {600, 600, 0, 0}} {
		cut := p.cut(f, 64)
		sin, cos := math.Sincos(f.angle)
		for i := range cut.Width * cut.Height {
			u := ((float64(i%64)+0.5)/64 - 0.5) * f.side
			v := ((float64(i/64)+0.5)/64 - 0.5) * f.side
			x := min(max(f.x+u*cos-v*sin, 0), 1199) / 6
			y := min(max(f.y+u*sin+v*cos, 0), 1199) / 6
			if math.Abs(float64(cut.RGB[3*i])-x) > 2 || math.Abs(float64(cut.RGB[3*i+1])-y) > 2 {
				t.Fatalf("%v: pixel %d shows %d, %d; want %.1f, %.1f", f, i, cut.RGB[3*i], cut.RGB[3*i+1], x, y)
			}
		}
	}
}

func TestASavedFaceIsTheFaceWithAMargin(t *testing.T) {
	p := readPicture(t, "mean.jpg")
	for _, b := range []Box{{40, 60, 80, 90}, {-10, -10, 400, 300}, {159, 199, 1, 1}} {
		file, err := p.JPEG(b)
		if err != nil || len(file) < 100 {
			t.Errorf("%v: %d bytes, %v", b, len(file), err)
		}
	}
}

func BenchmarkFind(b *testing.B) {
	f := openFinder(b)
	p := blank(1920, 1080)
	p.paste(readPicture(b, "collins.jpg"), 600, 300)
	for b.Loop() {
		if _, err := f.Find(b.Context(), p, Options{MinSide: 60, MinProbability: 0.99}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestPeopleAreBounded(t *testing.T) {
	var people People
	r := rand.New(rand.NewPCG(3, 4))
	for range maxPeople/2 + 20 { // two each time
		var one Face
		for i := range one.Identity {
			one.Identity[i] = float32(r.NormFloat64())
		}
		if n := people.Recognise([]Face{one, one}); n[0] < 0 || n[0] >= maxPeople || n[1] >= maxPeople {
			t.Fatalf("a face is person %v", n)
		}
	}
}
