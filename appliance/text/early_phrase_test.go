package text

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// firstCut writes a sentence word by word, as a model does, and returns the text before its
// first cut and the rest.
func firstCut(language, sentence string) (begin, rest string) {
	c := Cutter{Language: language}
	for _, piece := range strings.SplitAfter(sentence, " ") {
		c.Push(piece)
		if begin, ended := c.Early(1, 1); begin != "" && !ended {
			return begin, strings.TrimPrefix(sentence, begin)
		}
	}
	return "", sentence
}

func TestEarlyCutsAtAMarkOrBeforeAPhrase(t *testing.T) {
	for language, rows := range map[string][]string{
		"": {
			"Yes, | it is.",
			"Sure, | Anna can do that.",
			"Of course, | it is.",
			"The weather in New York City is sunny today.",
			"Right now the weather | in New York City is sunny.",
			"Our train from Vienna to Salzburg leaves soon.",
			"Our trains leave from Vienna | at the main station now.",
			"I would really recommend Gone with the Wind to you.",
			"You should visit the Museum of Modern Art and Design.",
			"That was written by Barnes and Noble.",
			"Vienna, Austria is a good place.",
			"We meet on Monday, November 25, 2026 at noon.",
			"We meet on Monday, | if you can come.",
			"World War Two began | on September 1, 1939.",
			"Thank you, | I will.",
			"It opens at 9 a.m. and 6 p.m. every day.",
			"We are open today | from ten to six.",
			"It opens at ten to six.",
			"There are always one hundred and twenty people.",
			"It takes about two and a half hours.",
			"It costs two dollars and fifty cents.",
			"This costs you 10 000 or 20 000 euros.",
			"You can see two rooms | with a view of it.",
			"He said \"please come in, it is open\"",
			"He said 'don't come in here, it is open'",
			"The boys' room is the last | behind the stairs.",
			"The garden (which is old, and big) is nice.",
			"You may pay by card, | or in cash.",
			"We have a sauna — | it is free.",
			"We have a sauna; | it is free.",
			"The distance is 10 – 12 miles.",
			"I will do that | for you when I can.",
			"We serve all kinds of food such as pizza.",
			"You will have to catch the film Catch Me If You Can tonight.",
			"Ask Dr. Smith and Mrs. Jones.",
		},
		"es-MX": {
			"Claro, | Ana puede venir.",
			"El museo está abierto todos los días | desde las diez.",
			"La habitación cuesta treinta y cinco euros.",
			"Abrimos el lunes, 25 de noviembre.",
			"El tren va siempre de Madrid a Sevilla.",
		},
		"fr": {"Le musée reste ouvert | pendant toute la journée.", "La visite dure environ vingt et une minutes."},
		"it": {"Il museo rimane sempre aperto | durante la giornata.", "La visita costa circa cento e dieci euro."},
		"pt": {"O museu fica sempre aberto | durante o dia.", "O bilhete custa hoje trinta e cinco reais."},
		"hi": {"संग्रहालय आज खुला है | लेकिन कल बंद रहेगा।", "मुझे जम्मू और कश्मीर बहुत पसंद है।"},
		"de": {"Das Museum hat heute geöffnet, | und der Park auch.",
			"Das Museum hat heute von zehn bis achtzehn Uhr geöffnet."},
	} {
		for _, row := range rows {
			want, _, cut := strings.Cut(row, " | ")
			if !cut {
				want = ""
			}
			if begin, _ := firstCut(language, strings.Replace(row, " | ", " ", 1)); begin != want {
				t.Errorf("%s %q is cut behind %q", language, row, begin)
			}
		}
	}
}

// Wherever a sentence is cut early, the position follows a punctuation mark, or follows four
// words and precedes a conjunction or preposition; and no name, number, quotation or bracket
// spans it.
func TestEarlyNeverDividesNamesOrNumbers(t *testing.T) {
	whole := []string{"New York City", "the Museum of Modern Art", "Dr. Smith", "10 000", "3.5", "1 to 2", "ten to six",
		"two and a half", "Vienna, Austria", "November 25, 2026", "Johnson and Johnson", "Gone with the Wind",
		"\"wait, or go in\"", "(old, and in use)", "12:30", "$1,000"}
	plain := strings.Fields(
		"we have open the museum rooms good today it is, well, garden from in and or with for when to at")
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.SampledFrom(plain), rapid.SampledFrom(plain), rapid.SampledFrom(whole))
		parts := rapid.SliceOfN(word, 1, 25).Draw(t, "parts")
		sentence := strings.Join(parts, " ") + " then."
		begin, rest := firstCut("en", sentence)
		if begin == "" {
			return
		}
		rest = strings.TrimSpace(rest)
		first, _, _ := strings.Cut(rest, " ")
		mark := strings.ContainsAny(begin[len(begin)-1:], ",;:")
		if !mark && (len(strings.Fields(begin)) < minPhrase || !listed("early", "en before").has(first)) {
			t.Fatalf("%q | %q", begin, rest)
		}
		at := 0
		for _, part := range parts {
			end := at + len(part)
			if slices.Contains(whole, part) && at < len(begin) && len(begin) < end {
				t.Fatalf("%q is cut: %q | %q", part, begin, rest)
			}
			at = end + 1
		}
	})
}
