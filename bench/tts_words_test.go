package bench

import (
	"slices"
	"testing"

	"parley/appliance/engine/espeak"
	"parley/appliance/text"
)

// Numbers that an ear writes in figures are the words that were said, in each
// language in which voices are judged.
func TestNumbersAreHeardAsTheyAreSaid(t *testing.T) {
	for language, c := range map[string][2]string{
		"en": {"Breakfast is served until half past nine, for twenty minutes.",
			"Breakfast is served until half past 9 for 20 minutes."},
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

// Where an ear parts words, and which of two that sound alike it writes, is no
// mistake of the voice; what sounds otherwise is one.
func TestWhatSoundsAlikeIsNotMisheard(t *testing.T) {
	ph, err := espeak.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer ph.Close()
	for _, c := range []struct {
		language, said, heard string
		wrong                 int
	}{
		{"it", "la borsa al guardaroba", "la borsa al guarda roba", 0},
		{"it", "il cielo è sereno", "il cielo esereno", 0},
		{"it", "fino alle nove e mezza", "fino alle 9 e 30", 0},
		{"it", "due manoscritti preziosi", "due mano scritti prezzi", 1},
		{"it", "dietro l'edificio", "dietro le difficile", 2},
		{"fr", "le magasin ferme à midi", "le magasin fermé a midi", 1},
		{"fr", "de peintres italiens", "de peintre italien", 0},
		{"fr", "les enfants", "le enfant", 1},
		{"fr", "je suis désolé restez en ligne le train part", "je suis désolée restés en ligne le train par", 0},
		{"fr", "l'arrêt de bus", "la raie de bus", 0},
		{"fr", "cet après midi", "c'est après midi", 2},
		{"pt", "aberta à noite", "aberta a noite", 0},
		{"pt", "até as nove e meia", "até as 9,5", 0},
		{"pt", "é bom", "e bom", 1},
		{"en", "into it", "in to it", 0},
		{"en", "one two three", "", 3},
	} {
		if n := misheard(asSaid(c.said, c.language), asSaid(c.heard, c.language),
			judging{sounds: soundsOf(ph, c.language)}.alike(t.Context())); n != c.wrong {
			t.Errorf("%s: %q heard as %q: %d wrong, want %d", c.language, c.said, c.heard, n, c.wrong)
		}
	}
}
