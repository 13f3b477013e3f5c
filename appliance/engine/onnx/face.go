package onnx

import (
	"context"
	"errors"
	"path/filepath"

	"parley/appliance/engine"
)

// Faces are the nets that find faces, and judge the picture of one: its expression, its landmarks and
// whose it is. They were published as files of weights; their graphs are built when a net is first used. Faces
// is safe for concurrent use.
type Faces struct {
	gate *engine.Gate

	detector, dense, landmarks, fer, emotion, identity *faceNet
}

// OpenFaces returns the nets in the folder of the pack. It reads nothing yet.
func OpenFaces(rt *Runtime, dir string, gate *engine.Gate) *Faces {
	open := func(weights, manifest string, graph func(map[string]weightTensor) (builtGraph, error)) *faceNet {
		if manifest != "" {
			manifest = filepath.Join(dir, manifest)
		}
		return newFaceNet(rt, filepath.Join(dir, weights), manifest, graph, gate.Cores())
	}
	return &Faces{
		gate:      gate,
		detector:  open("face_detector.bin", "face_detector.json", detectorNet),
		dense:     open("face_expression.bin", "face_expression.json", denseNet),
		landmarks: open("face_landmarks.bin", "face_landmarks.json", denseNet),
		identity:  open("face_recognition.bin", "face_recognition.json", identityNet),
		emotion:   open("emotion.bin", "emotion.json", emotionNet),
		fer:       open("fer.hdf5", "", ferNet),
	}
}

// Close releases the memory. No call may be running.
func (f *Faces) Close() error {
	return errors.Join(f.detector.Close(), f.dense.Close(), f.landmarks.Close(), f.fer.Close(), f.emotion.Close(),
		f.identity.Close())
}

// Classes returns the probabilities of the classes of FaceClass, in its order, from three nets. rgb
// is a picture of FaceSide, 3 bytes a pixel; grey is the same face at GreyFaceSide, 1 byte a pixel.
// It holds one core for some 6 ms.
func (f *Faces) Classes(ctx context.Context, u *engine.Urgency, rgb, grey []byte) (p [3][FaceClasses]float64,
	err error) {
	// The order of the outputs of the nets.
	order := [3][FaceClasses]FaceClass{
		{FaceNeutral, FaceHappy, FaceSad, FaceAngry, FaceFear, FaceDisgust, FaceSurprise},
		{FaceAngry, FaceDisgust, FaceFear, FaceHappy, FaceSad, FaceSurprise, FaceNeutral},
		{FaceAngry, FaceDisgust, FaceFear, FaceHappy, FaceSad, FaceSurprise, FaceNeutral},
	}
	err = f.gate.Do(ctx, u, 1, func() error {
		for i, n := range []*faceNet{f.dense, f.fer, f.emotion} {
			picture, fill := grey, greyPlane
			if n == f.dense {
				picture, fill = rgb, facePlanes
			}
			err := n.run(picture, fill, func(output []float32) {
				for j, class := range order[i] {
					p[i][class] = float64(output[j])
				}
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return p, err
}

// A FaceClass is one of the expressions that the nets tell apart.
type FaceClass int

// The classes, in the order of FER2013.
const (
	FaceAngry FaceClass = iota
	FaceDisgust
	FaceFear
	FaceHappy
	FaceSad
	FaceSurprise
	FaceNeutral
)

// Landmarks returns the 68 points of a face, with the numbers of the iBUG 300-W markup, as shares
// of the width and height of the picture. rgb is a picture of FaceSide.
func (f *Faces) Landmarks(ctx context.Context, u *engine.Urgency, rgb []byte) (points [landmarkSize / 2][2]float64,
	err error) {
	err = f.gate.Do(ctx, u, 1, func() error {
		return f.landmarks.run(rgb, facePlanes, func(output []float32) {
			for i := range points {
				points[i] = [2]float64{float64(output[2*i]), float64(output[2*i+1])}
			}
		})
	})
	return points, err
}

// Identity returns the position of a face in a space in which pictures of one person are less than
// about 0.6 apart. rgb is a picture of IdentitySide. It holds one core for some 13 ms.
func (f *Faces) Identity(ctx context.Context, u *engine.Urgency, rgb []byte) (at [identitySize]float32, err error) {
	err = f.gate.Do(ctx, u, 1, func() error {
		return f.identity.run(rgb, facePlanes, func(output []float32) { copy(at[:], output) })
	})
	return at, err
}

// The means of the pictures on which face-api trained its nets, and its detector.
var (
	faceMean     = [3]float32{122.782, 117.001, 104.298}
	detectorMean = [3]float32{117.001, 114.697, 97.404}
)

// colourPlanes normalises a picture of 3 bytes a pixel as face-api does: minus a mean, by 255, one
// plane a colour.
func colourPlanes(planes []float32, rgb []byte, mean [3]float32) {
	n := len(planes) / 3
	for c := range 3 {
		for i := range n {
			planes[c*n+i] = (float32(rgb[3*i+c]) - mean[c]) / 255
		}
	}
}

// facePlanes normalises the picture of a face.
func facePlanes(planes []float32, rgb []byte) { colourPlanes(planes, rgb, faceMean) }

// greyPlane scales a grey picture to -1 … 1.
func greyPlane(plane []float32, grey []byte) {
	for i := range plane {
		plane[i] = float32(grey[i])/127.5 - 1
	}
}
