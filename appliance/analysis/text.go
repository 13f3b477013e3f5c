package analysis

import (
	"context"
	"fmt"
	"strings"
)

// text measures a written text.
func (a *Analyser) text(_ context.Context, _ string, r Request) (Report, error) {
	if r.Models.Language == nil && r.Models.NER == nil {
		return Report{}, notApplicable("a text", r)
	}
	return Report{}, nil
}

// notApplicable returns the error for a medium to which no model of the request applies.
func notApplicable(medium string, r Request) error {
	return &Error{fmt.Sprintf("it is %s, to which none of the models applies that were asked for (%s)", medium,
		strings.Join(r.Models.Names(), ", "))}
}
