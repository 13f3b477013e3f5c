package voice

import (
	"slices"
	"strings"
	"unicode"
)

// KokoroPack is the pack whose voices can be blended.
const KokoroPack = "kokoro"

// Gender is the perceived gender of a voice; empty if unknown.
type Gender string

// The genders.
const (
	Female Gender = "Female"
	Male   Gender = "Male"
)

// Base is a voice of the library.
type Base struct {
	ID       string
	Name     string // for people; unique
	Pack     string // that contains it; empty if only servers have it
	Served   string // its name on servers; empty if none has it
	Style    string // the file of its style vector, without .bin; empty if the pack is a single voice
	Model    string // for people
	Language string // BCP 47; empty if unknown
	Gender   Gender
	PitchHz  float64 // mean; 0 if not measured
	Sounds   []string
}

// CanBlend reports whether the voice can be blended with others of its pack.
func (b Base) CanBlend() bool { return b.Style != "" }

// BaseOfPack returns the voice of a pack with a single voice: one that comes with Parley, or
// the operator's, of which only the name is known.
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

// BaseOnServer returns a voice that only servers have. language may be empty.
func BaseOnServer(name, model, language string) Base {
	return Base{ID: name, Name: name, Served: name, Model: model, Language: language}
}

// soundWords describes a voice compared with others of its gender, by its pitch in Hz and the
// variation of the pitch in semitones.
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

// Find returns the voice with an id, or with a name in any case. The "voice-" of a pack's id
// may be omitted.
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
