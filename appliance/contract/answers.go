package contract

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// AnswersMode is who may answer in a chat whose config has approved answers.
type AnswersMode string

// The modes of Answers. An empty mode is AnswersFirst.
const (
	AnswersFirst AnswersMode = "first" // an approved answer where one fits, else the language model
	AnswersOnly  AnswersMode = "only"  // an approved answer, or Answers.Unknown
)

// Answers are the approved answers of a config: what the assistant says word for
// word when a user asks for it. They are an extension of Parley.
type Answers struct {
	Mode AnswersMode `json:"mode,omitempty"`
	// What the assistant says if no answer fits and the language model may not
	// answer.
	Unknown string       `json:"unknown,omitempty"`
	Items   []AnswerItem `json:"items"`
}

// AnswerItem is an approved answer.
type AnswerItem struct {
	ID  string   `json:"id"`  // a to z, 0 to 9 and hyphens
	Ask []string `json:"ask"` // ways to ask for it
	Say string   `json:"say"` // may contain variables: {{name}}
}

// answersOf parses the field answers; nil if it is absent. In it, a missing field or one
// of another type is a value that is not allowed, too: the error is an ErrInvalid with the
// path.
func answersOf(o object) *Answers {
	noted := len(*o.problems)
	a := optional(o, "answers", readAnswers)
	for i := range (*o.problems)[noted:] {
		(*o.problems)[noted+i].Type = "wrong_value"
	}
	return a
}

func readAnswers(o object) Answers {
	o.require("items")
	a := Answers{
		Mode:    choice(o, "mode", AnswersFirst, AnswersOnly),
		Unknown: o.multiline("unknown", MaxUnknownChars),
		Items:   readAnswerItems(o),
	}
	if a.Mode == AnswersOnly && strings.TrimSpace(a.Unknown) == "" {
		o.note("unknown", "missing", "missing; with the mode only it is what the assistant says if no answer fits")
	}
	return a
}

func readAnswerItems(o object) []AnswerItem {
	items := []AnswerItem{}
	paths := map[string]string{} // by id
	for _, i := range o.list("items", MaxAnswerItems) {
		i.require("id", "ask", "say")
		item := AnswerItem{
			ID:  i.nonBlank("id", MaxAnswerIDChars),
			Ask: readWaysToAsk(i),
			Say: i.nonBlank("say", MaxSayChars),
		}
		i.noteFirst("id", item.ID, "has the character %q; allowed are a to z, 0 to 9 and hyphens", notInAnswerID)
		i.noteFirst("say", item.Say, "has the control character %U", isControlInText)
		if other, taken := paths[item.ID]; taken && item.ID != "" {
			i.note("id", "wrong_value", fmt.Sprintf("%q is the id of %s already", Clip(item.ID), other))
		} else {
			paths[item.ID] = path(i.loc)
		}
		items = append(items, item)
	}
	return items
}

func notInAnswerID(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' }

// readWaysToAsk parses the list ask of an answer. Each way is one line.
func readWaysToAsk(i object) []string {
	const name = "ask"
	i.expect(name, Shape{
		Kind:  "array",
		Items: &Shape{Kind: "string", Low: bound(1), High: bound(MaxAskChars)},
		Low:   bound(1),
		High:  bound(MaxWaysToAsk),
	})
	list := i.items(name, MaxWaysToAsk)
	if list != nil && len(list) == 0 {
		i.note(name, "wrong_value", "empty; an answer needs at least one way to ask for it")
	}
	ways := make([]string, len(list))
	for n, raw := range list {
		ways[n] = readWayToAsk(i.in(name), n, raw)
	}
	return ways
}

func readWayToAsk(o object, n int, raw json.RawMessage) string {
	var way string
	if kindOf(raw) != "string" || json.Unmarshal(raw, &way) != nil {
		o.note(n, "wrong_type", "expected a string, got "+excerpt(raw))
		return ""
	}
	if chars := utf8.RuneCountInString(way); chars > MaxAskChars {
		o.note(n, "wrong_value", fmt.Sprintf("%d characters; at most %d are allowed", chars, MaxAskChars))
	}
	if strings.TrimSpace(way) == "" {
		o.note(n, "wrong_value", "empty; it needs at least one character other than a space")
	}
	for _, r := range way {
		if unicode.IsControl(r) {
			o.note(n, "wrong_value", fmt.Sprintf("has the control character %U; a way to ask is one line", r))
			break
		}
	}
	return way
}
