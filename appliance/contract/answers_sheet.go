package contract

// ReturnAnswersSheet is what a sheet (CSV) of approved answers has.
type ReturnAnswersSheet struct {
	Items    []AnswerItem `json:"items"`
	Warnings []string     `json:"warnings"` // what was assumed or ignored, for who wrote the sheet
}
