package text

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// foreignCounts are the words of a language for what is counted: doses, scores,
// sizes, rates and money of other countries.
type foreignCounts struct {
	times  string            // "3x"
	each   map[string]string // "/jour": of what people take so often
	per    string            // "/kg"
	by     string            // "45 x 60 cm"
	versus string            // "3 x 1", "" where no score is written so
	plain  map[string]string // units in the singular, behind a stroke
	money  map[string]string // by its sign, in the plural
	many   [][2]string       // magnitudes as they are shortened, and their words
	of     string            // between a magnitude and the money
	dated  wordList          // words before a day that stands without a year
}

var foreignCountsOf = map[string]foreignCounts{
	"fr": {
		times: "fois",
		per:   "par",
		by:    "sur",
		of:    "de ",
		dated: " le du au dès avant jusqu'au lundi mardi mercredi jeudi vendredi samedi dimanche ",
		each: map[string]string{"j": "par jour", "jour": "par jour", "semaine": "par semaine", "sem": "par semaine",
			"mois": "par mois", "an": "par an", "h": "par heure"},
		plain: map[string]string{"kg": "kilo", "g": "gramme", "l": "litre", "L": "litre", "ml": "millilitre",
			"mL": "millilitre", "h": "heure", "min": "minute", "m²": "mètre carré", "j": "jour", "jour": "jour",
			"mois": "mois", "pers": "personne"},
		money: map[string]string{"$": "dollars", "£": "livres", "¥": "yens", "₹": "roupies"},
		many: [][2]string{{`k`, "mille"}, {`Mds|Md|milliards|milliard`, "milliards"},
			{`M|millions|million`, "millions"}, {`mille`, "mille"}},
	},
	"es": {
		times: "veces",
		per:   "por",
		by:    "por",
		of:    "de ",
		dated: " el del al desde hasta antes lunes martes miércoles jueves viernes sábado domingo ",
		each: map[string]string{"día": "al día", "dia": "al día", "semana": "a la semana", "sem": "a la semana",
			"mes": "al mes", "año": "al año", "h": "por hora"},
		plain: map[string]string{"kg": "kilo", "g": "gramo", "l": "litro", "L": "litro", "ml": "mililitro",
			"mL": "mililitro", "h": "hora", "min": "minuto", "m²": "metro cuadrado", "día": "día", "mes": "mes",
			"pers": "persona"},
		money: map[string]string{"$": "dólares", "£": "libras", "¥": "yenes", "₹": "rupias"},
		many:  [][2]string{{`mil millones`, "mil millones"}, {`M|millones|millón`, "millones"}, {`k|mil`, "mil"}},
	},
	"it": {
		times: "volte",
		per:   "per",
		by:    "per",
		of:    "di ",
		dated: " il dal al entro fino lunedì martedì mercoledì giovedì venerdì sabato domenica ",
		each: map[string]string{"die": "al giorno", "giorno": "al giorno", "gg": "al giorno",
			"settimana": "alla settimana", "sett": "alla settimana", "mese": "al mese", "anno": "all'anno",
			"h": "all'ora"},
		plain: map[string]string{"kg": "chilo", "g": "grammo", "l": "litro", "L": "litro", "ml": "millilitro",
			"mL": "millilitro", "h": "ora", "min": "minuto", "m²": "metro quadrato", "mq": "metro quadrato",
			"giorno": "giorno", "die": "giorno", "mese": "mese", "pers": "persona"},
		money: map[string]string{"$": "dollari", "£": "sterline", "¥": "yen", "₹": "rupie"},
		many:  [][2]string{{`mld|miliardi`, "miliardi"}, {`mln|milioni|M`, "milioni"}, {`k|mila`, "mila"}},
	},
	"pt": {
		times:  "vezes",
		per:    "por",
		by:     "por",
		versus: "a",
		of:     "de ",
		dated:  " dia em de até desde a segunda terça quarta quinta sexta sábado domingo ",
		each: map[string]string{"dia": "ao dia", "semana": "por semana", "sem": "por semana", "mês": "por mês",
			"ano": "por ano", "h": "por hora"},
		plain: map[string]string{"kg": "quilo", "g": "grama", "l": "litro", "L": "litro", "ml": "mililitro",
			"mL": "mililitro", "h": "hora", "min": "minuto", "m²": "metro quadrado", "dia": "dia", "mês": "mês",
			"pessoa": "pessoa"},
		money: map[string]string{"R$": "reais", "$": "dólares", "£": "libras", "¥": "ienes", "₹": "rúpias"},
		many:  [][2]string{{`bi|bilhões`, "bilhões"}, {`mi|milhões`, "milhões"}, {`mil|k`, "mil"}},
	},
}

// called stand before telephone numbers.
const called = `(?i:t[eé]l(?:[eé]f(?:ono|one)?)?|phone|fax|cel(?:ular|l)?|m[oó]vil|whatsapp|appelez|llame|ligue|` +
	`chiami|composez|marque|disque)`

// counts are the rules for what is counted. They come before those of units.
func (f foreign) counts(c foreignCounts, to string) []rule {
	var magnitudes []string
	for _, m := range c.many {
		magnitudes = append(magnitudes, m[0])
	}
	many := `(?:(?:[ \x{a0}\x{202f}]?)(` + strings.Join(magnitudes, "|") + `)\b)?`
	return []rule{
		// 2,5 millions: R$ 2,5 mi, US$ 300 mil, $1,250.50, £12
		doubtfulRule(`(?:US|U\$)?(R\$|\$|£|¥|₹)[ \x{a0}\x{202f}]?(\d+(?:[ .,\x{a0}\x{202f}]\d{3})*)(?:[.,](\d{1,2}))?`+many+
			`( pesos?)?`, func(m match) (string, bool) {
			return f.sayForeignMoney(c, m), c.money[m.group(1)] != "" && !startsWord(m.after())
		}),
		// 3x/jour, 3/día, 2 volte/die
		doubtfulRule(`\b(\d{1,2})( ?[xX×]| `+c.times+`|) ?/ ?(\pL{1,9})`, func(m match) (string, bool) {
			said := m.group(1)
			if m.group(2) != "" {
				said += " " + f.oftener(c, said)
			}
			return said + " " + c.each[m.group(3)],
				c.each[m.group(3)] != "" && m.apart() && !strings.HasSuffix(m.before(), "/")
		}),
		// 5 mg/kg, 8 €/kg
		doubtfulRule(`(\d[ \x{a0}\x{202f}]?(?:mg|µg|g|kg|ml|mL|l|L|UI|€|m)) ?/ ?(m²|\pL{1,6})`,
			func(m match) (string, bool) {
				return m.group(1) + " " + c.per + " " + c.plain[m.group(2)],
					c.plain[m.group(2)] != "" && !startsWord(m.after())
			}),
		// 2 x 500 mg, 45 x 60 cm, 3 x 1
		doubtfulRule(`\b(\d+(?:[.,]\d+)?)( ?[xX×] ?)(\d+(?:[.,]\d+)?)( ?(?:mg|ml|g\b|cl|comp|cp)|)`,
			func(m match) (string, bool) {
				word := c.by
				switch {
				case m.group(4) != "":
					word = f.oftener(c, m.group(1))
				case c.versus != "" && len(m.group(1)) < 3 && len(m.group(3)) < 3 && !startsUnit(m.after()):
					word = c.versus
				}
				return m.group(1) + " " + word + " " + m.group(3) + m.group(4), m.apart()
			}),
		// du 01/05 au 30/09
		doubtfulRule(`\b(0?[1-9]|[12]\d|3[01])/(0?[1-9]|1[0-2])\b`, func(m match) (string, bool) {
			padded := m.group(1)[0] == '0' || m.group(2)[0] == '0'
			ok := m.apart() && !strings.HasPrefix(m.after(), "/") && !strings.HasSuffix(m.before(), "/") &&
				!strings.HasPrefix(strings.TrimLeft(m.after(), " "), "h")
			return f.dayOf(m.group(1), m.group(2)), ok && (padded ||
				c.dated.has(strings.ToLower(lastWord(m.before()))) && len(m.group(2)) == 2)
		}),
		// +39 333 123 4567, tel. 02 1234567: what is long is read out
		doubtfulRule(`(\+|\b`+called+`\b\.?(?: \pL{1,4})?:? ?)(\(?\d{2,4}\)?(?:[ .-]\(?\d{2,9}\)?){1,5})`,
			func(m match) (string, bool) {
				return m.group(1) + foreignNumber(m.group(2)), !startsWord(m.after())
			}),
		doubtfulRule(`\(\d{2,3}\) ?\d{4,5}[ -]\d{4}\b`, func(m match) (string, bool) {
			return foreignNumber(m.group(0)), m.apart()
		}),
		// 91234-5678, 01304-001
		doubtfulRule(`\b(\d{3,5})-(\d{3,4})\b`, func(m match) (string, bool) {
			from, end := m.group(1), m.group(2)
			years := len(from) == 4 && len(end) == 4 && from <= end && end < "2100"
			if years || strings.HasSuffix(from, "0") && strings.HasSuffix(end, "0") && from[0] != '0' {
				return from + " " + to + " " + end, apartFromSigns(m)
			}
			return apartDigits(from) + ", " + apartDigits(end), apartFromSigns(m) && (len(from) > 3 || len(end) > 3)
		}),
		// 9.30-18, 9-12h30
		doubtfulRule(`\b(\d{1,2}[:.h][0-5]\d)-(\d{1,2})\b|\b(\d{1,2})-(\d{1,2}[:.h][0-5]\d)\b`,
			func(m match) (string, bool) {
				from, end := m.group(1)+m.group(3), m.group(2)+m.group(4)
				if f.dotted {
					from, end = strings.Replace(from, ".", ":", 1), strings.Replace(end, ".", ":", 1)
				}
				return from + " " + to + " " + end, apartFromSigns(m) && (f.dotted || !strings.Contains(from+end, "."))
			}),
		// scores and ranges: 3-1, 45-60 min
		doubtfulRule(`\b([1-9]?\d)-([1-9]?\d)\b`, func(m match) (string, bool) {
			return m.group(1) + " " + to + " " + m.group(2), apartFromSigns(m)
		}),
		// 02093, 0142685300: no amounts
		doubtfulRule(`\b(?:0\d{3,}|\d{7,})\b`, func(m match) (string, bool) {
			n := m.group(0)
			return apartDigits(n), m.apart() && !pointedBefore(m.before()) && !pointed(m.after()) &&
				(n[0] == '0' || !strings.HasSuffix(n, "000"))
		}),
	}
}

// oftener is "veces" behind a number, "vez" behind one.
func (f foreign) oftener(c foreignCounts, n string) string {
	if once := formOf(` veces:vez volte:volta vezes:vez fois:fois `, c.times); n == "1" {
		return once
	}
	return c.times
}

// sayForeignMoney says an amount of money that no cents are known of: they are
// said behind it, as with euros.
func (f foreign) sayForeignMoney(c foreignCounts, m match) string {
	whole := ungrouped.Replace(m.group(2))
	name := c.money[m.group(1)]
	if m.group(5) != "" {
		name = strings.TrimSpace(m.group(5))
	}
	part := m.group(3)
	if magnitude := magnitudeOf(c.many, m.group(4)); magnitude != "" {
		if part != "" {
			whole += "," + part
		}
		if strings.HasPrefix(magnitude, "mi") && magnitude != "mil" && magnitude != "mille" && magnitude != "mila" ||
			strings.HasPrefix(magnitude, "bi") {
			magnitude += " " + strings.TrimSpace(c.of)
		}
		return whole + " " + magnitude + " " + name
	}
	said := f.sayCents(whole+" "+f.singular(name, whole), part)
	if name == "reais" && strings.Trim(part, "0") != "" {
		said += " centavos"
	}
	return said
}

// singular is the name of money behind a number.
func (f foreign) singular(name, n string) string {
	if n != "1" {
		return name
	}
	const ones = ` reais:real dólares:dólar yenes:yen dollari:dollaro sterline:sterlina rupie:rupia `
	return cmp.Or(formOf(ones, name), strings.TrimSuffix(name, "s"))
}

// magnitudeOf is the word of a magnitude as it is shortened, "" for none.
func magnitudeOf(many [][2]string, short string) string {
	for _, m := range many {
		if short != "" && slices.Contains(strings.Split(m[0], "|"), short) {
			return m[1]
		}
	}
	return ""
}

// longGroup is a group of figures that is read one by one.
var longGroup = regexp.MustCompile(`\d{4,}`)

// foreignNumber reads a telephone number: its groups of two and three figures as
// people say them, the longer ones figure by figure.
func foreignNumber(s string) string {
	s = strings.NewReplacer("-", ", ", "(", "", ")", " ").Replace(longGroup.ReplaceAllStringFunc(s, apartDigits))
	return strings.Join(strings.Fields(s), " ")
}

// apartDigits puts spaces between figures, which are read one by one then.
func apartDigits(n string) string { return strings.Join(strings.Split(n, ""), " ") }

func apartFromSigns(m match) bool { return alone(m) }

// startsUnit reports whether a unit of length follows.
func startsUnit(after string) bool {
	unit, _, _ := strings.Cut(strings.TrimLeft(after, " \u00a0\u202f"), " ")
	unit = strings.TrimRight(unit, ".,;:!?)")
	return slices.Contains([]string{"cm", "mm", "m", "km", "px", "pol"}, unit)
}
