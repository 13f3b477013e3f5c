package text

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A foreign is a language besides English whose numbers eSpeak NG reads: what it
// reads wrongly is brought to words here.
type foreign struct {
	code    string
	months  [12]string
	of      string // between the day, the month and the year
	first   string // of a month
	hour    string // in the singular
	hours   string
	and     string // between hours and minutes
	dotted  bool   // 9.30 is a time behind "alle" and the like
	euro    string
	euros   string
	cents   string             // between euros and cents
	units   map[string]string  // by their signs, in the plural
	short   [][2]string        // patterns of what is shortened, and what is said for it
	ordinal func(n int) string // from one to most; nil where eSpeak NG reads them
	most    int
	century string   // a pattern of words that a Roman number stands before
	kings   string   // a pattern of names that Roman numbers follow
	ranks   []string // of kings; later ones are counted
}

// foreignRules are those of a language, by its code; they are made when its first text comes.
var foreignRules = map[string]func() []rule{
	"fr": sync.OnceValue(func() []rule { return french.all("fr") }),
	"es": sync.OnceValue(func() []rule { return spanish.all("es") }),
	"it": sync.OnceValue(func() []rule { return italian.all("it") }),
	"pt": sync.OnceValue(func() []rule { return portuguese.all("pt") }),
	"hi": sync.OnceValue(hindiRules),
}

var french = foreign{
	months: [12]string{"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre",
		"novembre", "décembre"},
	of:    " ",
	first: "premier",
	hour:  "heure",
	hours: "heures",
	and:   " ",
	euro:  "euro",
	euros: "euros",
	cents: " ",
	units: map[string]string{"t": "tonnes", "km²": "kilomètres carrés", "m³": "mètres cubes",
		"cm³": "centimètres cubes", "°F": "degrés Fahrenheit", "kWh": "kilowattheures", "kW": "kilowatts",
		"ha": "hectares", "Go": "gigaoctets", "Mo": "mégaoctets", "g": "grammes", "min": "minutes", "mn": "minutes",
		"ml": "millilitres", "cl": "centilitres", "l": "litres", "L": "litres", "m": "mètres", "m²": "mètres carrés",
		"km/h": "kilomètres à l'heure", "°C": "degrés", "°": "degrés", "kg": "kilogrammes", "km": "kilomètres",
		"cm": "centimètres", "mm": "millimètres", "mg": "milligrammes"},
	short: [][2]string{
		{`\bM\. ?(\p{Lu})`, "Monsieur $1"}, {`\bMM\. ?(\p{Lu})`, "Messieurs $1"}, {`\bMlle\b\.?`, "Mademoiselle"},
		{`\bDr\.? (\p{Lu})`, "Docteur $1"}, {`\bPr\.? (\p{Lu})`, "Professeur $1"},
		{`\b[nN][°º] ?(\d)`, "numéro $1"}, {`\b[tT]él\. ?:?`, "téléphone "}, {`\b[bB]d\.? (\p{Lu})`, "boulevard $1"},
		{`\b[aA]v\. `, "avenue "}, {`\bp\. ?(\d)`, "page $1"},
		{`\bGal (\p{Lu})`, "Général $1"}, {`\b1(?:re|ère)(s?)\b`, "première$1"}, {`\b1er(s?)\b`, "premier$1"},
		{`\b2nd(e?s?)\b`, "second$1"}, {`\bS(te?) (\p{Lu})`, "Sain$1 $2"}, {`\b1 cps?\b`, "1 comprimé"},
		{`(\d) cps?\b`, "$1 comprimés"}, {`(\d) j([ .,;]|$)`, "$1 jours$2"}, {`\b([IVX]+e) s\.`, "$1 siècle"},
		{`\bRDV\b`, "rendez-vous"}, {`\bc\. ?à ?s\.`, "cuillères à soupe"}, {`\bc\. ?à ?c\.`, "cuillères à café"},
		{`\bapr\. J\.-C\.`, "après Jésus-Christ"}, {`\bav\. J\.-C\.`, "avant Jésus-Christ"},
	},
	ordinal: frenchOrdinal,
	most:    999,
	century: "(?:siècle|République|dynastie|arrondissement|étage|édition)",
	kings:   `Louis|Henri|Charles|François|Napoléon|Philippe|Jean-Paul|Pie|Benoît|Léopold|Élisabeth`,
	ranks:   []string{"premier"},
}

var spanish = foreign{
	months: [12]string{"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre",
		"octubre", "noviembre", "diciembre"},
	of:    " de ",
	first: "uno",
	hour:  "hora",
	hours: "horas",
	and:   " y ",
	euro:  "euro",
	euros: "euros",
	cents: " con ",
	units: map[string]string{"t": "toneladas", "km²": "kilómetros cuadrados", "m³": "metros cúbicos",
		"cm³": "centímetros cúbicos", "°F": "grados Fahrenheit", "kWh": "kilovatios hora", "kW": "kilovatios",
		"ha": "hectáreas", "GB": "gigas", "MB": "megas", "g": "gramos", "min": "minutos", "ml": "mililitros",
		"cl": "centilitros", "l": "litros", "L": "litros", "m": "metros", "m²": "metros cuadrados",
		"km/h": "kilómetros por hora", "°C": "grados", "°": "grados", "kg": "kilos", "km": "kilómetros",
		"cm": "centímetros", "mm": "milímetros", "mg": "miligramos"},
	short: [][2]string{
		{`\b[nN]\.?[º°] ?(\d)`, "número $1"}, {`\b[nN]úm\. ?(\d)`, "número $1"},
		{`\b[tT](?:el|fno|eléf)\. ?:?`, "teléfono "}, {`\b[aA]vda?\. `, "avenida "}, {`\bC/ ?(\p{Lu})`, "calle $1"},
		{`\bDr\. (\p{Lu})`, "doctor $1"}, {`\bDra\. (\p{Lu})`, "doctora $1"}, {`\bSra\. ?(\p{Lu})`, "señora $1"},
		{`\bSr\. ?(\p{Lu})`, "señor $1"}, {`\b1 comp\.`, "1 comprimido"}, {`(\d) comp\.`, "$1 comprimidos"},
		{`\b[mM]áx\.`, "máximo"}, {`\b[mM]ín\.`, "mínimo"}, {`\bincl\.`, "incluido"}, {`\bUd\.`, "usted"},
		{`\bUds\.`, "ustedes"}, {`\b[pP]ág\. ?(\d)`, "página $1"}, {`\bp\. ?ej\.`, "por ejemplo"},
		{`\b(\d+)\.([ºª])`, "$1$2"}, {`\bEE\. ?UU\.`, "Estados Unidos"}, {`\baprox\.`, "aproximadamente"},
	},
	kings: `Felipe|Carlos|Fernando|Alfonso|Juan Carlos|Juan Pablo|Juan|Enrique|Luis|Pío|Benedicto|Napoleón|Alejandro|` +
		`Jaime|Pedro`,
	ranks: []string{"primero", "segundo", "tercero", "cuarto", "quinto", "sexto", "séptimo", "octavo", "noveno",
		"décimo"},
}

var italian = foreign{
	months: [12]string{"gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto", "settembre",
		"ottobre", "novembre", "dicembre"},
	of:     " ",
	first:  "primo",
	hour:   "",
	hours:  "",
	and:    " e ",
	dotted: true,
	euro:   "euro",
	euros:  "euro",
	cents:  " e ",
	units: map[string]string{"t": "tonnellate", "km²": "chilometri quadrati", "m³": "metri cubi", "mc": "metri cubi",
		"cm³": "centimetri cubi", "°F": "gradi Fahrenheit", "kWh": "chilowattora", "kW": "chilowatt", "ha": "ettari",
		"GB": "gigabyte", "MB": "megabyte", "g": "grammi", "gr": "grammi", "min": "minuti", "ml": "millilitri",
		"cl": "centilitri", "l": "litri", "L": "litri", "m": "metri", "m²": "metri quadrati", "mq": "metri quadrati",
		"km/h": "chilometri orari", "°C": "gradi", "kg": "chili", "km": "chilometri", "cm": "centimetri",
		"mm": "millimetri", "mg": "milligrammi"},
	short: [][2]string{
		{`\b[sS]ig\.ra\b`, "signora"}, {`\b[sS]ig\. ?(\p{Lu})`, "signor $1"}, {`\b[dD]ott\.ssa\b`, "dottoressa"},
		{`\b[dD]ott\. ?(\p{Lu})`, "dottor $1"}, {`\b[pP]rof\.ssa\b`, "professoressa"},
		{`\b[pP]rof\. ?(\p{Lu})`, "professor $1"},
		{`\b([IVX]+) sec\.`, "$1 secolo"}, {`\b1 cpr\b\.?`, "1 compressa"}, {`(\d) cpr\b\.?`, "$1 compresse"},
		{`(\d) gg\.`, "$1 giorni"}, {`\b[cC]ell\.`, "cellulare"}, {`\bIVA incl\.`, "IVA inclusa"},
		{`\bincl\.`, "incluso"}, {`\bbin\.( ?\d|$)`, "binario$1"}, {`\bn\. ?(\d)`, "numero $1"},
		{`\b[nN][°º] ?(\d)`, "numero $1"}, {`\bsec\. ?([IVX])`, "secolo $1"}, {`\b[tT]el\. ?:?`, "telefono "},
		{`\bp\.zza\b`, "piazza"}, {`\b[vV]\.le\b`, "viale"}, {`\b[cC]\.so\b`, "corso"}, {`\bpag\. ?(\d)`, "pagina $1"},
		{`\becc\.`, "eccetera"},
	},
	ordinal: func(n int) string { return italianPlaces[n] },
	most:    len(italianPlaces) - 1,
}

var portuguese = foreign{
	months: [12]string{"janeiro", "fevereiro", "março", "abril", "maio", "junho", "julho", "agosto", "setembro",
		"outubro", "novembro", "dezembro"},
	of:    " de ",
	first: "primeiro",
	hour:  "hora",
	hours: "horas",
	and:   " e ",
	euro:  "euro",
	euros: "euros",
	cents: " e ",
	units: map[string]string{"t": "toneladas", "km²": "quilômetros quadrados", "m³": "metros cúbicos",
		"cm³": "centímetros cúbicos", "°F": "graus Fahrenheit", "kWh": "quilowatts-hora", "kW": "quilowatts",
		"ha": "hectares", "GB": "gigabytes", "MB": "megabytes", "g": "gramas", "min": "minutos", "ml": "mililitros",
		"cl": "centilitros", "l": "litros", "L": "litros", "m": "metros", "m²": "metros quadrados",
		"km/h": "quilômetros por hora", "°C": "graus", "°": "graus", "kg": "quilos", "km": "quilômetros",
		"cm": "centímetros", "mm": "milímetros", "mg": "miligramas"},
	short: [][2]string{
		{`\bde (\d{1,2})/(\d{1,2}) ?h(?:oras|s)?\b`, "de $1 em $2 horas"}, {`\b1 comp\.`, "1 comprimido"},
		{`(\d) comp\.`, "$1 comprimidos"}, {`\bR\. (\p{Lu})`, "rua $1"}, {`\bap\. ?(\d)`, "apartamento $1"},
		{`\bapto\. ?(\d)`, "apartamento $1"}, {`\b[sS]éc\. ?([IVX])`, "século $1"}, {`\bD\. (\p{Lu}\p{Ll})`, "Dom $1"},
		{`\bSr\. ?(\p{Lu})`, "Senhor $1"}, {`\bSra\. ?(\p{Lu})`, "Senhora $1"}, {`\bDr\. ?(\p{Lu})`, "Doutor $1"},
		{`\bDra\. ?(\p{Lu})`, "Doutora $1"}, {`\b[nN]\.?[º°] ?(\d)`, "número $1"}, {`\b[tT]el\. ?:?`, "telefone "},
		{`\b[aA]v\. `, "avenida "}, {`\b[pP]ág\. ?(\d)`, "página $1"},
	},
	kings: `Pedro|João Paulo|João|José|Afonso|Manuel|Luís|Henrique|Napoleão|Carlos|Filipe|Felipe|Bento|Pio|Sebastião|` +
		`Sancho`,
	ranks: []string{"primeiro", "segundo", "terceiro", "quarto", "quinto", "sexto", "sétimo", "oitavo", "nono",
		"décimo"},
}

// all are the rules of a language by its code, in their order.
func (f foreign) all(code string) []rule {
	f.code = code
	signs := foreignSignsOf[code]
	counts := foreignCountsOf[code]
	return slices.Concat(signs.first(), f.shortened(foreignShortOf[code], counts, signs.parts), f.counts(counts,
		signs.to), f.rules(),
		numeralRules(code), []rule{agreement(code)})
}

func (f foreign) rules() []rule {
	var all []rule
	for _, s := range f.short {
		all = append(all, writes(s[0], s[1]))
	}
	const clock = `([01]?\d|2[0-4])`
	all = append(all,
		doubtfulRule(`\b(0?[1-9]|[12]\d|3[01])[/.-](0?[1-9]|1[0-2])[/.-]((?:19|20)\d{2})\b`,
			func(m match) (string, bool) {
				return f.dayOf(m.group(1), m.group(2)) + f.of + m.group(3), m.apart()
			}),
		// 2025-04-03, 2025-04
		doubtfulRule(`\b((?:19|20)\d{2})-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?\b`,
			func(m match) (string, bool) {
				date, season := f.dayOf(m.group(3), m.group(2))+f.of+m.group(1),
					atoi(m.group(2)) == (atoi(m.group(1))+1)%100
				return date, apartFromSigns(m) && (m.group(3) != "" || !season)
			}),
		// 9h30, 18h, 18:00 h, 9.30
		doubtfulRule(`\b`+clock+` ?(?:h|[:.h] ?([0-5]\d)(?: ?h(?:rs?|s)?\.?)?)\b`, func(m match) (string, bool) {
			if !strings.Contains(m.group(0), "h") {
				return "", false
			}
			return f.sayClock(m.group(1), m.group(2)), m.apart()
		}),
		doubtfulRule(`\b`+clock+`:([0-5]\d)\b`, func(m match) (string, bool) {
			return f.sayClock(m.group(1), m.group(2)),
				m.apart() && !strings.HasPrefix(m.after(), ":") && !strings.HasSuffix(m.before(), ":")
		}),
		doubtfulRule(`((?i:\b(?:ore|alle|dalle|fino alle|tra le|fra le|entro le)) )`+clock+`\.([0-5]\d)\b`,
			func(m match) (string, bool) {
				return m.group(1) + f.sayClock(m.group(2), m.group(3)), f.dotted && !startsWord(m.after())
			}),
		// 3,50 €, € 3,50, 20 €
		doubtfulRule(`(\d+(?:[ .\x{a0}\x{202f}]\d{3})*)(?:,(\d\d))?[ \x{a0}\x{202f}]?€|€ ?(\d+(?:[ .]\d{3})*)(?:,(\d\d))?`,
			func(m match) (string, bool) {
				return f.sayEuros(m.group(1)+m.group(3), m.group(2)+m.group(4)) + spaceAfter(m), !endsWord(m.before())
			}),
		doubtfulRule(`(\d)[ \x{a0}\x{202f}]?(km/h|km²|m²|m³|cm³|°C|°F|°|kWh|kW|kg|km|cm|mm|mg|ml|cl|min|mn|`+
			`mq|mc|gr|ha|Go|Mo|GB|MB|g|l|L|m|t)(\. \p{Ll})?`, func(m match) (string, bool) {
			name := f.units[m.group(2)]
			if before := m.before(); m.group(1) == "1" && !endsNumber(before) {
				if f.dotted {
					return "", false // un chilometro: as eSpeak NG says it
				}
				name = strings.TrimSuffix(strings.ReplaceAll(name, "s ", " "), "s")
			}
			goesOn := strings.TrimPrefix(m.group(3), ".") // the stop was that of the short form
			return m.group(1) + " " + name + goesOn,
				name != "" && (goesOn != "" || !startsWord(m.after())) && !strings.HasPrefix(m.after(), "'") &&
					!strings.HasPrefix(m.after(), "’")
		}),
	)
	if f.ordinal != nil {
		all = append(all, doubtfulRule(`\b([1-9]\d{0,2})(?:(?:°|º)( \pL)|(?:e|ème|eme|ième)s?\b)`,
			func(m match) (string, bool) {
				n := atoi(m.group(1))
				return f.ordinal(min(n, f.most)) + m.group(2), n <= f.most
			}))
	}
	if f.century != "" { // XIXe siècle, Ve République, chapitre IX, III. Le jardin
		all = append(all, doubtfulRule(`\b([IVX]{2,5}|[IVX]\b)(?:e|ᵉ|ème)\b|\b([IVX])(?:e|ème)( `+f.century+`)`,
			func(m match) (string, bool) {
				n := roman(m.group(1) + m.group(2))
				return f.ordinal(atoi(n)) + m.group(3), n != ""
			}))
	}
	if f.kings != "" {
		all = append(all, doubtfulRule(`\b(`+f.kings+`) (I|V|X|[IVX]{2,5})(?:er)?\b`,
			func(m match) (string, bool) {
				n := roman(m.group(2))
				if i := atoi(n); i > 0 && i <= len(f.ranks) {
					return m.group(1) + " " + f.ranks[i-1], true
				}
				return m.group(1) + " " + n, n != ""
			}))
	}
	return all
}

// dayOf says a day of a month, or a month alone.
func (f foreign) dayOf(day, month string) string {
	name := f.months[atoi(month)-1]
	switch day = strings.TrimLeft(day, "0"); day {
	case "":
		return name
	case "1":
		day = f.first
	}
	return day + f.of + name
}

// sayClock says a time of day; eSpeak NG reads the numbers.
func (f foreign) sayClock(hour, minute string) string {
	hour = strings.TrimLeft(hour, "0")
	if hour == "" {
		hour = "0"
	}
	minute = strings.TrimLeft(minute, "0")
	name := f.hours
	if said, ok := grammars[f.code](atoi(hour), true, "hora"); ok && f.and != " " { // la una y 30
		if hour == "1" {
			name = f.hour
		}
		hour = said
	}
	if hour == "1" || hour == "0" && f.hour == "heure" {
		name = f.hour
	}
	switch {
	case minute == "" && name == "":
		return hour
	case minute == "":
		return hour + " " + name
	case f.and == " ": // neuf heures trente
		return hour + " " + name + " " + minute
	}
	return hour + f.and + minute
}

// sayEuros says an amount of euros and cents.
func (f foreign) sayEuros(whole, cents string) string {
	name := f.euros
	if whole = ungrouped.Replace(whole); whole == "1" || whole == "0" && f.first == "premier" {
		name = f.euro
	}
	return f.sayCents(whole+" "+name, cents)
}

// sayCents says an amount and its hundredths.
func (f foreign) sayCents(said, cents string) string {
	if strings.Trim(cents, "0") == "" {
		return said
	}
	if len(cents) == 1 {
		cents += "0"
	}
	return said + f.cents + strings.TrimLeft(cents, "0")
}

func newRule(pattern string, say func(m match) string) rule {
	return rewrite(pattern, func(m match) (string, bool) { return say(m), true })
}
func writes(pattern, template string) rule {
	expression := regexp.MustCompile(pattern)
	return rule{expression, needs(pattern), func(m match) (string, bool) {
		return string(expression.ExpandString(nil, template, m.text, m.at)), true
	}}
}

var doubtfulRule = rewrite
