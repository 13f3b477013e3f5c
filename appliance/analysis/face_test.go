package analysis

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/expression"
	"parley/appliance/expression/face"
	"parley/appliance/media"
)

// fakeNets see one face in the middle of every picture that is not black. It is happy. Bright faces are one person,
// dark ones another.
type fakeNets struct{ err error }

func (n fakeNets) Detect(_ context.Context, _ *engine.Urgency, rgb []byte, width, height int) (
	[]face.Detection, error) {
	right, bottom := 0, 0
	for i, x := range rgb {
		if x > 0 {
			right, bottom = max(right, i/3%width+1), i/3/width+1
		}
	}
	if right == 0 {
		return nil, n.err
	}
	w, h := float64(right), float64(bottom)
	return []face.Detection{{
		X:       w / 4,
		Y:       h / 4,
		Width:   w / 2,
		Height:  h / 2,
		LogOdds: 3,
	}}, n.err
}

func (n fakeNets) Landmarks(_ context.Context, _ *engine.Urgency, _ []byte) (points [68][2]float64, err error) {
	for i := range points {
		switch {
		case i >= 36 && i < 42:
			points[i] = [2]float64{0.3, 0.3}
		case i >= 42 && i < 48:
			points[i] = [2]float64{0.7, 0.3}
		default:
			points[i] = [2]float64{0.5, 0.8}
		}
	}
	return points, n.err
}

func (n fakeNets) Classes(context.Context, *engine.Urgency, []byte, []byte) (p [3][face.Classes]float64, err error) {
	for i := range p {
		p[i][3] = 1
	}
	return p, n.err
}

func (n fakeNets) Identity(_ context.Context, _ *engine.Urgency, rgb []byte) (at face.Identity, err error) {
	sum := 0
	for _, x := range rgb {
		sum += int(x)
	}
	if sum/len(rgb) > 80 {
		at[0] = 1
	}
	return at, n.err
}

// withFaces returns an Analyser with these nets.
func withFaces(t testing.TB, nets face.Nets) *Analyser {
	t.Helper()
	meter, err := expression.New()
	if err != nil {
		t.Fatal(err)
	}
	gate := engine.NewGate(1)
	return &Analyser{Meter: meter, Gate: gate, Faces: face.New(nets, gate)}
}

// portrait returns a picture of one face, which fills most of it, with this brightness (1 is unchanged).
func portrait(t testing.TB, brightness float64) media.Frame {
	t.Helper()
	f, err := os.Open(filepath.FromSlash("../expression/face/testdata/mean.jpg"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := jpeg.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	frame := media.Frame{Width: img.Bounds().Dx(), Height: img.Bounds().Dy(), Scale: 1}
	for i := range frame.Width * frame.Height {
		r, g, b, _ := img.At(i%frame.Width, i/frame.Width).RGBA()
		for _, x := range []uint32{r, g, b} {
			frame.RGB = append(frame.RGB, byte(float64(x>>8)*brightness))
		}
	}
	return frame
}

// filmOf passes these frames, each ten frames and a third of a second after the one before it.
func filmOf(all ...media.Frame) frames {
	return func(_ context.Context, _ float64, emit func(media.Frame) error) error {
		for i, f := range all {
			f.Number, f.Time = 10*i, time.Duration(i)*time.Second/3
			if err := emit(f); err != nil {
				return err
			}
		}
		return nil
	}
}

func TestFacesHaveFrameTimeAndBoxOfTheFile(t *testing.T) {
	a := withFaces(t, fakeNets{})
	one, small := portrait(t, 1), portrait(t, 1)
	small.Scale = 2.5 // the file is that much larger
	nobody := media.Frame{Width: 100, Height: 100, Scale: 1, RGB: make([]byte, 30_000)}
	got, meshes, err := a.faces(t.Context(), filmOf(one, nobody, small), Request{Models: contract.AllBatchModels()})
	if err != nil {
		t.Fatal(err)
	}
	groups := got.GroupedPredictions
	if len(groups) != 1 || groups[0].ID != "unknown" || len(groups[0].Predictions) != 2 {
		t.Fatalf("got %+v", groups)
	}
	first, second := groups[0].Predictions[0], groups[0].Predictions[1]
	if first.Frame != 0 || first.Time != 0 || second.Frame != 20 || second.Time != 0.6667 {
		t.Errorf("frames %d and %d at %v and %v", first.Frame, second.Frame, first.Time, second.Time)
	}
	// The face has 80 × 100 pixels of 160 × 200; its landmarks have 40 × 50 of the square around it.
	if b := first.Box; b.X < 55 || b.X > 65 || b.W < 35 || b.W > 45 || b.H < 55 || b.H > 65 {
		t.Errorf("the box is %+v", b)
	}
	if ratio := second.Box.W / first.Box.W; ratio < 2.4 || ratio > 2.6 {
		t.Errorf("a box in a larger file is %.2f times as wide", ratio)
	}
	if first.Emotions.Len() != 48 || scoreOf(first.Emotions, "Joy") < 0.5 || scoreOf(first.Emotions, "Awe") != 0.02 {
		t.Errorf("scores: %v", first.Emotions)
	}
	mesh := meshes.GroupedPredictions
	if len(mesh) != 1 || len(mesh[0].Predictions) != 2 ||
		!slices.Equal(mesh[0].Predictions[0].Emotions.Named(), first.Emotions.Named()) {
		t.Errorf("facemesh: %+v", mesh)
	}
}

func scoreOf(scores contract.Scores, name string) float64 {
	for known, score := range scores.All() {
		if known == name {
			return score
		}
	}
	return -1
}

func TestPersonsAreGroupsInTheOrderOfTheirAppearance(t *testing.T) {
	a := withFaces(t, fakeNets{})
	bright, dark := portrait(t, 1), portrait(t, 0.4)
	saved := map[string]int{}
	options := *contract.AllBatchModels().Face
	options.MinFaceSize = 30
	options.IdentifyFaces, options.SaveFaces, options.FACS = true, true, &contract.Unconfigurable{}
	got, meshes, err := a.faces(t.Context(), filmOf(dark, bright, dark, dark), Request{
		Models: contract.BatchModels{Face: &options},
		SaveFace: func(group string, frame int, file []byte) error {
			saved[fmt.Sprint(group, " ", frame)]++
			img, _, err := image.Decode(bytes.NewReader(file))
			if err == nil && (img.Bounds().Dx() < 60 || img.Bounds().Dx() > 80) {
				t.Errorf("a saved face has %v", img.Bounds())
			}
			return err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	groups := got.GroupedPredictions
	if len(groups) != 2 || groups[0].ID != "face_0" || groups[1].ID != "face_1" ||
		len(groups[0].Predictions) != 3 || groups[1].Predictions[0].Frame != 10 {
		t.Fatalf("got %+v", groups)
	}
	if len(saved) != 4 || saved["face_0 0"] != 1 || saved["face_1 10"] != 1 {
		t.Errorf("saved %v", saved)
	}
	if meshes != nil {
		t.Error("facemesh was not asked for")
	}
	// The persons are known in the next medium too, if the request says so.
	var people face.People
	for i, want := range []string{"face_0", "face_1", "face_0"} {
		got, _, err := a.faces(t.Context(), filmOf([]media.Frame{dark, bright, dark}[i]),
			Request{Models: contract.BatchModels{Face: &options}, People: &people})
		if err != nil || len(got.GroupedPredictions) != 1 || got.GroupedPredictions[0].ID != want {
			t.Errorf("medium %d: %+v, %v", i, got, err)
		}
	}
	text, err := json.Marshal(groups[0].Predictions[0])
	if err != nil || !strings.Contains(string(text), `"facs":[]`) || strings.Contains(string(text), "descriptions") {
		t.Errorf("facs were asked for, descriptions were not: %s, %v", text, err)
	}
}

func TestNetsThatAreNotInstalledAreMissing(t *testing.T) {
	a := withFaces(t, fakeNets{err: fmt.Errorf("onnx: %w", fs.ErrNotExist)})
	_, _, err := a.faces(t.Context(), filmOf(portrait(t, 1)), Request{Models: contract.AllBatchModels()})
	if _, ok := errors.AsType[*ErrMissing](err); !ok || !strings.Contains(err.Error(), "parley packs pull faces") {
		t.Errorf("got %v", err)
	}
	lost := func(context.Context, float64, func(media.Frame) error) error { return fs.ErrNotExist }
	_, _, err = a.faces(t.Context(), lost, Request{})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file gives %v", err)
	}
}

func TestAFileWithoutFacesHasAnEmptyList(t *testing.T) {
	a := withFaces(t, fakeNets{})
	got, meshes, err := a.faces(t.Context(), filmOf(), Request{Models: contract.AllBatchModels()})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(contract.ModelsPredictions{Face: got, Facemesh: meshes})
	if want := `{"face":{"grouped_predictions":[]},"facemesh":{"grouped_predictions":[]}}`; string(text) != want {
		t.Errorf("got %s, %v", text, err)
	}
}
