package analysis

import (
	"fmt"
	"slices"

	"parley/appliance/contract"
	"parley/appliance/expression"
)

// contextWords is how many words on either side decide about a word; see expression.Meter.ReadWord.
const contextWords = 5

// A scorer scores parts of a transcript.
type scorer struct {
	m         *expression.Meter
	next      step
	t         Transcript
	language  string
	sentences []unit // of t
	at        int    // the sentence of the last word
}

// predictLanguage scores the words, sentences, utterances or turns of the transcript. Each speaker is a group if
// speakers are asked for; otherwise there is one group.
func (s *scorer) predictLanguage(
	o contract.BatchLanguage) (*contract.ModelPredictions[contract.LanguagePrediction], error) {
	t := s.t
	groups := groupsOf[contract.LanguagePrediction]{apart: o.IdentifySpeakers && t.spoken()}
	score := s.whole
	if o.Granularity == contract.ByWord {
		score = s.word
	}
	parts := s.sentences
	if o.Granularity != contract.BySentence || len(parts) == 0 {
		parts = units(t, o.Granularity)
	}
	at := positions(t.Text)
	for _, u := range parts {
		shown, err := score(u)
		if err != nil {
			return nil, err
		}
		p := contract.LanguagePrediction{
			Text:     t.Text[u.from:u.to],
			Position: contract.PositionInterval{Begin: at(u.from), End: at(u.to)},
			Emotions: shown.emotions.List(),
		}
		if o.Sentiment != nil {
			p.Sentiment = shown.steps()
		}
		if o.Toxicity != nil {
			p.Toxicity = contract.ScoresOf()
		}
		p.Time, p.Confidence, p.SpeakerConfidence = t.spokenAt(u, groups.apart)
		groups.add(t.speaker(u), p)
	}
	return &contract.ModelPredictions[contract.LanguagePrediction]{
		Metadata:           t.metadata(),
		GroupedPredictions: groups.list(),
	}, nil
}

// metadata says how reliable a transcript is; nil for a written text.
func (t Transcript) metadata() *contract.TranscriptionMetadata {
	if !t.spoken() {
		return nil
	}
	m := &contract.TranscriptionMetadata{Confidence: rounded(t.Confidence, 4)}
	if slices.Contains(contract.BatchLanguages(), t.Detected) { // clients know no other
		m.DetectedLanguage = t.Detected
	}
	return m
}

// unitScores are the scores of a unit.
type unitScores struct {
	emotions  contract.TextEmotionScores
	sentiment [expression.SentimentSteps]float64
	known     bool // whether there is a sentiment
}

// add adds what a piece of the unit shows.
func (s *unitScores) add(r expression.Reading, share float64) {
	for i, v := range r.Emotions() {
		s.emotions[i] += v * share
	}
	var steps [expression.SentimentSteps]float64
	steps, s.known = r.Sentiment()
	for i, v := range steps {
		s.sentiment[i] += v * share
	}
}

// steps returns the sentiment as a list with the names "1" (very bad) to "9" (very good). It is empty if the sentiment
// is not known.
func (s *unitScores) steps() contract.Scores {
	if !s.known {
		return contract.ScoresOf()
	}
	all := make([]contract.NamedScore, len(s.sentiment))
	for i, v := range s.sentiment {
		all[i] = contract.NamedScore{Name: "123456789"[i : i+1], Score: max(rounded(v, 4), lowest)}
	}
	return contract.ScoresOf(all...)
}

// lowest is the lowest score with four decimals that is not 0.
const lowest = 1e-4

// whole returns what a sentence or more shows. If it is longer than the models read, that is the mean over its pieces.
func (s *scorer) whole(u unit) (found unitScores, err error) {
	rest := s.t.Text[u.from:u.to]
	for all := float64(len(rest)); rest != ""; {
		if err := s.next(); err != nil {
			return found, err
		}
		piece := firstPiece(rest, expression.MaxText)
		rest = rest[len(piece):]
		found.add(s.m.Read(piece, s.language), float64(len(piece))/all)
	}
	for i, v := range found.emotions {
		found.emotions[i] = rounded(v, 4)
	}
	return found, nil
}

// word returns what a word shows in its sentence. It is called for words in order.
func (s *scorer) word(u unit) (found unitScores, err error) {
	if err := s.next(); err != nil {
		return found, err
	}
	i := u.words.From
	if i < s.sentences[s.at].words.From {
		s.at = 0
	}
	for s.sentences[s.at].words.To <= i {
		s.at++
	}
	in := s.sentences[s.at]
	from, to := min(in.from, u.from), max(in.to, u.to)
	if first := i - contextWords; first > in.words.From {
		from = s.t.Words[first].From
	}
	if last := i + contextWords; last+1 < in.words.To {
		to = s.t.Words[last+1].From
	}
	text := s.t.Text
	found.add(s.m.ReadWord(text[from:u.from], text[u.from:u.to], text[u.to:to], s.language), 1)
	return found, nil
}

// firstPiece returns the beginning of a text, most bytes at most, up to a space if there is one in its second half.
func firstPiece(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for i := most; i > most/2; i-- {
		if text[i] == ' ' || text[i] == '\n' {
			return text[:i]
		}
	}
	for most > 1 && text[most]&0xc0 == 0x80 { // inside a character
		most--
	}
	return text[:most]
}

// speaker returns who says a unit.
func (t Transcript) speaker(u unit) int {
	if u.words.From == u.words.To {
		return 0
	}
	return t.Words[u.words.From].Speaker
}

// spokenAt returns when a unit was said, and how confident its transcription and, if speakers are told apart, its
// attribution are on average. Of a written text, all are nil.
func (t Transcript) spokenAt(u unit, apart bool) (when *contract.TimeInterval, confidence, speaker *float64) {
	words := t.Words[u.words.From:u.words.To]
	if !t.spoken() || len(words) == 0 {
		return nil, nil, nil
	}
	var c, s float64
	for _, w := range words {
		c += w.Confidence / float64(len(words))
		s += w.SpeakerConfidence / float64(len(words))
	}
	c, s = rounded(c, 4), rounded(s, 4)
	if apart {
		speaker = &s
	}
	return &contract.TimeInterval{Begin: words[0].Begin, End: words[len(words)-1].End}, &c, speaker
}

// groupsOf collects predictions by speaker.
type groupsOf[P any] struct {
	apart bool // whether speakers are told apart
	all   []contract.Grouped[P]
}

// add appends a prediction to the group of a speaker.
func (g *groupsOf[P]) add(speaker int, p P) {
	if !g.apart {
		speaker = 0
	}
	for len(g.all) <= speaker {
		id := contract.UnknownGroup
		if g.apart {
			id = fmt.Sprintf("speaker_%d", len(g.all))
		}
		g.all = append(g.all, contract.Grouped[P]{ID: id, Predictions: []P{}})
	}
	g.all[speaker].Predictions = append(g.all[speaker].Predictions, p)
}

// list returns the groups that have predictions; never nil.
func (g *groupsOf[P]) list() []contract.Grouped[P] {
	some := []contract.Grouped[P]{}
	for _, group := range g.all {
		if len(group.Predictions) > 0 {
			some = append(some, group)
		}
	}
	return some
}
