package bench

import (
	"slices"
	"testing"

	"parley/appliance/text"
)

// Numbers that an ear writes in figures are the words that were said, in each
// language in which voices are judged.
func TestNumbersAreHeardAsTheyAreSaid(t *testing.T) {
	for language, c := range map[string][2]string{
		"en": {"Breakfast is served until half past nine, for twenty minutes.", "Breakfast is served until half past 9 for 20 minutes."},
		"es": {"El museo abre a las diez. Unos veinte minutos.", "El museo abre a las 10. Unos 20 minutos."},
		"fr": {"Le musée ouvre à dix heures.", "Le musée ouvre à 10h."},
		"it": {"Ogni quindici minuti.", "Ogni 15 minuti."},
		"pt": {"O museu abre às dez horas.", "O museu abre às 10 horas."},
		"hi": {"सुबह दस बजे", "सुबह 10 बजे"},
	} {
		want, heard := asSaid(c[0], language), asSaid(c[1], language)
		if n := text.WordErrors(want, heard); n > 0 || len(want) < 3 || slices.Contains(heard, "10") {
			t.Errorf("%s: %q beside %q: %d wrong", language, want, heard, n)
		}
	}
}
