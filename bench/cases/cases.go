// Package cases holds questions and errands for assistants with different
// prompts, and the patterns by which an answer to each is right. They were
// written without sight of the rules that they measure.
package cases

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
)

//go:embed *.json
var files embed.FS

// Kinds are the kinds of cases.
var Kinds = []string{"plain", "words", "exception", "edge", "sum", "unknown", "errand", "false", "follow", "polite",
	"open"}

// Assistant is a prompt, and what people say to the assistant that has it.
type Assistant struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"` // desk, story, tutor …
	Prompt string `json:"prompt"`
	Cases  []Case `json:"cases"`
}

// Case is one question or errand.
type Case struct {
	Kind   string     `json:"kind"` // one of Kinds
	Before []Exchange `json:"before"`
	Ask    string     `json:"ask"`
	// Right are patterns that all match a right answer, and Wrong those of which
	// none does, whatever the case of letters.
	Right []string `json:"right"`
	Wrong []string `json:"wrong"`
	// Held is put away: it decides nothing but when to stop.
	Held bool `json:"held"`
	// SampleRight and SampleWrong are answers that prove the patterns.
	SampleRight string `json:"sample_right"`
	SampleWrong string `json:"sample_wrong"`
}

// Exchange is an earlier turn of the conversation.
type Exchange struct {
	User      string `json:"user"`
	Assistant string `json:"assistant"`
}

// All are the assistants, by their names.
func All() ([]Assistant, error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	all := make([]Assistant, len(entries))
	for i, e := range entries {
		data, err := files.ReadFile(e.Name())
		if err != nil {
			return nil, err
		}
		strict := json.NewDecoder(bytes.NewReader(data))
		strict.DisallowUnknownFields()
		if err := strict.Decode(&all[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
	}
	return all, nil
}

// Passes reports whether an answer is right.
func (c Case) Passes(answer string) (bool, error) {
	for want, patterns := range map[bool][]string{true: c.Right, false: c.Wrong} {
		for _, p := range patterns {
			match, err := regexp.MatchString("(?i)"+p, answer)
			if err != nil || match != want {
				return false, err
			}
		}
	}
	return true, nil
}
