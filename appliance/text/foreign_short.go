package text

import (
	"regexp"
	"slices"
	"strings"
)

// foreignShort are the short forms of a language that eSpeak NG reads as they are
// written, letter by letter or as if they were words.
type foreignShort struct {
	dotted string      // with a full stop behind, and = the word: "env.=environ"
	plain  string      // without
	months string      // how the months are shortened, from January on, parted by |
	over   string      // "12/40": between a page and how many there are
	pages  string      // a pattern of what stands before it
	km     string      // "km 45"
	rules  [][2]string // further patterns, and what is said
}

// foreignShortOf are they by the code of the language. What a full stop stands behind
// is said as the word; at the end of a text the stop stays.
var foreignShortOf = map[string]foreignShort{
	"fr": {
		dotted: "env=environ bât=bâtiment incl=inclus max#=maximum min#=minimum dir=direction chap#=chapitre " +
			"réf=référence" +
			" hab=habitants pers=personnes resp=responsable éd=édition vol#=volume fig#=figure art#=article ann#=annexe" +
			" cf=voir etc=etcétéra p.ex=par_exemple s.v.p=s'il_vous_plaît n.b=nota_bene r.-de-ch=rez-de-chaussée" +
			" rdc=rez-de-chaussée appt=appartement étg=étage qté=quantité tj=toujours vs=contre rens=renseignements" +
			" hebdo=hebdomadaire boul=boulevard dép=département",
		plain: "max=maximum Mme=madame Mmes=mesdames Mgr=monseigneur SVP=s'il_vous_plaît svp=s'il_vous_plaît" +
			" RDC=rez-de-chaussée tlj=tous_les_jours Cie=compagnie Sté=société vs=contre Ier=premier bât=bâtiment",
		months: "janv|févr?|mars|avr|mai|juin|juil|août|sept|oct|nov|déc",
		over:   "sur",
		pages:  "pages?",
		km:     "kilomètre",
		rules: [][2]string{
			{`\bM\. (et|le|la|l'|ou) `, "Monsieur $1 "}, {`\bMM\. les `, "Messieurs les "},
			{`\bSt-(\p{Lu})`, "Saint-$1"}, {`\bSte-(\p{Lu})`, "Sainte-$1"},
			{`\b[nN][°º] ?(\p{Lu})`, "numéro $1"}, {`\b[eE]x\. ?:`, "exemple :"}, {`\bJ-(\d)`, "J moins $1"},
			{`\b[pP]\. ?ex\.`, "par exemple"}, {`\b(0\d)\.(\d\d)\.(\d\d)\.(\d\d)\.(\d\d)\b`, "$1 $2 $3 $4 $5"},
			{`\b24/7\b|\b24 ?h(?:eures)?/24\b`, "24 heures sur 24"}, {`\b7 ?j(?:ours)?/7\b`, "7 jours sur 7"},
			{`(\d) ?% vol\b\.?`, "$1 % d'alcool"},
		},
	},
	"es": {
		dotted: "dto=descuento desc=descuento ej=ejemplo cap#=capítulo pers=personas dcha=derecha izq=izquierda" +
			" izda=izquierda etc=etcétera ref=referencia edif=edificio depto=departamento dpto=departamento min=minutos" +
			" art#=artículo vol#=volumen fig#=figura hab=habitantes aprox=aproximadamente obs=observaciones vs=contra" +
			" págs=páginas ctra=carretera prov=provincia tfno=teléfono gral=general avda=avenida pza=plaza sto=santo" +
			" sta=santa srta=señorita sres=señores lic=licenciado ing=ingeniero prof=profesor profa=profesora" +
			" dpt=departamento admón=administración ctvs=centavos",
		plain:  "vs=contra dcha=derecha izda=izquierda",
		months: "ene|feb|mar|abr|mayo?|jun|jul|ago|sept?|oct|nov|dic",
		over:   "de",
		pages:  "páginas?",
		km:     "kilómetro",
		rules: [][2]string{
			{`\bc/ ?(\d)`, "cada $1"}, {`\bc/ ?(\p{Lu})`, "calle $1"}, {`\bAv\. `, "avenida "},
			{`\bPl\. (\p{Lu})`, "plaza $1"}, {`\b[nN]\.?[º°] ?(\p{Lu}|de ref)`, "número $1"},
			{`\bD\.ª (\p{Lu})`, "doña $1"}, {`\bD\. (\p{Lu}\p{Ll})`, "don $1"},
			{`\b(\d+) a\. ?C\.`, "$1 antes de Cristo"}, {`\b(\d+) d\. ?C\.`, "$1 después de Cristo"},
			{`\b24/7\b`, "veinticuatro siete"},
		},
	},
	"it": {
		dotted: "int#=interno ca=circa art#=articolo max#=massimo min#=minimo cod=codice spett=spettabile vol#=volume" +
			" cap#=capitolo fig#=figura tab#=tabella loc=località scad=scadenza rif=riferimento es=esempio pagg=pagine" +
			" ecc=eccetera ing=ingegner avv=avvocato arch=architetto geom=geometra rag=ragionier sigg=signori" +
			" sig.na=signorina l.go=largo f.lli=fratelli p.zza=piazza v.le=viale c.so=corso vs=contro n.b=nota_bene" +
			" p.es=per_esempio obbl=obbligatorio tot=totale prov=provincia",
		plain: "max=massimo tel=telefono Sig.na=signorina F.lli=fratelli L.go=largo P.zza=piazza V.le=viale " +
			"C.so=corso sig.na=signorina f.lli=fratelli l.go=largo p.zza=piazza v.le=viale c.so=corso vs=contro",
		months: "gen|feb|mar|apr|mag|giu|lug|ago|sett?|ott|nov|dic",
		over:   "di",
		pages:  "pagina|pag\\.",
		km:     "chilometro",
		rules: [][2]string{
			{`\b[pP]\. ?es\.`, "per esempio"}, {`\b(\d+) a\. ?C\.`, "$1 avanti Cristo"},
			{`\b(\d+) d\. ?C\.`, "$1 dopo Cristo"}, {`\bh ?24\b`, "24 ore su 24"}, {`\b24/7\b`, "24 ore su 24"},
			{`\bS\. ((?:Luca|Andrea|Nicola)\b)`, "San $1"}, {`\bS\. ([AEIOU]\p{Ll})`, "Sant'$1"},
			{`\bS\. (\p{Lu}\p{Ll}+a\b)`, "Santa $1"}, {`\bS\. (St|Z|Sp)`, "Santo $1"},
			{`\bS\. (\p{Lu}\p{Ll})`, "San $1"},
			{`\b[nN]\.?[°º] ?(\p{Lu})`, "numero $1"},
		},
	},
	"pt": {
		dotted: "aprox=aproximadamente máx=máximo mín=mínimo obs=observação etc=etcétera esq=esquerdo ltda=limitada" +
			" cia=companhia art#=artigo vol#=volume fig#=figura cap#=capítulo ref=referência cód=código qtd=quantidade" +
			" vs=contra prof=professor profa=professora eng=engenheiro srta=senhorita pça=praça rod=rodovia sta=santa" +
			" sto=santo séc=século hab=habitantes pág=página págs=páginas unid=unidades cx=caixa gov=governador " +
			"min=minutos",
		plain:  "vs=contra cód=código máx=máximo mín=mínimo",
		months: "jan|fev|mar|abr|mai|jun|jul|ago|set|out|nov|dez",
		over:   "de",
		pages:  "páginas?",
		km:     "quilômetro",
		rules: [][2]string{
			{`\b[eE]x\. ?:`, "exemplo:"}, {`\bEd\. (\p{Lu})`, "edifício $1"}, {`\bc/ ?(\d)`, "a cada $1"},
			{`\b(\d{1,3})x (de|sem) `, "$1 vezes $2 "}, {`\b(\d{1,2})h(\d{2})min\b`, "${1}h$2"},
			{`\b[pP]\. ?ex\.`, "por exemplo"}, {`\b(\d+) a\. ?C\.`, "$1 antes de Cristo"},
			{`\b(\d+) d\. ?C\.`, "$1 depois de Cristo"},
			{`\bS\. (Paulo|João|José|Pedro|Bento|Luís|Sebastião|Francisco|Miguel|Jorge|Vicente)\b`, "São $1"},
			{`\b[nN]\.?[º°] ?(\p{Lu})`, "número $1"}, {`\b24/7\b`, "24 horas por dia"},
		},
	},
}

// shortened are the rules for them. They come before those of counts and units.
func (f foreign) shortened(s foreignShort, c foreignCounts, parts [3]string) []rule {
	if s.months == "" {
		return nil
	}
	var all []rule
	for _, r := range s.rules {
		all = append(all, writes(r[0], r[1]))
	}
	dotted, words := formsOf(s.dotted)
	all = append(all, doubtfulRule(`(?i)(`+dotted+`)\.`, func(m match) (string, bool) {
		said, short := words[strings.ToLower(m.group(1))], true
		if word, numbered := strings.CutSuffix(said, "#"); numbered {
			said, short = word, startsFigure(strings.TrimLeft(m.after(), " "))
		}
		if strings.TrimSpace(m.after()) == "" {
			said += "." // of the sentence, too
		}
		return said + spaceAfter(m), short && !endsWord(m.before())
	}))
	plain, whole := formsOf(s.plain)
	all = append(all, doubtfulRule(`(`+plain+`)`, func(m match) (string, bool) {
		stopped := strings.HasPrefix(m.after(), ".") && strings.TrimSpace(m.after()) != "."
		return whole[m.group(1)], !stopped && !endsWord(m.before()) && !startsWord(m.after())
	}))
	return append(all,
		s.monthRule(f),
		fractionRule(c, parts),
		newRule(`(?i)\b(`+s.pages+`) ?(\d+) ?/ ?(\d+)\b`, func(m match) string {
			return m.group(1) + " " + m.group(2) + " " + s.over + " " + m.group(3)
		}),
		newRule(`\b[kK]m (\d+)\b`, func(m match) string { return s.km + " " + m.group(1) }),
	)
}

// monthRule says months behind a day: 12 janv. 2027, 1er févr.
func (s foreignShort) monthRule(f foreign) rule {
	which := among(s.months)
	return doubtfulRule(`\b([0-3]?\d(?:er|º|°)?)( de | )(`+s.months+`)(\.| |$)`, func(m match) (string, bool) {
		of, end := m.group(2), strings.Trim(m.group(4), ".")
		if of == " " {
			of = f.of
		}
		switch after := strings.TrimLeft(m.after(), " "); {
		case m.group(4) == "." && after == "":
			end = "." // of the sentence, too
		case startsDigit(after):
			end = strings.TrimRight(f.of, " ")
		}
		return m.group(1) + of + f.months[which(m.group(3))] + end, !startsWord(m.after()) || m.group(4) == " "
	})
}

// fractionRule says parts of what is weighed and measured: 1/2 kg, 3/4 l.
func fractionRule(c foreignCounts, parts [3]string) rule {
	return doubtfulRule(`\b(1/4|1/2|3/4) ?(\pL+)`, func(m match) (string, bool) {
		part, of, what := parts[1], "", m.group(2)
		switch m.group(1) {
		case "1/4":
			part, of = parts[0], c.of
		case "3/4":
			part, of = parts[2], c.of
		}
		if unit := c.plain[what]; unit != "" {
			what = of + unit
		}
		return part + " " + what, !endsWord(m.before()) && !strings.HasSuffix(m.before(), "/") &&
			!c.dated.has(strings.ToLower(lastWord(m.before())))
	})
}

// startsFigure reports whether a number comes next, also a Roman one.
func startsFigure(s string) bool {
	word := strings.TrimRight(s[:len(s)-len(strings.TrimLeft(s, "IVXL"))], " ")
	return startsDigit(s) || word != "" && !startsWord(s[len(word):])
}

// formsOf are a pattern of short forms, the longest first, and their words.
func formsOf(list string) (pattern string, words map[string]string) {
	words = map[string]string{}
	var forms []string
	for _, pair := range strings.Fields(list) {
		short, word, _ := strings.Cut(strings.ReplaceAll(pair, "_", " "), "=")
		if base, numbered := strings.CutSuffix(short, "#"); numbered {
			short, word = base, word+"#"
		}
		words[short] = word
		forms = append(forms, regexp.QuoteMeta(short))
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	return strings.Join(forms, "|"), words
}
