package contract

// PostedAnswersCheck asks which approved answers seem to be asked for alike.
type PostedAnswersCheck struct {
	Answers *Answers `json:"answers"`
}

// ReturnAnswersCheck lists pairs of approved answers that seem to be asked for alike, the
// most alike first.
type ReturnAnswersCheck struct {
	Conflicts []AnswersConflict `json:"conflicts"`
	// Whether all ways to ask were compared by their meaning. If not, the box lacks the
	// pack embed, or has not had enough time yet; ways with the same words are found
	// anyway.
	Complete bool `json:"complete"`
}

// AnswersConflict is a pair of approved answers that seem to be asked for alike.
type AnswersConflict struct {
	Items []ConflictingAnswer `json:"items"` // two
	Score float64             `json:"score"` // 1: with the same words
}

// ConflictingAnswer is an approved answer, and the way to ask for it that is like one of
// another answer.
type ConflictingAnswer struct {
	AnswerID string `json:"answer_id"`
	Ask      string `json:"ask"`
}

// ReturnAnswersReport is what users asked in the chats of a config. Only chats with a
// stored history count.
type ReturnAnswersReport struct {
	ConfigID string `json:"config_id"`
	// The answers of the newest version in its order, also those that were never given,
	// and then others that were given.
	Given           []ReportedAnswer   `json:"given"`
	UnansweredCount int                `json:"unanswered_count"` // questions that no answer fitted
	Unanswered      []ReportedQuestion `json:"unanswered"`       // those of the last ones, by likeness, newest first
}

// ReportedAnswer is how often an approved answer was given.
type ReportedAnswer struct {
	AnswerID string `json:"answer_id"`
	Count    int    `json:"count"`
	LastOn   int64  `json:"last_on,omitempty"` // in Unix milliseconds
}

// ReportedQuestion are questions that ask alike.
type ReportedQuestion struct {
	Text    string   `json:"text"`  // as it was asked most often
	Texts   []string `json:"texts"` // other wordings
	Count   int      `json:"count"`
	FirstOn int64    `json:"first_on"` // in Unix milliseconds
	LastOn  int64    `json:"last_on"`
	ChatID  string   `json:"chat_id"` // where it was asked last
}

func (PostedAnswersCheck) read(o object) PostedAnswersCheck {
	o.require("answers")
	return PostedAnswersCheck{answersOf(o)}
}
