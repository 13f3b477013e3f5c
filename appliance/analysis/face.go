package analysis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"parley/appliance/contract"
	"parley/appliance/expression/face"
	"parley/appliance/media"
)

// maxFaces bounds the faces of one file: three in each frame of three hours at the default rate. Their predictions
// take 47 MB, and some 85 MB while they are made. As JSON they have 190 MB, which most clients read whole.
const maxFaces = 100_000

// frames passes a picture, or frames of a video at a rate, to emit in their order.
type frames func(ctx context.Context, fps float64, emit func(media.Frame) error) error

// A seenFace is a face in a frame.
type seenFace struct {
	frame, person int32
	time          float64 // seconds
	probability   float32
	box           [4]float32 // x, y, width and height, in pixels of the file
	classes       [face.Classes]float32
}

// faces finds the faces of a picture or video and scores them, for the models face and facemesh; nil for
// one that was not asked for. Each person is a group if the request asks for that, else all faces are one
// group.
func (a *Analyser) faces(ctx context.Context, in frames, r Request) (
	*contract.ModelPredictions[contract.FacePrediction], *contract.ModelPredictions[contract.FacemeshPrediction],
	error) {
	if a.Faces == nil {
		return nil, nil, missingFaces()
	}
	o := faceOptions(r.Models)
	w := faceCollector{
		Analyser: a,
		request:  r,
		options:  o,
		people:   cmp.Or(r.People, &face.People{}),
	}
	err := in(ctx, o.FPSPred, func(f media.Frame) error { return w.frame(ctx, f) })
	if err != nil {
		return nil, nil, err
	}
	ofFaces, ofMeshes := w.predictions()
	return ofFaces, ofMeshes, nil
}

func missingFaces() error {
	return &ErrMissing{What: "the nets for faces", How: "parley packs pull faces"}
}

// faceOptions returns the options of the model face. Facemesh has none: those of face hold for both,
// or the defaults.
func faceOptions(m contract.BatchModels) contract.BatchFace {
	if m.Face != nil {
		return *m.Face
	}
	return *contract.AllBatchModels().Face
}

// faceCollector collects the faces of one frame after the other. It stores 68 bytes for each face that it sees.
type faceCollector struct {
	*Analyser
	request Request
	options contract.BatchFace
	people  *face.People
	seen    []seenFace
}

func (w *faceCollector) frame(ctx context.Context, f media.Frame) error {
	picture := face.Picture{Width: f.Width, Height: f.Height, RGB: f.RGB}
	o := face.Options{
		MinSide:        float64(w.options.MinFaceSize) / f.Scale,
		MinProbability: w.options.ProbThreshold,
		Identify:       w.options.IdentifyFaces,
	}
	if w.request.Urgency != nil {
		o.Urgency = w.request.Urgency()
	}
	found, err := w.Faces.Find(ctx, picture, o)
	if errors.Is(err, fs.ErrNotExist) {
		return missingFaces()
	}
	if err != nil {
		return err
	}
	if len(w.seen)+len(found) > maxFaces {
		return &Error{fmt.Sprintf("it shows more than %d faces in %v frames a second: ask for fewer (fps_pred)",
			maxFaces, w.options.FPSPred)}
	}
	slices.SortFunc(found, func(a, b face.Face) int { return cmp.Compare(a.Box.X, b.Box.X) })
	var persons []int
	if w.options.IdentifyFaces {
		persons = w.people.Recognise(found)
	}
	for i, one := range found {
		s := seenFace{
			frame:       int32(f.Number),
			time:        f.Time.Seconds(),
			probability: float32(one.Probability),
		}
		for k, v := range []float64{one.Box.X, one.Box.Y, one.Box.Width, one.Box.Height} {
			s.box[k] = float32(v * f.Scale)
		}
		if persons != nil {
			s.person = int32(persons[i])
		}
		for c, p := range one.Classes {
			s.classes[c] = float32(p)
		}
		w.seen = append(w.seen, s)
		if err := w.save(picture, one, s); err != nil {
			return err
		}
	}
	return nil
}

// save stores the picture of a face, if that is wanted.
func (w *faceCollector) save(p face.Picture, f face.Face, s seenFace) error {
	if w.request.SaveFace == nil || !w.options.SaveFaces {
		return nil
	}
	picture, err := p.JPEG(f.Box)
	if err != nil {
		return err
	}
	return w.request.SaveFace(w.group(s), int(s.frame), picture)
}

func (w *faceCollector) group(s seenFace) string {
	if !w.options.IdentifyFaces {
		return contract.UnknownGroup
	}
	return fmt.Sprintf("face_%d", s.person)
}

// predictions returns the predictions of both models, in groups in the order of their first faces.
func (w *faceCollector) predictions() (ofFaces *contract.ModelPredictions[contract.FacePrediction],
	ofMeshes *contract.ModelPredictions[contract.FacemeshPrediction]) {
	faces, meshes := []contract.Grouped[contract.FacePrediction]{}, []contract.Grouped[contract.FacemeshPrediction]{}
	places := map[int32]int{} // of the persons in these
	models := w.request.Models
	for _, s := range w.seen {
		place, ok := places[s.person]
		if !ok {
			place = len(places)
			places[s.person] = place
			faces = append(faces, contract.Grouped[contract.FacePrediction]{ID: w.group(s)})
			meshes = append(meshes, contract.Grouped[contract.FacemeshPrediction]{ID: w.group(s)})
		}
		var classes [face.Classes]float64
		for i, p := range s.classes {
			classes[i] = float64(p)
		}
		scores := w.Meter.Face(classes).List()
		if f := &faces[place]; models.Face != nil {
			f.Predictions = append(f.Predictions, w.prediction(s, scores))
		}
		if m := &meshes[place]; models.Facemesh != nil {
			m.Predictions = append(m.Predictions, contract.FacemeshPrediction{Emotions: scores})
		}
	}
	if models.Face != nil {
		ofFaces = &contract.ModelPredictions[contract.FacePrediction]{GroupedPredictions: faces}
	}
	if models.Facemesh != nil {
		ofMeshes = &contract.ModelPredictions[contract.FacemeshPrediction]{GroupedPredictions: meshes}
	}
	return ofFaces, ofMeshes
}

func (w *faceCollector) prediction(s seenFace, scores contract.Scores) contract.FacePrediction {
	p := contract.FacePrediction{
		Frame: int(s.frame),
		Time:  rounded(s.time, 4),
		Prob:  rounded(float64(s.probability), 4),
		Box: contract.BoundingBox{
			X: rounded(float64(s.box[0]), 1),
			Y: rounded(float64(s.box[1]), 1),
			W: rounded(float64(s.box[2]), 1),
			H: rounded(float64(s.box[3]), 1),
		},
		Emotions: scores,
	}
	if w.options.FACS != nil {
		p.FACS = contract.ScoresOf()
	}
	if w.options.Descriptions != nil {
		p.Descriptions = contract.ScoresOf()
	}
	return p
}

// rounded rounds to that many decimals.
func rounded(x float64, decimals int) float64 {
	scale := math.Pow10(decimals)
	return math.Round(x*scale) / scale
}
