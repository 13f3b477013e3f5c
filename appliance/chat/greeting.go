package chat

// greetingRequest has the model speak first. It is no part of the history.
const greetingRequest = "(The user has just connected and said nothing yet. Greet them in one short sentence.)"

// greet lets the assistant speak first, where the config wants it and nothing
// was said before. lines are the greeting as the config has it; without any the
// model finds one.
func (s *State) greet(out *effects, lines []Sentence) {
	if !s.settings.Greeting.Enabled || len(s.history) > 0 {
		return
	}
	if len(lines) == 0 {
		s.think(out, answering, "", greetingRequest)
		return
	}
	s.turn++
	s.reply = reply{phase: answering, thought: true, waiting: lines}
	s.askMouth(out)
}
