package analysis

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"parley/appliance/contract"
	"parley/appliance/engine/onnx"
	"parley/appliance/media"
	"parley/internal/packtest"
)

// filmed makes a file with ffmpeg from the portrait of Eileen Collins. OUT in args is its path.
func filmed(t *testing.T, name, args string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	portrait := filepath.FromSlash("../expression/face/testdata/collins.jpg")
	words := []string{"-v", "error", "-y"}
	for _, w := range strings.Fields(args) {
		words = append(words, strings.NewReplacer("PORTRAIT", portrait, "OUT", path).Replace(w))
	}
	if out, err := exec.Command("ffmpeg", words...).CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg: %v\n%s", err, out)
	}
	return path
}

// withRealFaces returns an Analyser with the nets of the pack and with ffmpeg.
func withRealFaces(t *testing.T) *Analyser {
	t.Helper()
	a := withFaces(t, nil)
	nets := onnx.OpenFaces(openRuntime(t), filepath.Dir(packtest.File(t, "faces", "pack.json")), a.Gate)
	t.Cleanup(func() {
		if err := nets.Close(); err != nil {
			t.Error(err)
		}
	})
	a = withFaces(t, nets)
	a.Media = &media.Reader{}
	return a
}

func TestFacesOfAVideoAreRightToAFrame(t *testing.T) {
	a := withRealFaces(t)
	// A second without a face, then two with one at the left of a frame of 640 × 480; 10 frames a second.
	path := filmed(t, "v.mp4", "-f lavfi -i color=gray:s=640x480:r=10:d=1 -loop 1 -t 2 -i PORTRAIT -filter_complex "+
		"[1]fps=10,scale=480:480,pad=640:480:0:0[face];[0][face]concat=n=2 -pix_fmt yuv420p OUT")
	options := *contract.AllBatchModels().Face
	options.FPSPred, options.IdentifyFaces = 5, true
	report, err := a.Analyse(t.Context(), Source{Path: path}, Request{Models: contract.BatchModels{Face: &options}})
	if err != nil {
		t.Fatal(err)
	}
	groups := report.Models.Face.GroupedPredictions
	if len(groups) != 1 || groups[0].ID != "face_0" || len(groups[0].Predictions) != 10 {
		t.Fatalf("got %+v", groups)
	}
	for i, p := range groups[0].Predictions {
		if p.Frame != 10+2*i || p.Time != rounded(1+float64(i)/5, 4) {
			t.Errorf("prediction %d is of frame %d at %v s", i, p.Frame, p.Time)
		}
		// The nose is at 210, 105.
		if b := p.Box; b.X > 190 || b.X+b.W < 230 || b.Y > 90 || b.Y+b.H < 120 || b.W > 150 || b.H > 150 {
			t.Errorf("the box is %+v", b)
		}
		if joy := scoreOf(p.Emotions, "Joy"); joy < 0.4 || p.Prob < 0.99 {
			t.Errorf("joy %v of a face of %v", joy, p.Prob)
		}
	}
}
