package contract

// MaxTryChars bounds the question of a PostedTry: of a longer one, the box
// compares the beginning only.
const MaxTryChars = 1000

// PostedTry asks which approved answer fits a question. It has the answers, or the
// config that has them.
type PostedTry struct {
	ConfigID      string   `json:"config_id,omitempty"`
	ConfigVersion *int     `json:"config_version,omitempty"` // absent: the newest
	Answers       *Answers `json:"answers,omitempty"`
	Text          string   `json:"text"`
	Before        string   `json:"before,omitempty"` // what the user asked before
}

// ReturnTry is which approved answer fits a question.
type ReturnTry struct {
	AnswerID *string        `json:"answer_id"` // null: none fits
	Score    float64        `json:"score"`     // how likely it is the right one, 0 to 1
	Others   []ScoredAnswer `json:"others"`    // other answers that were considered, best first
}

// ScoredAnswer is an approved answer that was considered.
type ScoredAnswer struct {
	AnswerID string  `json:"answer_id"`
	Score    float64 `json:"score"` // 0 to 1
}

func (PostedTry) read(o object) PostedTry {
	o.require("text")
	t := PostedTry{
		ConfigID:      o.text("config_id", MaxModelResourceChars),
		ConfigVersion: o.integerOrNil("config_version", 0, maxVersion),
		Answers:       answersOf(o),
		Text:          o.nonBlank("text", MaxTryChars),
		Before:        o.multiline("before", MaxTryChars),
	}
	o.noteFirst("text", t.Text, "has the control character %U", isControlInText)
	switch {
	case t.ConfigID == "" && t.Answers == nil:
		o.note("config_id", "wrong_value", "missing; give the id of a config, or answers")
	case t.ConfigID != "" && t.Answers != nil:
		o.note("answers", "wrong_value", "give the id of a config, or answers, not both")
	case t.ConfigID == "" && t.ConfigVersion != nil:
		o.note("config_id", "wrong_value", "missing; a version is one of the config with that id")
	}
	return t
}
