package llama

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
)

// The candidates of a draw: the likeliest topK tokens that together hold topP of the probability
// (nucleus sampling, arXiv:1904.09751). topK keeps the sorting short; topP rarely reaches that far.
const (
	topK = 40
	topP = 0.9
)

// sampler picks the tokens of one reply.
type sampler struct {
	temperature float64 // 0: always the likeliest token
	rng         *rand.Rand
	best        []candidate // buffer
}

// candidate is a token that may be drawn.
type candidate struct {
	token       Token
	logit       float32
	probability float64
}

// next picks a token; logits has one value for each token of the vocabulary.
func (s *sampler) next(logits []float32) (Token, error) {
	if s.temperature <= 0 {
		return likeliest(logits)
	}
	s.choose(logits)
	if len(s.best) == 0 {
		return 0, errNoLogits
	}
	return s.draw(), nil
}

var errNoLogits = errors.New("llama: the model computed no usable numbers: its file may be damaged")

func likeliest(logits []float32) (Token, error) {
	best, at := float32(math.Inf(-1)), -1
	for i, l := range logits {
		if l > best {
			best, at = l, i
		}
	}
	if at < 0 {
		return 0, errNoLogits
	}
	return Token(at), nil
}

// choose stores the candidates in s.best, likeliest first.
func (s *sampler) choose(logits []float32) {
	s.best = s.best[:0]
	floor := float32(math.Inf(-1))
	for i, l := range logits {
		if !(l > floor) { // NaN too
			continue
		}
		at, _ := slices.BinarySearchFunc(s.best, l, func(c candidate, l float32) int { return cmp.Compare(l, c.logit) })
		if len(s.best) == topK {
			s.best = s.best[:topK-1]
		}
		s.best = slices.Insert(s.best, at, candidate{token: Token(i), logit: l})
		if len(s.best) == topK {
			floor = s.best[topK-1].logit
		}
	}
	s.normalise(1)
	held := 0.0
	for i, c := range s.best {
		if held += c.probability; held >= topP {
			s.best = s.best[:i+1]
			break
		}
	}
	s.normalise(s.temperature)
}

// normalise sets the probability of every candidate at a temperature.
func (s *sampler) normalise(temperature float64) {
	sum := 0.0
	for i := range s.best {
		c := &s.best[i]
		c.probability = math.Exp(float64(c.logit-s.best[0].logit) / temperature)
		sum += c.probability
	}
	for i := range s.best {
		s.best[i].probability /= sum
	}
}

func (s *sampler) draw() Token {
	at := s.rng.Float64()
	for _, c := range s.best {
		if at -= c.probability; at < 0 {
			return c.token
		}
	}
	return s.best[0].token // only after rounding errors
}
