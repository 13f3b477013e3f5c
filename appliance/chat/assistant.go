package chat

import (
	"strings"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/store"
)

// answer replies to the user's last message, which answers asked: with what was
// prepared, if it was prepared for these words, else from the beginning.
func (s *State) answer(out *effects, asked string) {
	s.owed = false
	if s.paused {
		s.unheard = true
		if s.reply.phase == preparing {
			s.drop(out)
		}
		return
	}
	if s.reply.phase == preparing && asked != "" && s.reply.asked == asked {
		s.reveal(out)
		return
	}
	if s.reply.phase == preparing {
		s.drop(out)
	}
	s.think(out, answering, asked, "")
}

// think begins a turn. A speculative one answers extra, which is not in the
// history yet.
func (s *State) think(out *effects, p phase, asked, extra string) {
	s.turn++
	s.reply = reply{phase: p, asked: asked}
	s.unheard = false
	messages := s.messages()
	if extra != "" {
		messages = s.messages(engine.Message{Role: engine.User, Content: extra})
	}
	t := Think{Turn: s.turn, Messages: messages}
	if p == preparing {
		t.Speculative = true
		t.Hurry = s.heard.words.End + s.settings.EndOfTurnSilence - voiceAhead
	}
	out.add(t)
}

// reveal plays what was prepared: the user has finished.
func (s *State) reveal(out *effects) {
	r := s.reply
	s.reply.phase, s.reply.kept, s.reply.failed = answering, nil, nil
	for _, e := range r.kept {
		s.play(out, e.Clip)
	}
	if r.failed != nil {
		s.fail(out, *r.failed)
		return
	}
	s.askMouth(out)
	s.finish(out)
}

// drop forgets a reply that nobody heard of.
func (s *State) drop(out *effects) {
	out.add(Cancel{s.turn})
	s.reply = reply{}
}

// at reports whether work for a turn is still wanted.
func (s State) at(turn int) bool {
	return turn == s.turn && s.reply.phase != quiet && s.reply.failed == nil
}

// thought: the mind has the next sentence.
func (s *State) thought(out *effects, e Thought) {
	if !s.at(e.Turn) {
		return
	}
	w := s.reply.waiting
	s.reply.waiting = append(w[:len(w):len(w)], e.Sentence)
	s.askMouth(out)
}

// askMouth hands sentences on: one ahead while the user may still go on, all
// of them after.
func (s *State) askMouth(out *effects) {
	r := &s.reply
	for len(r.waiting) > 0 && (r.phase == answering || r.asking+r.spoke == 0) {
		out.add(Speak{Turn: s.turn, Sentence: r.waiting[0]})
		r.waiting = r.waiting[1:]
		r.asking++
	}
	if r.thought && len(r.waiting) == 0 {
		out.add(Done{s.turn})
	}
}

// thoughtEnded: there are no more sentences.
func (s *State) thoughtEnded(out *effects, e ThoughtEnded) {
	if !s.at(e.Turn) {
		return
	}
	s.reply.thought = true
	s.askMouth(out)
	s.finish(out)
}

// spoken: a sentence has become sound.
func (s *State) spoken(out *effects, e Spoken) {
	r := &s.reply
	if !s.at(e.Turn) || r.asking == 0 {
		return
	}
	r.asking--
	r.spoke++
	if r.phase == preparing {
		r.kept = append(r.kept[:len(r.kept):len(r.kept)], e)
		return
	}
	s.play(out, e.Clip)
	s.finish(out)
}

// play sends a sentence: its words, then its sound.
func (s *State) play(out *effects, c Clip) {
	out.send(contract.AssistantMessage{
		ID:       c.Sentence.ID,
		FromText: s.reply.dictated,
		Message:  contract.ChatMessage{Role: contract.RoleAssistant, Content: c.Sentence.Text},
	}, s.agentMessage(c.Sentence, s.reply.dictated))
	s.assistant(c.Sentence.Text)
	if len(c.Files) == 0 {
		return
	}
	for i, file := range c.Files {
		out.send(contract.AudioOutput{ID: c.Sentence.ID, Index: i, Data: file}, nil)
	}
	if s.now >= s.silentAt {
		s.playing = nil
	}
	begin := max(s.now, s.silentAt)
	s.silentAt = begin + c.Duration
	p := s.playing
	s.playing = append(p[:len(p):len(p)], playing{sentence: c.Sentence, dictated: s.reply.dictated, begin: begin, end: s.silentAt})
}

func (s State) agentMessage(line Sentence, dictated bool) *store.Event {
	e := s.record(store.AgentMessage, store.Agent, line.Text)
	e.ID = line.ID
	e.Metadata = asJSON(contract.MessageMetadata{FromText: dictated})
	return e
}

// cutOff takes back in the records what the client had not played by now.
func (s State) cutOff(out *effects) {
	for _, p := range s.playing {
		if p.end <= s.now {
			continue
		}
		heard := strings.TrimSpace(p.sentence.Text[:playedBytes(p, s.now)]) + cutMark
		e := s.agentMessage(Sentence{p.sentence.ID, heard}, p.dictated)
		e.Metadata = asJSON(contract.MessageMetadata{FromText: p.dictated, Interrupted: true})
		out.add(Amend{*e})
	}
}

// finish ends a turn of which everything was sent.
func (s *State) finish(out *effects) {
	r := s.reply
	if r.phase != answering || !r.thought || r.asking > 0 || len(r.waiting) > 0 {
		return
	}
	out.send(contract.AssistantEnd{}, nil)
	s.reply = reply{}
	out.add(Read{s.messages()})
}

// failed: mind or mouth gave up.
func (s *State) failed(out *effects, e Failed) {
	if !s.at(e.Turn) {
		return
	}
	out.add(Cancel{s.turn})
	if s.reply.phase == preparing {
		s.reply.failed = &e.Fault
		return
	}
	s.fail(out, e.Fault)
}

// fail tells the client, and ends the turn with what was sent of it.
func (s *State) fail(out *effects, f contract.Fault) {
	s.reply = reply{phase: answering, thought: true}
	s.faulty(out, f)
	if !s.ended {
		s.finish(out)
	}
}

// interrupt: the user takes the floor. What was not played was not said.
func (s *State) interrupt(out *effects) {
	if s.reply.phase != quiet {
		out.add(Cancel{s.turn})
	}
	s.reply = reply{}
	s.cutOff(out)
	s.unsay()
	out.send(contract.UserInterruption{Time: s.begun.Add(s.now).UnixMilli()},
		s.record(store.UserInterruption, store.User, ""))
	out.add(Read{s.messages()})
}

// dictated: the client has the assistant say something.
func (s *State) dictated(out *effects, e Dictated) {
	if s.reply.phase == preparing {
		s.drop(out)
	}
	if len(e.Sentences) == 0 {
		return
	}
	if s.reply.phase == answering { // one voice at a time: this one now
		out.add(Cancel{s.turn})
		out.send(contract.AssistantEnd{}, nil)
	}
	s.turn++
	s.reply = reply{phase: answering, dictated: true, thought: true, waiting: e.Sentences}
	s.askMouth(out)
}

// pause holds the assistant back; what it was saying ends here.
func (s *State) pause(out *effects) {
	if s.paused {
		return
	}
	s.paused = true
	out.add(Record{*s.record(store.PauseOnset, store.System, "")})
	switch s.reply.phase {
	case preparing:
		s.drop(out)
	case answering:
		out.add(Cancel{s.turn})
		out.send(contract.AssistantEnd{}, nil)
		s.unheard = !s.reply.dictated
		s.reply = reply{}
	}
	s.unsay()
}

// resume lets the assistant go on: it answers what was said last.
func (s *State) resume(out *effects) {
	if !s.paused {
		return
	}
	s.paused = false
	out.add(Record{*s.record(store.ResumeOnset, store.System, "")})
	if s.unheard {
		s.answer(out, "")
	}
}
