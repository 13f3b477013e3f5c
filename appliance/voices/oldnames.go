package voices

import (
	_ "embed"
	"math"
	"slices"
	"strings"
	"sync"

	"parley/appliance/voice"
	"parley/store"
)

//go:embed oldnames.tsv
var oldNamesTable string

// oldNames returns the voices of the cloud library that Parley replaces, under the names
// that public programs and documentation use.
var oldNames = sync.OnceValue(func() []oldVoice { return readOldNames(oldNamesTable) })

// oldVoice is a voice of the cloud library.
type oldVoice struct {
	name, folded string     // as store.FoldedName folds names to compare them
	id           string     // empty if it is not known
	like         voice.Base // the voice of this library that stands in, or the one most similar to it
}

func readOldNames(table string) (all []oldVoice) {
	ours := append(voice.Kokoro(),
		voice.BaseOfPack("voice-joe"), voice.BaseOfPack("voice-jenny"), voice.BaseOfPack("voice-alan"))
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSpace(line), "\t")
		like, _ := voice.Find(ours, f[5])
		all = append(all, oldVoice{f[0], store.FoldedName(f[0]), strings.TrimPrefix(f[1], "-"), like})
	}
	return all
}

// is reports whether a folded name is the name or the id of the voice.
func (o oldVoice) is(folded string) bool {
	return folded != "" && (o.folded == folded || o.id == folded)
}

// oldVoiceOf returns the voice of the cloud library with that name or id.
func oldVoiceOf(asked string) (oldVoice, bool) {
	all, folded := oldNames(), store.FoldedName(asked)
	i := slices.IndexFunc(all, func(o oldVoice) bool { return o.is(folded) })
	if i < 0 {
		return oldVoice{}, false
	}
	return all[i], true
}

// nearest returns the voice of a library that is most similar to like, which may not be in
// the library. It returns false if the library is empty.
func nearest(library []voice.Base, like voice.Base) (voice.Base, bool) {
	if len(library) == 0 {
		return voice.Base{}, false
	}
	return slices.MinFunc(library, func(a, b voice.Base) int {
		return int(1000 * (unlikeness(a, like) - unlikeness(b, like)))
	}), true
}

// unlikeness returns how different two voices are. A different language counts more than a
// different gender, the gender more than the accent, and the accent more than the pitch in
// Hz, which is between 80 and 220 for people.
func unlikeness(a, b voice.Base) float64 {
	if a.ID == b.ID {
		return -1
	}
	d := math.Abs(a.PitchHz - b.PitchHz)
	if a.Language != b.Language {
		d += 500
	}
	if a.Gender != b.Gender {
		d += 2000
	}
	if a.LanguageName() != b.LanguageName() {
		d += 8000
	}
	return d
}
