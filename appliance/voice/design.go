package voice

import (
	"cmp"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"parley/appliance/audio/shape"
)

// Direct interprets a description as a direction: how something is said, whoever says it.
// Unknown words, and words about who speaks, change nothing.
func Direct(description string) Manner { return newLexicon().interpret(description, false).manner() }

// Design makes a voice from a description, out of the voices of a library, which must not be
// empty. The candidates (0, 1, …) of a description sound different; the same library,
// description, candidate and seed give the same voice.
func Design(library []Base, description string, candidate int, seed int64) Recipe {
	want := newLexicon().interpret(description, true)
	hash := fnv.New64a()
	hash.Write([]byte(strings.ToLower(description)))
	random := rand.New(rand.NewPCG(uint64(seed), hash.Sum64()))
	gender := want.gender
	if gender == "" { // alternate
		gender = []Gender{Female, Male}[(random.IntN(2)+candidate)%2]
	}
	pool := suitable(library, gender, want)
	jitter := map[string]float64{}
	for _, b := range pool {
		jitter[b.ID] = 2 * random.Float64()
	}
	slices.SortStableFunc(pool, func(a, b Base) int {
		return cmp.Compare(distance(a, gender, want)+jitter[a.ID], distance(b, gender, want)+jitter[b.ID])
	})
	chance := random.Float64()
	parts, blended := blend(pool, candidate, random)
	r := Recipe{Parts: parts}
	m := want.manner()
	r.Rate, r.Shape = m.Rate, m.Shape.Plus(ageShape(want.age, gender))
	if has := baseByID(library, parts[0].Voice).Gender; has == gender || has == "" {
		r.Shape.Pitch = pitchShift(r.Shape.Pitch, pitchOf(library, parts), gender)
	} else { // the library has no such gender
		r.Shape = r.Shape.Plus(crossGender(gender))
	}
	r.Shape = r.Shape.Plus(candidateShape(candidate, blended)).Plus(
		shape.Settings{Pitch: chance - 0.5, Formant: (chance - 0.5) / 2})
	for _, x := range []*float64{&r.Rate, &r.Shape.Pitch, &r.Shape.Formant, &r.Shape.Range, &r.Shape.Breath,
		&r.Shape.Rough, &r.Shape.Pauses} {
		*x = math.Round(*x*100) / 100 // people read recipes
	}
	return r
}

// suitable returns the voices of a library with the requested gender and accent, as far as
// there are any.
func suitable(library []Base, gender Gender, want interpretation) []Base {
	accent := cmp.Or(want.accent, "en")
	pool := slices.Clone(library)
	for _, is := range []func(Base) bool{
		func(b Base) bool { return b.Gender == gender },
		func(b Base) bool { return strings.HasPrefix(b.Language, accent) },
		func(b Base) bool { return b.CanBlend() },
	} {
		if fit := slices.DeleteFunc(slices.Clone(pool), func(b Base) bool { return !is(b) }); len(fit) > 0 {
			pool = fit
		}
	}
	return pool
}

// The mean pitch of men's and women's voices, in Hz.
const meanMale, meanFemale = 115, 200

func meanOf(g Gender) float64 {
	if g == Male {
		return meanMale
	}
	return meanFemale
}

// semitonesAboveMean returns how many semitones a pitch is above the mean of a gender; 0 for an
// unknown pitch.
func semitonesAboveMean(hz float64, g Gender) float64 {
	if hz == 0 {
		return 0
	}
	return 12 * math.Log2(hz/meanOf(g))
}

// distance returns how far a voice is from the requested pitch, in semitones.
func distance(b Base, g Gender, want interpretation) float64 {
	return math.Abs(semitonesAboveMean(b.PitchHz, g) - want.shape.Pitch)
}

// pitchShift returns by how many semitones to move a voice so that it is shift semitones from
// the mean. What the voice already has of the shift is not added again.
func pitchShift(shift, hz float64, g Gender) float64 {
	has := semitonesAboveMean(hz, g)
	switch {
	case shift > 0 && has > 0:
		return max(shift-has, 0)
	case shift < 0 && has < 0:
		return min(shift-has, 0)
	}
	return shift
}

// blend chooses the voices of a candidate from a pool, which is sorted by suitability: two if
// they can be blended. No two candidates have the same voices while there are enough.
func blend(pool []Base, candidate int, random *rand.Rand) (parts []Part, blended bool) {
	weights := make([]float64, candidate+1)
	for i := range weights {
		weights[i] = 0.55 + 0.3*random.Float64()
	}
	if len(pool) < 2 || !pool[0].CanBlend() {
		return []Part{{pool[candidate%len(pool)].ID, 1}}, len(pool) > candidate
	}
	first, second := pool[2*candidate%len(pool)], pool[(2*candidate+1)%len(pool)]
	w := math.Round(100*weights[candidate]) / 100
	return []Part{{first.ID, w}, {second.ID, math.Round(100*(1-w)) / 100}}, len(pool) > 2*candidate
}

// candidateShape makes candidates sound different; more so if they use the same voice.
func candidateShape(candidate int, blended bool) shape.Settings {
	way := []float64{0, 1, -1, 2, -2}[candidate%5]
	if blended {
		way /= 2
	}
	return shape.Settings{Pitch: 1.6 * way, Formant: 0.9 * way}
}

// ageShape returns how an age alters a voice. Children have higher voices and shorter throats;
// with age, men's voices rise and women's fall (Linville, "Vocal Aging", 2001), and all become
// rougher.
func ageShape(a age, g Gender) shape.Settings {
	switch a {
	case child:
		s := shape.Settings{
			Pitch:   4.5,
			Formant: 2.8,
			Range:   0.15,
			Warmth:  -2,
		}
		if g == Male { // from a man's to a boy's
			s.Pitch, s.Formant = 11, 4.5
		}
		return s
	case teen:
		return shape.Settings{Pitch: 1.5, Formant: 0.8, Range: 0.1}
	case young:
		return shape.Settings{Pitch: 0.5, Brightness: 0.5}
	case middle:
		return shape.Settings{Pitch: -0.8, Warmth: 0.5}
	case old:
		s := shape.Settings{
			Pitch:      -1.5,
			Rough:      0.3,
			Breath:     0.15,
			Brightness: -1.5,
			Pauses:     0.2,
		}
		if g == Male {
			s.Pitch = 0.8
		}
		return s
	}
	return shape.Settings{}
}

// crossGender turns a voice into one of the other gender, by the distances of their mean pitch
// and of their resonances (Peterson and Barney, 1952: 17 %).
func crossGender(to Gender) shape.Settings {
	if to == Male {
		return shape.Settings{Pitch: -8.5, Formant: -2.6}
	}
	return shape.Settings{Pitch: 8.5, Formant: 2.6}
}

func baseByID(library []Base, id string) Base {
	b, _ := Find(library, id)
	return b
}

func pitchOf(library []Base, parts []Part) float64 {
	bases := make([]Base, len(parts))
	for i, p := range parts {
		bases[i] = baseByID(library, p.Voice)
	}
	return PitchOf(bases, parts)
}

// PitchOf returns the mean pitch of a blend of voices in Hz, or 0 if the pitch of one is
// unknown.
func PitchOf(bases []Base, parts []Part) float64 {
	sum, weights := 0.0, 0.0
	for i, b := range bases {
		if b.PitchHz == 0 {
			return 0
		}
		sum += parts[i].Weight * math.Log(b.PitchHz)
		weights += parts[i].Weight
	}
	return math.Exp(sum / weights)
}
