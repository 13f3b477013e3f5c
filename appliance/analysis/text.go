package analysis

import (
	"context"
	"fmt"
	"strings"
)

// maxTextWords is how many words a text may have: those of 1 MiB of prose. The predictions for so many words, with
// their sentiment, take 136 MB, and some 310 MB while they are made.
const maxTextWords = 300_000

// text measures a written text.
func (a *Analyser) text(ctx context.Context, text string, r Request) (report Report, err error) {
	if !r.wantsWords() {
		return Report{}, notApplicable("a text", r)
	}
	core := a.Gate.Steps(ctx, r.Urgency)
	t, err := ofText(text, core.Next)
	core.Release()
	if err != nil {
		return Report{}, err
	}
	if n := len(t.Words); n > maxTextWords {
		return Report{}, &Error{fmt.Sprintf("the text has %d words; at most %d are allowed", n, maxTextWords)}
	}
	err = a.words(ctx, t, r, &report)
	return report, err
}

// words measures what a text or transcript says.
func (a *Analyser) words(ctx context.Context, t Transcript, r Request, to *Report) error {
	if !r.wantsWords() {
		return nil
	}
	core := a.Gate.Steps(ctx, r.Urgency)
	defer core.Release()
	all, err := sentences(t, core.Next)
	if err != nil {
		return err
	}
	s := &scorer{
		m:         a.Meter,
		next:      core.Next,
		t:         t,
		language:  t.language(),
		sentences: all,
	}
	if o := r.Models.Language; o != nil {
		if to.Models.Language, err = s.predictLanguage(*o); err != nil {
			return err
		}
	}
	if o := r.Models.NER; o != nil {
		to.Models.NER, err = s.predictNER(*o)
	}
	return err
}

// notApplicable returns the error for a medium to which no model of the request applies.
func notApplicable(medium string, r Request) error {
	return &Error{fmt.Sprintf("it is %s, to which none of the models applies that were asked for (%s)", medium,
		strings.Join(r.Models.Names(), ", "))}
}
