// Package voice says what voices are made of: which there are in the library,
// what a description in words makes of them, and how something is said. It makes
// no sound.
package voice

import "parley/appliance/audio/shape"

// Recipe is all that a voice is made of. The same recipe is the same voice.
type Recipe struct {
	// Parts are the voices of the library that are blended, by weight: at least
	// one, and several only of a model that blends.
	Parts []Part         `json:"parts"`
	Rate  float64        `json:"rate,omitempty"` // baseByID speech beside the voices' own; 0 is 1
	Shape shape.Settings `json:"shape,omitzero"`
}

// A Part of a blend. The weights of all of them make 1.
type Part struct {
	Voice  string  `json:"voice"` // id of a Base
	Weight float64 `json:"weight"`
}

// Single is the recipe of a voice of the library as it is.
func Single(id string) Recipe { return Recipe{Parts: []Part{{id, 1}}} }

// Manner is how something is said, whoever says it.
type Manner struct {
	Rate  float64 // baseByID speech beside the voice's own; 0 is 1
	Shape shape.Settings
}

// WithManner is the recipe of the voice that speaks in a manner.
func (r Recipe) WithManner(m Manner) Recipe {
	r.Rate = min(max(orOne(r.Rate)*orOne(m.Rate), minRate), maxRate)
	r.Shape = r.Shape.Plus(m.Shape)
	return r
}

// Beyond these nobody is understood.
const minRate, maxRate = 0.6, 1.7

func orOne(x float64) float64 {
	if x == 0 {
		return 1
	}
	return x
}
