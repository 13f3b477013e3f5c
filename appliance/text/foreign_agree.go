package text

import (
	"slices"
	"strings"
)

// A grammar is how the numbers of a language follow the gender of what they count, which
// eSpeak NG does not know: "41 personas" are "cuarenta y una".
type grammar struct {
	// feminine are the endings of feminine nouns in the singular, and such nouns themselves
	// behind an =; masculine are the nouns that end like feminine ones.
	feminine, masculine string
	// say writes a number below a million; false where eSpeak NG reads it rightly.
	say func(n int, feminine bool, noun string) (string, bool)
}

var grammars = map[string]grammar{
	"fr": {
		feminine: "tion sion ée ure ette ance ence té ie ine elle esse aison ille euse trice =heure minute seconde semaine" +
			" année personne salle chambre page place pièce table porte ligne rue livre fois nuit entrée visite œuvre tonne" +
			" tasse carte clé main part voix image femme fille mère sœur classe étape route gare piste chaise boîte douche" +
			" adresse réponse église école date langue goutte dose cuillère roupie course caisse borne brochure valise" +
			" commande demande bière soupe glace pomme orange crêpe tarte salade limonade promenade façade",
		masculine: "musée lycée silence magazine côté été comité génie incendie parapluie trophée",
		say:       sayFrench,
	},
	"es": {
		feminine: "a ción sión dad tad tud umbre =noche vez mano clase llave calle tarde parte flor mujer luz voz cruz red" +
			" serie base fase frase imagen nave suite madre leche fuente torre",
		masculine: "día mapa problema programa tema sistema idioma clima planeta drama poema gorila yoga pijama",
		say:       saySpanish,
	},
	"pt": {
		feminine: "a ção são dade gem ice tude =noite vez mulher mão parede chave parte classe fase base rede sede flor" +
			" cor luz voz cruz suíte fonte ponte tarde mãe",
		masculine: "dia mapa problema programa sistema tema clima cinema idioma grama quilograma miligrama planeta pijama" +
			" telegrama",
		say: sayPortuguese,
	},
	"it": {
		feminine: "a zione sione gione tà tù =notte chiave parte classe gente voce nave carne base fase frase sede rete" +
			" torre croce mano foto auto radio bici moglie madre luce valle",
		masculine: "problema programma sistema tema clima cinema pigiama poeta panorama diploma dramma",
		say:       sayItalian,
	},
}

const (
	// numberedBy stand before the number of a thing, which counts nothing.
	numberedBy wordList = " sala salle salon planta piso piano andar étage puerta porta porte línea linha linea ligne" +
		" chambre habitación quarto camera página page pagina capítulo capitolo chapitre número numero nº n° opción opção" +
		" opzione option tecla tasto touche pulse pulsa marque marca presione oprima teclee digite aperte pressione tecle" +
		" prema premi digiti appuyez tapez composez grupo gruppo groupe zona zone andén andar vía via voie ruta rota route" +
		" bus autobús ônibus autobus tren trem treno train vuelo voo volo vol nivel nível livello niveau paso passo étape" +
		" artículo artigo articolo article asiento assento posto siège fila mesa tavolo table caja caixa cassa caisse" +
		" calle rua versión versão versione version parte partie tomo box consulta mostrador sportello guichet ventanilla" +
		" taquilla terminal salida saída uscita sortie parada edificio bloque bloco bloc escalera escada scala escalier" +
		" aula módulo gate stand quai platform binario plataforma carretera día dia siglo século tel teléfono código" +
		" codice code "
	// countsNothing stand behind a number and are no nouns.
	countsNothing wordList = " para por con sin está es son hay que como más menos entre hasta desde se no si ahora" +
		" agora cada y e o u de del a al en da do das dos em no na com sem per con senza che come più fino ahora luego" +
		" después antes ayer hoy mañana hoje amanhã ontem oggi domani ieri sera pour par avec sans est sont et ou où du" +
		" des à au aux en dans sur le la les un une il el los las lo gli i uma um una uno ya já già era foi fue fu va vai" +
		" sia mas pero ma dalla alla della nella sulla dalle alle delle das às às está já ainda aún toda todo "
)

// oneOf stand before a one that counts, whatever follows it.
const oneOf wordList = " de en a con por hasta cada solo sólo hay queda quedan tiene tengo tenemos dura es son más" +
	" menos y o e para sobre hace falta faltan incluye tome toma tomar espere necesita em com até só há resta tem temos" +
	" mais ou um di in per fino ogni c'è ho ha abbiamo resta manca più meno prenda prendere da del al ed est sono "

// oftenCounted are nouns that a one before them counts, whatever stands before it.
const oftenCounted wordList = " minuto minute ora hora heure persona pessoa personne segundo secondo seconde noche" +
	" noite notte día semana settimana semaine mes mês mese año anno euro dólar mesa plaza entrada billete bilhete" +
	" biglietto tavolo stanza habitación copa taza metro kilómetro litro kilo chilo quilo adulto niño "

// agreement writes the numbers that follow the gender of what they count.
func (g grammar) agreement() rule {
	return doubtfulRule(digits, `\b(\d{1,3}(?:[.\x{a0}\x{202f}]\d{3})?|\d{4,6})[ \x{a0}\x{202f}](\pL[\pL-]*)`,
		func(m match) (string, bool) {
			noun, before := strings.ToLower(m.group(2)), strings.TrimRight(m.before(), " \u00a0\u202f")
			last := strings.ToLower(strings.TrimRight(before[strings.LastIndexAny(before, " \u00a0(")+1:], "."))
			stop := strings.ContainsAny(lastRunes(before), ",;:-/+€$£.")
			n := atoi(ungrouped.Replace(m.group(1)))
			switch {
			case m.group(1)[0] == '0', endsWord(m.before()), pointedBefore(m.before()), strings.HasSuffix(m.before(), "-"):
				return "", false
			case numberedBy.has(last) && !(stop &&
				!strings.HasSuffix(before, ".")), countsNothing.has(noun), len([]rune(noun)) < 3:
				return "", false
			case n == 1 && !stop && last != "" && !oneOf.has(last) && !oftenCounted.has(noun):
				return "", false // Apolo 1 despegó
			case n != 1 && noun != "mil" && !strings.HasSuffix(noun, "s") && !strings.HasSuffix(noun, "x"):
				return "", false
			}
			said, ok := g.say(n, g.isFeminine(noun, n > 1), noun)
			return strings.Replace(said+" ", "' ", "'", 1) + m.group(2), ok
		})
}

// isFeminine guesses the gender of a noun by its ending.
func (g grammar) isFeminine(noun string, plural bool) bool {
	forms := []string{noun}
	if plural {
		forms = append(forms, strings.TrimSuffix(noun, "s"), strings.TrimSuffix(noun, "es"), strings.TrimSuffix(noun,
			"ces")+"z")
		for _, ending := range [...][2]string{{"ciones", "ción"}, {"siones", "sión"}, {"ções", "ção"}, {"sões", "são"},
			{"gens", "gem"}} {
			if base, ok := strings.CutSuffix(noun, ending[0]); ok {
				forms = append(forms, base+ending[1])
			}
		}
	}
	endings, nouns, _ := strings.Cut(g.feminine, "=")
	if slices.ContainsFunc(forms, wordList(" "+g.masculine+" ").has) {
		return false
	}
	return slices.ContainsFunc(forms, func(form string) bool {
		return wordList(" "+nouns+" ").has(form) ||
			slices.ContainsFunc(strings.Fields(endings), func(e string) bool { return strings.HasSuffix(form, e) })
	})
}
