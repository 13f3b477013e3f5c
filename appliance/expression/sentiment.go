package expression

import (
	"encoding/binary"
	"math"
)

// SentimentSteps is how many steps a sentiment has, from very bad to very good; the one in the middle is neutral.
const SentimentSteps = 9

const (
	ratings        = 2           // that the model predicts: the mean, and the share of those who find nothing
	sentimentTerms = 1 + ratings // of the logit of a step: a bias and a weight for each rating
)

// sentimentModel predicts two figures about the ratings that people would give a text, by a linear regression of each
// over the features of the text model, and from them the share of each step, by a softmax.
type sentimentModel struct {
	scale, bias [ratings]float64
	steps       [sentimentTerms][SentimentSteps]float64
	weights     []byte // int8, ratings for each bucket
}

// newSentimentModel parses weights: scales, biases, and the terms of the steps (little-endian float32); then the int8
// weights, bucket by bucket.
func newSentimentModel(data []byte) (m sentimentModel) {
	next := func(to []float64) {
		for i := range to {
			to[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data)))
			data = data[4:]
		}
	}
	next(m.scale[:])
	next(m.bias[:])
	for i := range m.steps {
		next(m.steps[i][:])
	}
	m.weights = data
	return m
}

// ratings predicts the two figures for the features of a text.
func (m sentimentModel) ratings(of textModel, features []uint16) (r [ratings]float64) {
	for _, bucket := range features {
		for i, w := range m.weights[int(bucket)*ratings:][:ratings] {
			r[i] += of.weight(bucket) * float64(int8(w))
		}
	}
	length := of.length(features)
	for i := range r {
		r[i] = r[i]/length*m.scale[i] + m.bias[i]
	}
	return r
}

// shares returns the share of each step, which sum to 1.
func (m sentimentModel) shares(r [ratings]float64) (p [SentimentSteps]float64) {
	var sum float64
	for i := range p {
		z := m.steps[0][i]
		for k, v := range r {
			z += v * m.steps[1+k][i]
		}
		p[i] = math.Exp(z)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}
