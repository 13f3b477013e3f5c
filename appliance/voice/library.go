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

// Blends reports whether the voice can be blended with others of its pack.
func (b Base) Blends() bool { return b.Style != "" }

// OfPack is the voice of a pack that has one: one of those that come with Parley,
// or the operator's, of which nothing but the name is known.
func OfPack(pack string) Base {
	b := Base{ID: pack, Name: titled(strings.TrimPrefix(pack, "voice-")), Pack: pack, Model: "Piper"}
	switch pack {
	case "voice-joe":
		b.Language, b.Gender, b.PitchHz = "en-US", Male, 105
	case "voice-jenny":
		b.Language, b.Gender, b.PitchHz = "en-GB", Female, 205
	case "voice-alan":
		b.Language, b.Gender, b.PitchHz = "en-GB", Male, 95
	}
	return b
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
