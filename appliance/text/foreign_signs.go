package text

import (
	"regexp"
	"slices"
	"strings"
)

// foreignSigns are the words of a language for what eSpeak NG drops or says in
// English: signs, ranges, the days as notices shorten them, and addresses.
type foreignSigns struct {
	to                                        string    // between the ends of a range
	least, most, plusMinus, minus, about, and string    // ≥ ≤ ± - ~ &
	section                                   string    // §
	parts                                     [3]string // ¼ ½ ¾
	days                                      [7]string // from Monday on
	shortDays                                 string    // their short forms, parted by |, in the same order
	dot, at, dash, underscore, slash          string    // in addresses
	dotted                                    bool      // times are written 9.30
}

var foreignSignsOf = map[string]foreignSigns{
	"fr": {
		to:         "à",
		least:      "au moins",
		most:       "au plus",
		plusMinus:  "plus ou moins",
		minus:      "moins",
		about:      "environ",
		and:        "et",
		section:    "paragraphe",
		parts:      [3]string{"un quart", "un demi", "trois quarts"},
		days:       [7]string{"lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"},
		shortDays:  "lun(?:di)?|mar(?:di)?|mer(?:credi)?|jeu(?:di)?|ven(?:dredi)?|sam(?:edi)?|dim(?:anche)?",
		dot:        "point",
		at:         "arobase",
		dash:       "tiret",
		underscore: "tiret bas",
		slash:      "barre",
	},
	"es": {
		to:         "a",
		least:      "al menos",
		most:       "como máximo",
		plusMinus:  "más menos",
		minus:      "menos",
		about:      "unos",
		and:        "y",
		section:    "sección",
		parts:      [3]string{"un cuarto", "medio", "tres cuartos"},
		days:       [7]string{"lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"},
		shortDays:  "lun(?:es)?|mar(?:tes)?|mi[eé](?:rcoles)?|jue(?:ves)?|vie(?:rnes)?|s[aá]b(?:ado)?|dom(?:ingo)?",
		dot:        "punto",
		at:         "arroba",
		dash:       "guion",
		underscore: "guion bajo",
		slash:      "barra",
	},
	"it": {
		to:         "a",
		least:      "almeno",
		most:       "al massimo",
		plusMinus:  "più o meno",
		minus:      "meno",
		about:      "circa",
		and:        "e",
		section:    "paragrafo",
		parts:      [3]string{"un quarto", "mezzo", "tre quarti"},
		days:       [7]string{"lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato", "domenica"},
		shortDays:  "lun(?:edì)?|mar(?:tedì)?|mer(?:coledì)?|gio(?:vedì)?|ven(?:erdì)?|sab(?:ato)?|dom(?:enica)?",
		dot:        "punto",
		at:         "chiocciola",
		dash:       "trattino",
		underscore: "trattino basso",
		slash:      "barra",
		dotted:     true,
	},
	"pt": {
		to:         "a",
		least:      "pelo menos",
		most:       "no máximo",
		plusMinus:  "mais ou menos",
		minus:      "menos",
		about:      "cerca de",
		and:        "e",
		section:    "parágrafo",
		parts:      [3]string{"um quarto", "meio", "três quartos"},
		days:       [7]string{"segunda", "terça", "quarta", "quinta", "sexta", "sábado", "domingo"},
		shortDays:  "seg(?:unda)?|ter(?:ça)?|qua(?:rta)?|qui(?:nta)?|sex(?:ta)?|s[aá]b(?:ado)?|dom(?:ingo)?",
		dot:        "ponto",
		at:         "arroba",
		dash:       "hífen",
		underscore: "sublinhado",
		slash:      "barra",
	},
	"hi": {
		to:         "से",
		least:      "कम से कम",
		most:       "ज़्यादा से ज़्यादा",
		plusMinus:  "प्लस माइनस",
		minus:      "माइनस",
		about:      "लगभग",
		and:        "और",
		section:    "धारा",
		parts:      [3]string{"एक चौथाई", "आधा", "तीन चौथाई"},
		days:       [7]string{"सोमवार", "मंगलवार", "बुधवार", "गुरुवार", "शुक्रवार", "शनिवार", "रविवार"},
		shortDays:  "सोम|मंगल|बुध|गुरु|शुक्र|शनि|रवि",
		dot:        "डॉट",
		at:         "ऐट",
		dash:       "डैश",
		underscore: "अंडरस्कोर",
		slash:      "स्लैश",
	},
}

// among makes a function that finds which of some patterns, parted by |, fits a short form.
func among(patterns string) func(short string) int {
	var all []*regexp.Regexp
	for pattern := range strings.SplitSeq(patterns, "|") {
		all = append(all, regexp.MustCompile(`(?i)^(?:`+pattern+`)$`))
	}
	return func(short string) int {
		return slices.IndexFunc(all, func(p *regexp.Regexp) bool { return p.MatchString(short) })
	}
}

// first are the rules that come before those of times and money.
func (f foreignSigns) first() []rule {
	const gap = ` ?`
	days, which := `((?i:`+f.shortDays+`))`, among(f.shortDays)
	day := func(short string) string { return f.days[which(short)] }
	return []rule{
		// addresses: info@musee.fr, www.musee.fr/plan
		newRule(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+`, func(m match) string {
			return f.address(m.group(0))
		}),
		newRule(`(?i)\b(?:https?://|www\.)[^\s<>"'«»]*[\pL\d/]`, func(m match) string {
			return f.address(m.group(0))
		}),
		// the beginning of an address that none follows must not make one of the
		// words that a sign behind it becomes
		newRule(`(?i)\b(?:(www)\.|https?://)(\S)`, func(m match) string {
			return strings.TrimLeft(m.group(1)+" ", " ") + m.group(2)
		}),
		newRule(`(?i)\b[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)*\.(?:`+topLevels+`|it|pt|br|mx|ar|in)\b`,
			func(m match) string {
				return f.address(m.group(0))
			}),
		// lun.–ven., du lun. au ven., sam. 10h
		doubtfulRule(`\b`+days+`\.? ?([-–—/]|à|au|al|a|e|et|y|,) ?`+days+`\b\.?`, func(m match) (string, bool) {
			word := m.group(2)
			short := strings.Contains(m.group(0), ".") || strings.ContainsAny(word, "-–—/")
			switch {
			case strings.ContainsAny(word, "-–—"):
				word = " " + f.to
			case word == "/":
				word = " " + f.and
			case word != ",":
				word = " " + word
			}
			return day(m.group(1)) + word + " " + day(m.group(3)), short && !startsWord(m.after())
		}),
		newRule(`\b`+days+`\. (\d)`, func(m match) string { return day(m.group(1)) + " " + m.group(2) }),
		// ranges: 9h–17h, 10–12 €, 9.00-17.00
		doubtfulRule(`\b(\d{1,2}(?: ?h(?:[0-5]\d)?|[:.][0-5]\d))`+gap+`[-–—]`+gap+
			`(\d{1,2}(?: ?h(?:[0-5]\d)?|[:.][0-5]\d))`, func(m match) (string, bool) {
			from, to := m.group(1), m.group(2)
			if amount := strings.IndexAny(strings.TrimLeft(m.after(), " "), "€%") == 0; f.dotted && !amount { // times
				from, to = strings.Replace(from, ".", ":", 1), strings.Replace(to, ".", ":", 1)
			}
			return from + " " + f.to + " " + to, m.apart()
		}),
		doubtfulRule(`\b(\d+(?:,\d+)?)(?:`+gap+`[–—]`+gap+`|( - ))(\d+(?:,\d+)?)`, func(m match) (string, bool) {
			from, to := m.group(1), m.group(3) // 10–12, 5 - 8, and not 8 - 5
			rises := len(from) < len(to) || len(from) == len(to) && from < to
			return from + " " + f.to + " " + to,
				m.apart() && (m.group(2) == "" || rises && !strings.Contains(m.text, "="))
		}),
		// -5 °C, de -7 à -3, −4,5°; 5°–10°C
		newRule(`(\d) ?[°º]C? ?[-–—] ?([-−]?\d+(?:[.,]\d+)? ?[°º])`, func(m match) string {
			return m.group(1) + " " + f.to + " " + m.group(2)
		}),
		doubtfulRule(`(^|[\s(:])(?:[-–]|− ?)(\d)`, func(m match) (string, bool) {
			before := lastWord(m.before())
			return m.group(1) + f.minus + " " + m.group(2), !endsNumber(strings.TrimRight(before, "h€%")) ||
				strings.HasSuffix(before, ",")
		}),
		newRule(`([≥≤±~≈])`+gap+`(\p{Sc}? ?\d)`, func(m match) string {
			said := map[string]string{"≥": f.least, "≤": f.most, "±": f.plusMinus, "~": f.about,
				"≈": f.about}[m.group(1)]
			return space(m) + said + " " + m.group(2)
		}),
		newRule(` & `, func(match) string { return " " + f.and + " " }),
		newRule(`§+`+gap, func(match) string { return f.section + " " }),
		newRule(`(\d? ?)([¼½¾])`, func(m match) string {
			part := map[string]string{"¼": f.parts[0], "½": f.parts[1], "¾": f.parts[2]}[m.group(2)]
			if strings.TrimSpace(m.group(1)) != "" {
				return strings.TrimSpace(m.group(1)) + " " + f.and + " " + part
			}
			return m.group(1) + part + spaceAfter(m)
		}),
	}
}

// address says a URL or an e-mail address part by part.
func (f foreignSigns) address(s string) string {
	_, rest, found := strings.Cut(s, "://")
	if found {
		s = rest
	}
	return strings.Join(strings.Fields(strings.NewReplacer(
		".", " "+f.dot+" ", "@", " "+f.at+" ", "-", " "+f.dash+" ", "_", " "+f.underscore+" ", "/",
		" "+f.slash+" ").Replace(strings.TrimRight(s, "/"))), " ")
}
