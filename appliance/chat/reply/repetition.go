package reply

import (
	"context"
	"slices"
	"strings"

	"parley/appliance/engine"
	"parley/appliance/text"
)

// repeating is a language model that continues what another one has said.
type repeating struct {
	engine.LanguageModel
	said string
}

func (m repeating) Generate(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
	r := newRepetition(m.said, emit)
	u, err := m.LanguageModel.Generate(ctx, p, r.take)
	if err != nil {
		return u, err
	}
	return u, r.rest()
}

// repetition removes from a continued answer what the first model has said: a small model that is asked to
// continue begins its sentence again, or the whole answer.
type repetition struct {
	emit func(engine.Part) error
	// said holds word lists of the first model's text: one from the beginning of each sentence that the answer
	// may be repeating.
	said [][]string
	held string // the part of the answer that may be a repetition
}

// newRepetition returns a filter that passes to emit the text after the repetition of said. If said is empty,
// the filter passes everything.
func newRepetition(said string, emit func(engine.Part) error) *repetition {
	r := &repetition{emit: emit}
	all := text.Sentences(said)
	for i := range all {
		r.said = append(r.said, text.Written(strings.Join(all[i:], " ")))
	}
	return r
}

// take takes a part of the answer.
func (r *repetition) take(p engine.Part) error {
	if len(r.said) == 0 || p.Text == "" {
		return r.emit(p)
	}
	r.held += p.Text
	p.Text = r.news(false)
	if p.Text == "" && p.Call == nil && p.Session == "" {
		return nil
	}
	return r.emit(p)
}

// rest takes the end of the answer.
func (r *repetition) rest() error {
	if news := r.news(true); news != "" {
		return r.emit(engine.Part{Text: news})
	}
	return nil
}

// news returns the part of held that is not a repetition, or "" while that is unknown. whole means that
// nothing more will come.
func (r *repetition) news(whole bool) string {
	if len(r.said) == 0 || r.held == "" {
		return ""
	}
	words := text.Written(r.held)
	sure := words // without the last word, which may be incomplete
	if last := []rune(r.held); !whole && len(words) > 0 && text.IsWordRune(last[len(last)-1]) {
		sure = words[:len(words)-1]
	}
	r.said = slices.DeleteFunc(r.said, func(s []string) bool {
		n := min(len(s), len(sure))
		return !slices.Equal(s[:n], sure[:n])
	})
	news := ""
	done := slices.IndexFunc(r.said, func(s []string) bool { return len(s) <= len(sure) })
	switch {
	case len(r.said) == 0:
		news = r.held
	case done >= 0:
		news = afterWords(r.held, len(r.said[done]))
		r.said = nil
	case whole: // the answer only repeated the beginning of said
		r.said = nil
	default:
		return ""
	}
	r.held = ""
	return news
}

// afterWords returns what follows this many words of a text, and the punctuation after them.
func afterWords(s string, words int) string {
	for range words {
		s = strings.TrimLeftFunc(s, func(r rune) bool { return !ofWritten(r) })
		s = strings.TrimLeftFunc(s, ofWritten)
	}
	return strings.TrimLeft(s, " .,;:!?…")
}

// ofWritten is text.OfWord, plus the apostrophe that text.Written replaces by a straight one.
func ofWritten(r rune) bool { return text.IsWordRune(r) || r == '’' }
