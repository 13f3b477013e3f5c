package turn

import (
	"slices"

	"parley/appliance/contract"
)

// answer replies to what the user said last: with what was prepared, if it was
// prepared for these words, else from the beginning. No words are never those.
func (s *State) answer(out *effects, words string) {
	s.waiting.unanswered = false
	if s.leaving.on {
		s.drop(out)
		return
	}
	if s.paused {
		s.resumes = true
		s.drop(out)
		return
	}
	if s.reply.phase == preparing && words != "" && s.reply.answers == words {
		s.reveal(out)
		return
	}
	s.drop(out)
	if s.resumeCall(out) {
		return
	}
	if rest := again(s.unsaid); len(rest) > 0 {
		s.unsaid = nil
		s.recite(out, rest)
		return
	}
	s.think(out, answering, words)
}

// think begins a turn, which answers words. more is what the model is to see
// beyond the history: of a speculative turn the words, which are not in it yet.
func (s *State) think(out *effects, p phase, words string, more ...Entry) {
	s.turn++
	s.reply = reply{phase: p, answers: words}
	s.resumes = false
	if p == answering {
		s.unsaid, s.broken = nil, brokenOff{}
	}
	if t := s.thinking(more); !s.consult(out, t, more) {
		out.add(t)
	}
}

// ask asks the mind for the reply of the turn.
func (s *State) ask(out *effects, more []Entry) { out.add(s.thinking(more)) }

func (s State) thinking(more []Entry) Think {
	t := Think{Turn: s.turn, Unasked: s.reply.phase == answering && len(more) > 0,
		Conversation: s.conversation(more...)}
	if s.reply.phase == preparing {
		t.Speculative = true
		t.Due = s.heard.words.End + s.silenceAsked()
	}
	return t
}

// reveal plays what was prepared: the user has finished.
func (s *State) reveal(out *effects) {
	r := s.reply
	s.broken = brokenOff{}
	s.reply.phase, s.reply.failed = answering, nil
	s.reply.told, s.reply.consult.more = nil, nil // the words are in the history now
	s.history = append(s.history, r.told...)
	out.add(Promote{s.turn})
	s.sendMade(out)
	if r.failed != nil {
		s.fail(out, *r.failed)
		return
	}
	s.sendSound(out)
	s.admit(out)
}

// drop forgets a reply that nobody heard of.
func (s *State) drop(out *effects) {
	if s.reply.phase != preparing {
		return
	}
	out.add(Cancel{s.turn})
	s.reply = reply{}
}

// at reports whether work for a turn is still wanted.
func (s State) at(turn int) bool {
	return turn == s.turn && s.reply.phase != quiet && s.reply.failed == nil
}

// thought: the mind has the next sentence.
func (s *State) thought(out *effects, e Thought) {
	if !s.at(e.Turn) || s.reply.thought {
		return
	}
	w := s.reply.unspoken
	s.reply.unspoken = append(w[:len(w):len(w)], e.Sentence)
	s.reply.reading = openCall{}
	s.reply.quick = s.reply.quick || e.Sentence.Quick
	s.askMouth(out)
}

// MostAsked is how many sentences of a reply may be asked of the mouth and not
// be spoken yet: the one that it is at, and enough behind it that it never waits
// for the next. A dictated text may have thousands.
const MostAsked = 4

// askMouth hands sentences on: one ahead while the user may still go on, a few
// at a time after.
func (s *State) askMouth(out *effects) {
	r := &s.reply
	more := r.phase == answering && r.madeUnsent() < madeAhead
	for len(r.unspoken) > 0 && len(r.asked) < MostAsked && (more || !r.begun) {
		out.add(Speak{Turn: s.turn, Sentence: r.unspoken[0]})
		r.asked = append(slices.Clip(r.asked), r.unspoken[0])
		r.unspoken = r.unspoken[1:]
		r.begun = true
	}
	if r.thought && len(r.unspoken) == 0 && !r.done {
		r.done = true
		out.add(Done{s.turn})
	}
}

// thoughtEnded: there are no more sentences.
func (s *State) thoughtEnded(out *effects, e ThoughtEnded) {
	if !s.at(e.Turn) || s.reply.call.is() {
		return
	}
	s.reply.thought, s.reply.reading = true, openCall{}
	s.askMouth(out)
	s.finish(out)
}

// spoken: a sentence, or a piece of it, has become sound.
func (s *State) spoken(out *effects, e Spoken) {
	r := &s.reply
	if !s.at(e.Turn) || len(r.asked) == 0 {
		return
	}
	if e.Piece.Last {
		r.asked = r.asked[1:]
	}
	r.kept = append(slices.Clip(r.kept), e)
	if r.phase == answering {
		s.sendSound(out)
	}
}

// play sends a piece of a sentence: before the first of them its words, then
// the sound.
func (s *State) play(out *effects, p Piece) {
	p = s.join(p)
	if p.Index == 0 {
		s.tell(out, AssistantSaid{p.Sentence})
		if !p.Sentence.Quick {
			s.addAssistant(p.Sentence)
		}
	}
	if len(p.PCM) > 0 {
		s.tell(out, Sounded{p.Sentence.ID, p.Index, p.PCM, p.Last})
	}
	if p.Last && p.Scores != nil {
		s.tell(out, AssistantSounded{p.Sentence, *p.Scores})
	}
	s.plays(p)
}

// finish ends a turn of which everything was sent.
func (s *State) finish(out *effects) {
	r := s.reply
	if r.phase != answering || !r.made() || len(r.kept) > 0 {
		return
	}
	s.breakOff(out)
	s.tell(out, AnswerEnded{})
	s.reply = reply{}
	if len(r.dictated) > 0 {
		s.recite(out, r.dictated[0])
		s.reply.dictated = r.dictated[1:]
		return
	}
	out.add(Prefill{s.conversation()})
}

// failed: mind or mouth gave up.
func (s *State) failed(out *effects, e Failed) {
	if !s.at(e.Turn) || s.reply.phase == answering && s.reply.made() {
		return
	}
	out.add(Cancel{s.turn})
	if s.reply.phase == preparing {
		s.reply.failed = &e.Fault
		return
	}
	s.fail(out, e.Fault)
}

// fail tells the client, and ends the turn with what was made of it.
func (s *State) fail(out *effects, f contract.Fault) {
	s.noMore()
	if len(s.reply.kept) == 0 {
		s.breakOff(out)
	}
	s.faulty(out, f)
	if !s.ended {
		s.finish(out)
	}
}

// interrupt: the user takes the floor. What was not played was not said; it is
// returned.
func (s *State) interrupt(out *effects) (unheard []Sentence) {
	if s.reply.phase != quiet {
		out.add(Cancel{s.turn})
	}
	s.broken, s.leaving = brokenOff{}, leaving{}
	s.reply = reply{}
	unheard = s.silence(out)
	s.tell(out, Interrupted{})
	out.add(Prefill{s.conversation()})
	return unheard
}

// dictated: the client has the assistant say something.
func (s *State) dictated(out *effects, e Dictated) {
	s.stir()
	s.drop(out)
	if len(e.Sentences) == 0 {
		return
	}
	lines := slices.Clone(e.Sentences)
	for i := range lines {
		lines[i].Dictated = true
	}
	if s.reply.call.told { // the client's own "one moment" ends no call
		s.reply.call.filled = true
		s.reply.unspoken = append(slices.Clip(s.reply.unspoken), lines...)
		s.askMouth(out)
		return
	}
	if s.reply.phase != answering {
		s.recite(out, lines)
		return
	}
	// One voice at a time: this one when what is made has been sent.
	if !s.reply.made() {
		out.add(Cancel{s.turn})
		s.noMore()
	}
	if len(s.reply.dictated) == mostDictated {
		s.reply.dictated = s.reply.dictated[1:]
	}
	s.reply.dictated = append(slices.Clip(s.reply.dictated), lines)
	s.finish(out)
}

// made reports whether nothing more of a reply will be made.
func (r reply) made() bool { return r.thought && len(r.asked)+len(r.unspoken) == 0 }

// noMore ends a reply with what is made of it.
func (s *State) noMore() {
	r := s.reply
	s.reply = reply{
		phase:    answering,
		thought:  true,
		done:     true,
		kept:     r.kept,
		joined:   r.joined,
		dictated: r.dictated,
		unasked:  r.unasked,
	}
}

// recite begins a turn of which every sentence is known.
func (s *State) recite(out *effects, sentences []Sentence) {
	s.turn++
	s.broken = brokenOff{call: s.broken.call}
	s.reply = reply{phase: answering, thought: true, unspoken: sentences}
	s.askMouth(out)
}

// pause holds the assistant back; what it was saying ends here. An answer that
// the model was still at is given again when the assistant may go on; of one
// that is all known the rest is said then.
func (s *State) pause(out *effects) {
	if s.paused {
		return
	}
	s.paused = true
	s.tell(out, AssistantPaused{})
	s.drop(out)
	r, sent := s.reply, s.playing
	s.broken = brokenOff{call: r.brokenCall()}
	s.resumes = r.phase == answering && !r.thought
	// the client may send it again
	rest := slices.DeleteFunc(r.rest(sent, s.hush(out)), func(u Sentence) bool { return u.Dictated })
	if len(rest) > 0 && !s.resumes {
		s.unsaid = rest
	}
}

// resume lets the assistant go on: it answers what was said last, or says what
// is left of its answer to that.
func (s *State) resume(out *effects) {
	if !s.paused {
		return
	}
	s.paused = false
	s.stir() // a nudge would otherwise come for the silence of the pause
	s.tell(out, AssistantResumed{})
	if s.resumes || len(s.unsaid) > 0 {
		s.resumes = false
		s.waiting.unanswered = true // until what is dictated has been heard
		s.answerWaiting(out)
	}
}
