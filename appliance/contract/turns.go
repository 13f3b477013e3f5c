package contract

// ReturnTurns are the turns of a live chat, with the moments of their stages.
type ReturnTurns struct {
	ChatID string       `json:"chat_id"`
	Turns  []ReturnTurn `json:"turns"` // the oldest first
}

// ReturnTurn is a turn of the user's that was answered aloud. Its moments are in
// milliseconds from the beginning of the chat.
type ReturnTurn struct {
	// counts the answers that were begun, also those that nobody heard
	Turn       int   `json:"turn"`
	Typed      bool  `json:"typed"`       // it was written: it came, whole, at turn_end
	CalledTool bool  `json:"called_tool"` // a tool was waited for
	VoiceEnd   int64 `json:"voice_end"`   // the end of the user's voice
	Transcript int64 `json:"transcript"`  // its words were there
	TurnEnd    int64 `json:"turn_end"`    // the silence that ends a turn was over
	// the language model's first word; missing where none wrote the answer
	FirstToken int64 `json:"first_token,omitempty"`
	// the answer's first sentence, or the piece of it that is spoken first
	FirstSentence int64 `json:"first_sentence"`
	FirstSound    int64 `json:"first_sound"` // its first sound was made
	Sent          int64 `json:"sent"`        // that was sent
}
