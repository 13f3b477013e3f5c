package analysis

import (
	"context"
	"fmt"
	"strings"
)

// text measures a written text.
func (a *Analyser) text(ctx context.Context, text string, r Request) (report Report, err error) {
	if r.Models.Language == nil && r.Models.NER == nil {
		return Report{}, notApplicable("a text", r)
	}
	err = a.words(ctx, ofText(text), r, &report)
	return report, err
}

// words measures what a text or transcript says.
func (a *Analyser) words(ctx context.Context, t Transcript, r Request, to *Report) (err error) {
	if r.Models.Language != nil {
		to.Models.Language, err = a.language(ctx, t, r)
	}
	return err
}

// notApplicable returns the error for a medium to which no model of the request applies.
func notApplicable(medium string, r Request) error {
	return &Error{fmt.Sprintf("it is %s, to which none of the models applies that were asked for (%s)", medium,
		strings.Join(r.Models.Names(), ", "))}
}
