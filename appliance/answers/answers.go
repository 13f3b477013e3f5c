// Package answers finds which approved answer of a config a person wants to hear. A Finder compiles the answers of a
// config to a Set, which holds the vectors of all ways of asking; Set.Decide compares a question with them.
package answers

import (
	"context"
	"fmt"

	"parley/appliance/engine"
)

// Question is what a person said, and the turn before it, which is empty at the beginning of a conversation.
type Question struct {
	Text                        string
	BeforeUser, BeforeAssistant string
	Not                         string // id of an answer that the person has just rejected; empty: none
}

// Judge weighs choices in one step of a language model, without writing. Every engine.LanguageModel is a Judge; one
// that reports no probabilities returns engine.ErrUnsupported.
type Judge interface {
	Choose(ctx context.Context, p engine.Prompt, choices []string) ([]float64, error)
}

// Decision says which answer a question wants.
type Decision struct {
	Item  int     // index of the item in Set.Answers, or None
	Score float64 // how likely it is that the answer of the item is right, 0 to 1; of the best one if Item is None
	// Others are the next best items, the best first; the best one too if Item is None.
	Others []Candidate
}

// None is the Item of a Decision if no answer fits.
const None = -1

// Candidate is an item that might fit, with its likelihood.
type Candidate struct {
	Item  int
	Score float64
}

// Forget has a judge forget the questions of a conversation, because it is over. judge may be nil.
func Forget(judge Judge, conversation string) {
	if m, ok := judge.(interface{ Forget(conversation string) }); ok {
		m.Forget(conversation + judgeSuffix)
	}
}

// Decide says which answer q wants. judge may be nil. conversation names the conversation for the cache of the language
// model; it may be empty. Decide does not say what to do with a low score: that is up to the caller.
func (s *Set) Decide(ctx context.Context, q Question, judge Judge, u *engine.Urgency, conversation string) (Decision,
	error) {
	d, err := s.decide(ctx, asking{Question: q, judge: judge, urgency: u, conversation: conversation})
	if err != nil {
		return Decision{Item: None}, fmt.Errorf("answers: decide: %w", err)
	}
	return d, nil
}
