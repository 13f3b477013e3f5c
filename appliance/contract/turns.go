package contract

// ReturnTurns lists the turns of a live chat, with the times of their stages.
type ReturnTurns struct {
	ChatID string       `json:"chat_id"`
	Turns  []ReturnTurn `json:"turns"` // the oldest first
}

// ReturnTurn is a turn of the user with a spoken answer. Its times are in
// milliseconds since the chat began.
type ReturnTurn struct {
	// The number of the answer, counting those that nobody heard
	Turn       int   `json:"turn"`
	Typed      bool  `json:"typed"`       // the user typed it: it arrived complete at turn_end
	CalledTool bool  `json:"called_tool"` // the answer waited for a tool
	VoiceEnd   int64 `json:"voice_end"`   // the end of the user's voice
	Transcript int64 `json:"transcript"`  // its transcript was ready
	TurnEnd    int64 `json:"turn_end"`    // the silence that ends a turn had passed
	// The language model's first token; absent if none wrote the answer
	FirstToken int64 `json:"first_token,omitempty"`
	// The answer's first sentence was ready, or the first spoken part of it
	FirstSentence int64 `json:"first_sentence"`
	FirstSound    int64 `json:"first_sound"` // its first sound was synthesized
	Sent          int64 `json:"sent"`        // that sound was sent
}
