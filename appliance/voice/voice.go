// Package voice has the ingredients of voices: the library, designs made from descriptions, and
// directions on how something is said. It makes no sound.
package voice

import "parley/appliance/audio/shape"

// Recipe is all that a voice is made of. Equal recipes make the same voice.
type Recipe struct {
	// Parts are the library voices that are blended, by weight: at least one, and several only
	// for a model that can blend.
	Parts []Part         `json:"parts"`
	Rate  float64        `json:"rate,omitempty"` // of speech, relative to the voices' own; 0 is 1
	Shape shape.Settings `json:"shape,omitzero"`
}

// Part is a part of a blend. The weights of all parts add up to 1.
type Part struct {
	Voice  string  `json:"voice"` // id of a Base
	Weight float64 `json:"weight"`
}

// Single returns the recipe of an unaltered voice of the library.
func Single(id string) Recipe { return Recipe{Parts: []Part{{id, 1}}} }

// Manner is how something is said, whoever says it.
type Manner struct {
	Rate  float64 // of speech, relative to the voice's own; 0 is 1
	Shape shape.Settings
}

// WithManner returns the recipe of the voice speaking in a manner.
func (r Recipe) WithManner(m Manner) Recipe {
	r.Rate = min(max(orOne(r.Rate)*orOne(m.Rate), minRate), maxRate)
	r.Shape = r.Shape.Plus(m.Shape)
	return r
}

// Beyond these rates speech is not intelligible.
const minRate, maxRate = 0.6, 1.7

func orOne(x float64) float64 {
	if x == 0 {
		return 1
	}
	return x
}
