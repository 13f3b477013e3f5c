package text

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// numerals are the words for numbers of a language, in the masculine before a noun: from
// zero on, the tens, and the hundreds, of which the first has no others behind it.
type numerals struct {
	small, tens, hundreds []string
	and, behindHundred    string
}

var (
	frenchNumerals = numerals{
		small: strings.Fields(
			"zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze" +
				" seize dix-sept dix-huit dix-neuf"),
		tens: strings.Fields("- - vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt"),
	}
	spanishNumerals = numerals{
		small: strings.Fields(
			"cero un dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince" +
				" dieciséis diecisiete dieciocho diecinueve veinte veintiún veintidós veintitrés veinticuatro " +
				"veinticinco" +
				" veintiséis veintisiete veintiocho veintinueve"),
		tens: strings.Fields("- - - treinta cuarenta cincuenta sesenta setenta ochenta noventa"),
		hundreds: strings.Fields("cien ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos" +
			" ochocientos novecientos"),
		and:           " y ",
		behindHundred: " ",
	}
	portugueseNumerals = numerals{
		small: strings.Fields("zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze" +
			" dezesseis dezessete dezoito dezenove"),
		tens: strings.Fields("- - vinte trinta quarenta cinquenta sessenta setenta oitenta noventa"),
		hundreds: strings.Fields(
			"cem cento duzentos trezentos quatrocentos quinhentos seiscentos setecentos oitocentos" +
				" novecentos"),
		and:           " e ",
		behindHundred: " e ",
	}
	spanishPlaces = strings.Fields(
		"- primero segundo tercero cuarto quinto sexto séptimo octavo noveno décimo undécimo" +
			" duodécimo")
	spanishTenths = strings.Fields("- décimo vigésimo trigésimo cuadragésimo quincuagésimo sexagésimo septuagésimo" +
		" octogésimo nonagésimo")
	italianPlaces = strings.Fields("- primo secondo terzo quarto quinto sesto settimo ottavo nono decimo undicesimo" +
		" dodicesimo tredicesimo quattordicesimo quindicesimo sedicesimo diciassettesimo diciottesimo diciannovesimo" +
		" ventesimo ventunesimo")
)

// gendered gives the last word of a numeral its feminine ending.
func gendered(words string, feminine bool) string {
	for _, ending := range [...][2]string{{"ún", "una"}, {"un", "una"}, {"um", "uma"}, {"dois", "duas"},
		{"tos", "tas"}} {
		if base, ok := strings.CutSuffix(words, ending[0]); ok && feminine {
			return base + ending[1]
		}
	}
	return words
}

// words writes a number below a million.
func (w numerals) words(n int, feminine bool) string {
	if n >= 1000 {
		said := strings.TrimPrefix(w.words(n/1000, feminine)+" mil", gendered(w.small[1], feminine)+" ")
		switch rest := n % 1000; {
		case rest == 0:
			return said
		case rest < 100 || rest%100 == 0:
			return said + w.behindHundred + w.words(rest, feminine)
		default:
			return said + " " + w.words(rest, feminine)
		}
	}
	said := ""
	if h := n / 100; n == 100 {
		return w.hundreds[0]
	} else if h > 0 {
		said = gendered(w.hundreds[h], feminine)
		if n %= 100; n == 0 {
			return said
		}
		said += w.behindHundred
	}
	if n >= len(w.small) {
		said += w.tens[n/10]
		if n %= 10; n == 0 {
			return said
		}
		said += w.and
	}
	return said + gendered(w.small[n], feminine)
}

// twoForms reports whether a number is said otherwise before feminine nouns: it ends with
// one of those up to last, or has hundreds.
func twoForms(n, last int) bool {
	return n%10 >= 1 && n%10 <= last && n%100/10 != 1 || n%1000 >= 200 || n >= 2000 && twoForms(n/1000, last)
}

func saySpanish(n int, feminine bool, noun string) (string, bool) {
	const stressed wordList = " agua aula área alma arma hambre águila hacha "
	feminine = feminine && (n != 1 || !stressed.has(noun)) // un aula
	return spanishNumerals.words(n, feminine), n%10 == 1 && n%100 != 11 || feminine && twoForms(n, 1)
}

func sayPortuguese(n int, feminine bool, _ string) (string, bool) {
	return portugueseNumerals.words(n, feminine), feminine && twoForms(n, 2)
}

// sayItalian is "un", "uno", "una" or "un'" for one.
func sayItalian(n int, feminine bool, noun string) (string, bool) {
	vowel := strings.IndexAny(noun, "aeiouàèéìòù") == 0
	impure := noun[0] == 's' && strings.IndexByte("aeiou", noun[1]) < 0 || strings.IndexByte("zxy", noun[0]) >= 0 ||
		noun[:2] == "gn" || noun[:2] == "ps" || noun[:2] == "pn"
	switch {
	case feminine && vowel:
		return "un'", n == 1
	case feminine:
		return "una", n == 1
	case impure:
		return "uno", n == 1
	}
	return "un", n == 1
}

func sayFrench(n int, feminine bool, _ string) (string, bool) {
	return frenchWords(n) + "e", feminine && n%10 == 1 && n%100 != 11 && n%100 != 71 && n%100 != 91
}

// frenchWords writes a number below a million.
func frenchWords(n int) string {
	w, said := frenchNumerals, ""
	for _, scale := range [...]struct {
		of   int
		name string
	}{{1000, "mille"}, {100, "cent"}} {
		if count := n / scale.of; count > 1 {
			said += frenchWords(count) + " " + scale.name + " "
		} else if count == 1 {
			said += scale.name + " "
		}
		n %= scale.of
	}
	ten := n / 10
	rest := n - ten*10
	if ten == 7 || ten == 9 {
		rest += 10
	}
	switch {
	case n == 0 && said != "":
		return strings.TrimRight(said, " ")
	case n < 20:
		return said + w.small[n]
	case rest == 0:
		return said + w.tens[ten]
	case n%10 == 1 && n < 80:
		return said + w.tens[ten] + " et " + w.small[rest]
	}
	return said + w.tens[ten] + "-" + w.small[rest]
}

// frenchOrdinal is "soixante-quatrième" for 64.
func frenchOrdinal(n int) string {
	if n == 1 {
		return "premier"
	}
	words := strings.TrimSuffix(frenchWords(n), "e")
	switch last := words[len(words)-1]; {
	case strings.HasSuffix(words, "neuf"):
		words = words[:len(words)-1] + "v"
	case last == 'q':
		words += "u"
	}
	return words + "ième"
}

// spanishOrdinal is "vigésimo primero" for 21.
func spanishOrdinal(n int) string {
	if n < len(spanishPlaces) {
		return spanishPlaces[n]
	}
	return strings.TrimSuffix(spanishTenths[n/10]+" "+spanishPlaces[n%10], " -")
}

// foreignParts are what Roman numbers stand behind.
const foreignParts = `(?i:chapitre|tome|livre|acte|scène|partie|titre|section|phase|niveau|annexe|groupe|épisode|` +
	`saison|salle|planche|capítulo|capitolo|tomo|libro|livro|acto|atto|ato|escena|scena|cena|parte|volume|volumen|` +
	`título|titolo|sección|seção|sezione|anexo|fase|nivel|nível|livello|grupo|gruppo|article|artículo|articolo|artigo)`

// numeralRules say Roman numbers, and ordinals as Spanish shortens them.
func numeralRules(code string) []rule {
	digitsOf := func(m match) (string, bool) {
		n := roman(m.group(2))
		return m.group(1) + n, n != "" && m.apart()
	}
	all := []rule{
		doubtfulRule(`\b(`+foreignParts+`\.? )([IVXLC]+)\b`, digitsOf),
		newRule(`()([Ⅰ-Ⅿ]+)`, func(m match) string { return roman(norm.NFKC.String(m.group(2))) }),
	}
	if code == "fr" {
		all = append(all, doubtfulRule(`(\b)(X{0,3}(?:III?|VIII?)|X{1,3}(?:IV|VI?|IX|I)|^[IVX]{2,5})\b`,
			digitsOf))
	}
	if code != "es" {
		return all
	}
	return append(all, doubtfulRule(`\b([1-9]\d?)\.?(er|[rdtmvn][oa])(s?)\b`, func(m match) (string, bool) {
		said := spanishOrdinal(atoi(m.group(1)))
		switch ending := m.group(2); {
		case ending == "er":
			said = strings.TrimSuffix(said, "o")
		case ending[1] == 'a':
			said = strings.ReplaceAll(said+" ", "o ", "a ")
		}
		return strings.TrimRight(said, " ") + m.group(3), m.apart()
	}))
}
