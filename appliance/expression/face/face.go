package face

import (
	"context"
	"math"

	"parley/appliance/engine"
)

// Classes is the number of expressions that the nets tell apart, in the order of FER2013: angry,
// disgust, fear, happy, sad, surprise and neutral.
const Classes = 7

// Sides of the pictures that the nets take, in pixels.
const (
	colourSide   = 112
	greySide     = 64
	identitySide = 150
)

// Nets judge the picture of one face.
type Nets interface {
	// Landmarks returns the 68 points of the iBUG 300-W markup, as parts of the sides of the
	// picture: 112 × 112 pixels of 3 bytes.
	Landmarks(ctx context.Context, u *engine.Urgency, rgb []byte) ([68][2]float64, error)
	// Classes returns the probabilities of three nets. It takes a picture of 112 × 112 pixels of 3
	// bytes, and the same at 64 × 64 in grey.
	Classes(ctx context.Context, u *engine.Urgency, rgb, grey []byte) ([3][Classes]float64, error)
	// Identity returns a position in a space in which pictures of one person are near each other.
	// It takes a picture of 150 × 150 pixels of 3 bytes.
	Identity(ctx context.Context, u *engine.Urgency, rgb []byte) (Identity, error)
}

// Identity is the position of a face among all faces.
type Identity = [128]float32

// A Finder finds faces and measures their expressions. It is safe for concurrent use.
type Finder struct {
	detector *detector
	nets     Nets
}

// New returns a Finder. An error means that the embedded cascade is damaged.
func New(nets Nets, gate *engine.Gate) (*Finder, error) {
	d, err := newDetector(gate)
	if err != nil {
		return nil, err
	}
	return &Finder{d, nets}, nil
}

// Options say which faces are wanted.
type Options struct {
	MinSide        float64 // of the box, in pixels; smaller ones than 24 are not found
	MinProbability float64 // that it is a face, 0 to 1
	Identify       bool    // Identity is wanted
	Urgency        *engine.Urgency
}

// A Face is a face in a picture.
type Face struct {
	Box         Box
	Probability float64          // that it is a face
	Classes     [Classes]float64 // the probability of each expression
	Identity    Identity         // if it was asked for
}

// Find returns the faces in a picture, the most certain first.
func (f *Finder) Find(ctx context.Context, p Picture, o Options) ([]Face, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	found, err := f.detector.candidates(ctx, o.Urgency, p, o.MinSide)
	if err != nil {
		return nil, err
	}
	var faces []Face
	for _, c := range found {
		if c.probability() < o.MinProbability || c.box.Side < o.MinSide {
			continue
		}
		face, err := f.measure(ctx, p, c, o)
		if err != nil {
			return nil, err
		}
		faces = append(faces, face)
	}
	return faces, nil
}

// measure judges one face.
func (f *Finder) measure(ctx context.Context, p Picture, c candidate, o Options) (face Face, err error) {
	face.Box, face.Probability = c.box, c.probability()
	around := c.box.frame()
	points, err := f.nets.Landmarks(ctx, o.Urgency, p.cut(around, colourSide).RGB)
	if err != nil {
		return face, err
	}
	m := marksOf(points, around)
	expression := m.expressionFrame()
	each, err := f.nets.Classes(ctx, o.Urgency, p.cut(expression, colourSide).RGB, p.cut(expression, greySide).grey())
	if err != nil {
		return face, err
	}
	face.Classes = mean(each)
	if o.Identify {
		face.Identity, err = f.nets.Identity(ctx, o.Urgency, p.cut(m.identityFrame(), identitySide).RGB)
	}
	return face, err
}

// temperature makes the mean of the nets less sure: they are over-confident. It was fitted on
// FER2013's public test and checked on its private test.
const temperature = 1.3

// mean returns the mean of the nets, at temperature.
func mean(nets [3][Classes]float64) (p [Classes]float64) {
	var sum float64
	for i := range p {
		for _, net := range nets {
			p[i] += net[i] / float64(len(nets))
		}
		p[i] = math.Pow(p[i], 1/temperature)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}
