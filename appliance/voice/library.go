package voice

import (
	"slices"
	"strings"
	"unicode"
)

// KokoroPack is the pack whose voices can be blended.
const KokoroPack = "kokoro"

// Gender is what people hear in a voice; empty where it is not known.
type Gender string

// The genders.
const (
	Female Gender = "Female"
	Male   Gender = "Male"
)

// Base is a voice of the library.
type Base struct {
	ID       string
	Name     string // for people; no two are the same
	Pack     string // that it is in
	Style    string // the file of its style vector, without .bin; empty where the pack is one voice
	Model    string // for people
	Language string // BCP 47; empty where it is not known
	Gender   Gender
	PitchHz  float64 // in the mean; 0 where nobody has measured it
	Sounds   []string
}

// CanBlend reports whether the voice can be blended with others of its pack.
func (b Base) CanBlend() bool { return b.Style != "" }

// BaseOfPack is the voice of a pack that has one: one of those that come with Parley,
// or the operator's, of which nothing but the name is known.
func BaseOfPack(pack string) Base {
	b := Base{
		ID:    pack,
		Name:  titled(strings.TrimPrefix(pack, "voice-")),
		Pack:  pack,
		Model: "Piper",
	}
	moves := 0.0
	switch pack {
	case "voice-joe":
		b.Language, b.Gender, b.PitchHz, moves = "en-US", Male, 92, 2.5
	case "voice-jenny":
		b.Language, b.Gender, b.PitchHz, moves = "en-GB", Female, 187, 2.2
	case "voice-alan":
		b.Language, b.Gender, b.PitchHz, moves = "en-GB", Male, 100, 1.8
	}
	b.Sounds = soundWords(b.Gender, b.PitchHz, moves)
	return b
}

// soundWords is how a voice sounds beside others of its gender, by its pitch in Hz and
// how far that moves, in semitones.
func soundWords(g Gender, hz, moves float64) (all []string) {
	if hz == 0 {
		return nil
	}
	switch is := semitonesAboveMean(hz, g); {
	case is < -2.5 && g == Male:
		all = append(all, "deep")
	case is < -2.5:
		all = append(all, "low")
	case is > 2.5:
		all = append(all, "high")
	}
	switch {
	case moves >= 4.2:
		all = append(all, "lively")
	case moves <= 2.6:
		all = append(all, "even")
	}
	return all
}

func titled(name string) string {
	letters := []rune(strings.ReplaceAll(name, "-", " "))
	if len(letters) > 0 {
		letters[0] = unicode.ToUpper(letters[0])
	}
	return string(letters)
}

// Find returns the voice of an id or of a name in any case. A pack's name may be
// without its "voice-".
func Find(library []Base, name string) (Base, bool) {
	for _, is := range []func(Base) bool{
		func(b Base) bool { return b.ID == name },
		func(b Base) bool { return strings.EqualFold(b.Name, name) },
		func(b Base) bool { return b.ID == "voice-"+name },
	} {
		if i := slices.IndexFunc(library, is); i >= 0 {
			return library[i], true
		}
	}
	return Base{}, false
}
