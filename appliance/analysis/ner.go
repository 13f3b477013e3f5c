package analysis

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/appliance/contract"
	"parley/appliance/expression"
	"parley/appliance/text"
)

// An entity is a name, a place, a time or an amount of money: bytes of the text, and how sure it is.
type entity struct {
	from, to   int
	confidence float64
}

// How sure an entity is, by the evidence for it. The order is certain; the numbers are estimates.
const (
	sureFigures = 0.9 // the form of a date, a time or an amount
	sureName    = 0.8 // capitals within a sentence, on a word that is not common
	sureCommon  = 0.6 // capitals within a sentence, on common words only: "Red Cross", or a title
	sureFirst   = 0.5 // the first word of a sentence, which is not common
)

// entities finds the names, places, times and amounts of an English text, in order. In other languages it finds
// nothing, in sentences that are all in capitals no names, and in a transcript without capitals only times and amounts.
func (s *scorer) entities() ([]entity, error) {
	if !expression.Understands(s.language) {
		return nil, nil
	}
	var all []entity
	for _, sentence := range s.sentences {
		if err := s.next(); err != nil {
			return nil, err
		}
		said := s.t.Text[sentence.from:sentence.to]
		var figures []entity
		for _, at := range slices.Concat(text.Money(said), text.Moments(said)) {
			figures = append(figures, entity{sentence.from + at[0], sentence.from + at[1], sureFigures})
		}
		slices.SortFunc(figures, entity.compare)
		figures = slices.CompactFunc(figures, entity.overlaps)
		found := slices.Concat(figures, namesIn(s.t, sentence, figures))
		slices.SortFunc(found, entity.compare)
		all = append(all, found...)
	}
	return all, nil
}

func (e entity) compare(other entity) int { return cmp.Compare(e.from, other.from) }

func (e entity) overlaps(other entity) bool { return e.from < other.to && other.from < e.to }

// namesIn returns the names of a sentence: runs of capitalised words outside of its times and amounts.
func namesIn(t Transcript, s unit, figures []entity) []entity {
	words := slices.DeleteFunc(slices.Clone(t.Words[s.words.From:s.words.To]), func(w Word) bool {
		return slices.ContainsFunc(figures, entity{from: w.From, to: w.To}.overlaps)
	})
	if shouted(t, words) {
		return nil
	}
	var all []entity
	for i := 0; i < len(words); i++ {
		w := t.named(words[i], sentenceBegins(t, s, words[i]))
		if w.confidence == 0 {
			continue
		}
		for next := t.continues(words[i+1:], w.to); next > 0; next = t.continues(words[i+1:], w.to) {
			i += next
			more := t.named(words[i], false)
			w.to, w.confidence = more.to, max(w.confidence, more.confidence)
		}
		all = append(all, w)
	}
	return all
}

// named returns a word as an entity, without a possessive ending. The confidence is 0 if it is no name.
func (t Transcript) named(w Word, first bool) entity {
	said := t.Text[w.From:w.To]
	for _, s := range [...]string{"'s", "’s"} {
		said = strings.TrimSuffix(said, s)
	}
	e := entity{from: w.From, to: w.From + len(said)}
	initial, _ := utf8.DecodeRuneInString(said)
	common := expression.CommonEnglish(said) || expression.CommonEnglish(t.Text[w.From:w.To])
	capitals := strings.ToUpper(said) == said && utf8.RuneCountInString(said) > 1
	switch {
	case !unicode.IsUpper(initial), isTitle(said), common && (first || capitals || strings.HasPrefix(said, "I")):
	case first:
		e.confidence = sureFirst
	case common:
		e.confidence = sureCommon
	default:
		e.confidence = sureName
	}
	return e
}

// continues returns how many words further a name that ends at a byte continues; 0 if it ends there. Between its
// capitalised words may stand "of", "of the", and the particles of names.
func (t Transcript) continues(words []Word, end int) int {
	before := ""
	for i, w := range words[:min(len(words), maxParticles+1)] {
		gap := t.Text[min(end, w.From):w.From]
		if gap != " " && gap != "\n" && gap != "\u00a0" && (gap != ". " || !t.initial(end)) {
			return 0
		}
		if t.named(w, false).confidence > 0 {
			return i + 1
		}
		word := t.Text[w.From:w.To]
		if !isParticle(word) || word == "the" && before != "of" {
			return 0
		}
		before, end = word, w.To
	}
	return 0
}

// maxParticles is how many particles may follow each other: "of the", "van der".
const maxParticles = 2

// isParticle reports whether a word may stand between the capitalised words of a name.
func isParticle(word string) bool {
	return slices.Contains([]string{"of", "the", "de", "da", "dos", "del", "della", "di", "du", "la", "le", "van",
		"von", "der", "den", "bin", "ibn", "al", "y"}, word)
}

// isTitle reports whether a word is a title that precedes a name and does not belong to it.
func isTitle(word string) bool {
	return slices.Contains([]string{"Mr", "Mrs", "Ms", "Mx", "Dr", "Prof", "Sir"}, word)
}

// initial reports whether a single capital stands before a byte of the text: "J." in a name.
func (t Transcript) initial(end int) bool {
	return end > 0 && t.Text[end-1] >= 'A' && t.Text[end-1] <= 'Z' && (end == 1 || t.Text[end-2] == ' ')
}

// sentenceBegins reports whether a word is the first of its sentence, or of a quotation in it.
func sentenceBegins(t Transcript, s unit, w Word) bool {
	before := strings.TrimRightFunc(t.Text[s.from:w.From], unicode.IsSpace)
	last, _ := utf8.DecodeLastRuneInString(before)
	return w.From == t.Words[s.words.From].From || strings.ContainsRune("\"“«‘(:", last)
}

// shouted reports whether a sentence is all in capitals.
func shouted(t Transcript, words []Word) bool {
	small, large := 0, 0
	for _, w := range words {
		for _, r := range t.Text[w.From:w.To] {
			switch {
			case unicode.IsLower(r):
				small++
			case unicode.IsUpper(r):
				large++
			}
		}
	}
	return small == 0 && large > 0 && len(words) > 1
}

// predictNER finds the entities of the transcript. Each has the scores of its last word in its sentence.
func (s *scorer) predictNER(o contract.BatchNER) (*contract.ModelPredictions[contract.NERPrediction], error) {
	t := s.t
	groups := groupsOf[contract.NERPrediction]{apart: o.IdentifySpeakers && t.spoken()}
	found, err := s.entities()
	if err != nil {
		return nil, err
	}
	name := func(e entity) string { return strings.ToLower(t.Text[e.from:e.to]) }
	support := map[string]int{}
	for _, e := range found {
		support[name(e)]++
	}
	at := positions(t.Text)
	word := 0
	for _, e := range found {
		for word < len(t.Words) && t.Words[word].To <= e.from {
			word++
		}
		u := unit{from: e.from, to: e.to}
		if word = u.takeWords(t, word); word == 0 {
			continue // no word, and so no scores
		}
		u.words.From = min(u.words.From, word-1) // an entity may share its only word with the one before
		last := t.Words[word-1]
		last.To = min(last.To, e.to)
		shown, err := s.word(unit{from: last.From, to: last.To, words: Span{From: word - 1, To: word}})
		if err != nil {
			return nil, err
		}
		p := contract.NERPrediction{
			Entity:           t.Text[e.from:e.to],
			Position:         contract.PositionInterval{Begin: at(e.from), End: at(e.to)},
			EntityConfidence: e.confidence,
			Support:          float64(support[name(e)]),
			LinkWord:         t.Text[last.From:last.To],
			Emotions:         shown.emotions.List(),
		}
		p.Time, p.Confidence, p.SpeakerConfidence = t.spokenAt(u, groups.apart)
		groups.add(t.speaker(u), p)
	}
	return &contract.ModelPredictions[contract.NERPrediction]{
		Metadata:           t.metadata(),
		GroupedPredictions: groups.list(),
	}, nil
}
