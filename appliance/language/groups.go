package language

import "strings"

// asksForGroups are what people say in groups with pauses between them, as
// questions for it name it, in the languages of the table. Plain leaves out accents.
var asksForGroups = map[string][]string{
	"en": {"number", "numbers", "code", "address", "zip", "postcode", "postal", "pin", "digits", "iban", "passport",
		"plate", "serial", "spell", "reference"},
	"de": {"nummer", "adresse", "anschrift", "postleitzahl", "code", "pin", "iban", "kennzeichen", "ziffern",
		"buchstabieren"},
	"fr": {"numero", "adresse", "code", "postal", "iban", "reference", "plaque", "chiffres", "epeler"},
	"es": {"numero", "direccion", "codigo", "postal", "iban", "referencia", "matricula", "digitos", "deletrear"},
	"it": {"numero", "indirizzo", "codice", "cap", "iban", "targa", "cifre", "sillabare"},
	"pt": {"numero", "morada", "endereco", "codigo", "postal", "cep", "iban", "matricula", "digitos", "soletrar"},
	"nl": {"nummer", "adres", "code", "postcode", "iban", "kenteken", "cijfers", "spellen"},
}

// AsksForGroups reports whether a text, in whatever language, asks for what people
// say in groups: a number, a code, an address, a name letter by letter.
func AsksForGroups(text string) bool {
	for _, word := range strings.Fields(Plain(text)) {
		for tag, words := range asksForGroups {
			for _, w := range words {
				compound := (tag == "de" || tag == "nl") && len(w) > 4 && strings.HasSuffix(word, w)
				if word == w || compound {
					return true
				}
			}
		}
	}
	return false
}
