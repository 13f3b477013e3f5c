package onnx

import (
	"context"
	"encoding/json"
	"image"
	_ "image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/appliance/engine"
	"parley/internal/packtest"
)

func openFaces(t testing.TB) *Faces {
	t.Helper()
	rt := openRuntime(t)
	return sharedOf(t, "Faces", func() (*Faces, error) {
		return OpenFaces(rt, filepath.Dir(packtest.File(t, "faces", "pack.json")), engine.NewGate(2)), nil
	})
}

// faceGolden are the outputs of the published nets in TensorFlow.js 4.22 for a face: face-api's own
// code, Human's graph model, and fer's Keras model, whose config and weights were read with h5py.
type faceGolden struct {
	Detector                                      []float64 // the best box: x, y, width, height, probability
	Expression, Fer, Emotion, Landmarks, Identity []float64
}

func readFaceGolden(t *testing.T) (want faceGolden) {
	t.Helper()
	text, err := os.ReadFile("testdata/face_golden.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	return want
}

// facePicture returns a picture of testdata with 3 bytes a pixel.
func facePicture(t testing.TB, name string) []byte {
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
	var rgb []byte
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			r, g, b, _ := img.At(x, y).RGBA()
			rgb = append(rgb, byte(r>>8), byte(g>>8), byte(b>>8))
		}
	}
	return rgb
}

func greyOf(rgb []byte) []byte {
	grey := make([]byte, len(rgb)/3)
	for i := range grey {
		grey[i] = rgb[3*i]
	}
	return grey
}

// near fails the test if two vectors differ by more than 2e-5 anywhere.
func near(t *testing.T, what string, got []float64, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i := range got {
		if math.Abs(got[i]-want[i]) > 2e-5 {
			t.Fatalf("%s: number %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func TestFaceNetsGiveWhatTheirAuthorsCodeGives(t *testing.T) {
	f, want, ctx := openFaces(t), readFaceGolden(t), context.Background()
	rgb, grey := facePicture(t, "face112.png"), greyOf(facePicture(t, "face64.png"))
	p, err := f.Classes(ctx, nil, rgb, grey)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "fer", p[1][:], want.Fer)
	near(t, "emotion", p[2][:], want.Emotion)
	e := p[0]
	near(t, "expression", []float64{e[FaceNeutral], e[FaceHappy], e[FaceSad], e[FaceAngry], e[FaceFear],
		e[FaceDisgust], e[FaceSurprise]}, want.Expression)
	points, err := f.Landmarks(ctx, nil, rgb)
	if err != nil {
		t.Fatal(err)
	}
	var flat []float64
	for _, p := range points {
		flat = append(flat, p[0], p[1])
	}
	near(t, "landmarks", flat, want.Landmarks)
	at, err := f.Identity(ctx, nil, facePicture(t, "face150.png"))
	if err != nil {
		t.Fatal(err)
	}
	flat = flat[:0]
	for _, x := range at {
		flat = append(flat, float64(x))
	}
	near(t, "identity", flat, want.Identity)
}

func TestDetectorOfFacesFindsTheBoxThatItsAuthorsCodeFinds(t *testing.T) {
	f, want := openFaces(t), readFaceGolden(t).Detector
	rgb := facePicture(t, "face160.png")
	found, err := f.Detect(context.Background(), nil, rgb, 160, 160)
	if err != nil || len(found) == 0 {
		t.Fatalf("%d faces, %v", len(found), err)
	}
	best := found[0]
	for _, d := range found {
		if d.LogOdds > best.LogOdds {
			best = d
		}
	}
	got := []float64{best.X, best.Y, best.Width, best.Height, 1 / (1 + math.Exp(-best.LogOdds))}
	for i := range got {
		if math.Abs(got[i]-want[i]) > 1e-3 {
			t.Errorf("the best box is %v, want %v", got, want)
			break
		}
	}
	for _, size := range [][2]int{{160, 159}, {0, 0}, {32, 32}, {-160, -160}, {1 << 62, 32}} {
		if _, err := f.Detect(context.Background(), nil, rgb, size[0], size[1]); err == nil {
			t.Errorf("%d × %d was accepted for another picture", size[0], size[1])
		}
	}
}

func TestFaceNetsRefuseAPictureOfAnotherSize(t *testing.T) {
	f := openFaces(t)
	for _, size := range []int{0, 1, 3 * FaceSide * (FaceSide - 1), 3 * IdentitySide * IdentitySide} {
		if _, err := f.Landmarks(context.Background(), nil, make([]byte, size)); err == nil {
			t.Errorf("%d bytes were accepted", size)
		}
	}
}

func TestMissingOrDamagedFacesNameTheCommand(t *testing.T) {
	rt, dir := openRuntime(t), t.TempDir()
	f := OpenFaces(rt, dir, engine.NewGate(1))
	defer f.Close()
	use := func() error {
		_, err := f.Landmarks(context.Background(), nil, make([]byte, 3*FaceSide*FaceSide))
		return err
	}
	if err := use(); err == nil || !strings.Contains(err.Error(), "parley packs pull faces") {
		t.Errorf("no pack: %v", err)
	}
	weights := packtest.File(t, "faces", "face_landmarks.bin")
	for name, content := range map[string]string{"face_landmarks.json": "[]", "face_landmarks.bin": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := use(); err == nil || !strings.Contains(err.Error(), "packs list --verify") {
		t.Errorf("an empty list of weights: %v", err)
	}
	manifest, err := os.ReadFile(packtest.File(t, "faces", "face_landmarks.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "face_landmarks.json"), manifest, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := use(); err == nil || !strings.Contains(err.Error(), "packs list --verify") {
		t.Errorf("cut-off weights: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "face_landmarks.bin")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(weights, filepath.Join(dir, "face_landmarks.bin")); err != nil {
		t.Fatal(err)
	}
	if err := use(); err != nil { // the pack was repaired
		t.Error(err)
	}
}

func BenchmarkFaceNets(b *testing.B) {
	f, ctx := openFaces(b), context.Background()
	rgb, grey := make([]byte, 3*FaceSide*FaceSide), make([]byte, GreyFaceSide*GreyFaceSide)
	picture, large := make([]byte, 3*IdentitySide*IdentitySide), make([]byte, 3*640*480)
	for name, run := range map[string]func() error{
		"classes":           func() error { _, err := f.Classes(ctx, nil, rgb, grey); return err },
		"landmarks":         func() error { _, err := f.Landmarks(ctx, nil, rgb); return err },
		"identity":          func() error { _, err := f.Identity(ctx, nil, picture); return err },
		"detect of 640x480": func() error { _, err := f.Detect(ctx, nil, large, 640, 480); return err },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
