package turn

import (
	"slices"

	"parley/appliance/contract"
)

// answer replies to what the user said last: with the prepared answer if it was prepared for these words,
// otherwise with a new one. Empty words never match a prepared answer.
func (s *State) answer(out *effects, words string) {
	s.pendingSpeech.unanswered = false
	if s.chatEnd.on {
		s.dropPrepared(out)
		return
	}
	if s.paused {
		s.answerOnResume = true
		s.dropPrepared(out)
		return
	}
	if s.reply.phase == preparing && words != "" && s.reply.answeredText == words {
		s.playPrepared(out)
		return
	}
	s.dropPrepared(out)
	if s.resumeCall(out) {
		return
	}
	if rest := toRepeat(s.sayOnResume); len(rest) > 0 {
		s.sayOnResume = nil
		s.saySentences(out, rest)
		return
	}
	s.think(out, answering, words)
}

// think begins a turn that answers words. more holds entries for the model beyond the history; for a
// speculative turn these are the user's words, which are not in the history yet.
func (s *State) think(out *effects, p phase, words string, more ...Entry) {
	s.turn++
	s.reply = reply{phase: p, answeredText: words}
	s.answerOnResume = false
	if p == answering {
		s.sayOnResume, s.interruption = nil, interruption{}
	}
	if t := s.thinkEffect(more); !s.consult(out, t, more) {
		out.add(t)
	}
}

// askMind asks the mind for the reply of the current turn.
func (s *State) askMind(out *effects, more []Entry) { out.add(s.thinkEffect(more)) }

func (s State) thinkEffect(more []Entry) Think {
	t := Think{Turn: s.turn, Unprompted: s.reply.phase == answering && len(more) > 0,
		Conversation: s.conversation(more...)}
	if s.reply.phase == preparing {
		t.Speculative = true
		t.Due = s.utterance.transcript.End + s.requiredSilence()
	}
	return t
}

// playPrepared sends the prepared answer, because the user has finished.
func (s *State) playPrepared(out *effects) {
	r := s.reply
	s.interruption = interruption{}
	s.reply.phase, s.reply.fault = answering, nil
	s.reply.pluginContext, s.reply.consultation.extraEntries = nil, nil // the words are in the history now
	s.history = append(s.history, r.pluginContext...)
	out.add(Promote{s.turn})
	s.sendMade(out)
	if r.fault != nil {
		s.failReply(out, *r.fault)
		return
	}
	s.sendSound(out)
	s.apologiseIfFailed(out)
}

// dropPrepared cancels a prepared reply.
func (s *State) dropPrepared(out *effects) {
	if s.reply.phase != preparing {
		return
	}
	out.add(Cancel{s.turn})
	s.reply = reply{}
}

// isCurrent reports whether work for a turn is still wanted.
func (s State) isCurrent(turn int) bool {
	return turn == s.turn && s.reply.phase != quiet && s.reply.fault == nil
}

// queueSentence takes the next sentence from the mind.
func (s *State) queueSentence(out *effects, e SentenceThought) {
	if !s.isCurrent(e.Turn) || s.reply.thinkingEnded {
		return
	}
	w := s.reply.unspoken
	s.reply.unspoken = append(w[:len(w):len(w)], e.Sentence)
	s.reply.answeredCall = openCall{}
	s.reply.quick = s.reply.quick || e.Sentence.Quick
	if e.Unanswered != "" {
		s.reply.unanswered = e.Unanswered
	}
	s.askMouth(out)
}

// MaxAtMouth is how many sentences of a reply the mouth is given before it has spoken them: the current one,
// and enough for it never to wait for the next. A dictated text may have thousands.
const MaxAtMouth = 4

// askMouth gives sentences to the mouth: one while the user may still go on, a few at a time after that.
func (s *State) askMouth(out *effects) {
	r := &s.reply
	more := r.phase == answering && r.unsentLength() < maxMadeAhead
	for len(r.unspoken) > 0 && len(r.atMouth) < MaxAtMouth && (more || !r.mouthBegun) {
		out.add(Speak{Turn: s.turn, Sentence: r.unspoken[0]})
		r.atMouth = append(slices.Clip(r.atMouth), r.unspoken[0])
		r.unspoken = r.unspoken[1:]
		r.mouthBegun = true
	}
	if r.thinkingEnded && len(r.unspoken) == 0 && !r.finished {
		r.finished = true
		out.add(FinishTurn{s.turn})
	}
}

// endThinking notes that the mind has no more sentences.
func (s *State) endThinking(out *effects, e ThinkingEnded) {
	if !s.isCurrent(e.Turn) || s.reply.call.exists() {
		return
	}
	s.reply.thinkingEnded, s.reply.answeredCall = true, openCall{}
	s.askMouth(out)
	s.finishReply(out)
}

// queueSound takes a piece of a sentence's sound from the mouth.
func (s *State) queueSound(out *effects, e SoundMade) {
	r := &s.reply
	if !s.isCurrent(e.Turn) || len(r.atMouth) == 0 {
		return
	}
	if e.Piece.Last {
		r.atMouth = r.atMouth[1:]
	}
	r.unsentSound = append(slices.Clip(r.unsentSound), e)
	if r.phase == answering {
		s.sendSound(out)
	}
}

// play sends a piece of a sentence. The first piece is preceded by the sentence's text.
func (s *State) play(out *effects, p Piece) {
	p = s.join(p)
	if p.Index == 0 {
		s.publish(out, AssistantSaid{p.Sentence})
		if !p.Sentence.Quick {
			s.appendAssistant(p.Sentence)
			s.publishAsked(out, p.Sentence)
		}
	}
	if len(p.PCM) > 0 {
		s.publish(out, SoundSent{p.Sentence.ID, p.Index, p.PCM, p.Last})
	}
	if p.Last && p.Scores != nil {
		s.publish(out, ProsodyMeasured{p.Sentence, *p.Scores})
	}
	s.notePlaying(p)
}

// publishAsked publishes that the user hears an approved answer, or the first words of another reply because
// none fits.
func (s *State) publishAsked(out *effects, sentence Sentence) {
	r := &s.reply
	switch {
	case sentence.AnswerID != "" && sentence.AnswerID != r.answerID:
		r.answerID = sentence.AnswerID
		s.publish(out, QuestionAsked{AnswerID: sentence.AnswerID})
	case sentence.AnswerID == "" && r.unanswered != "":
		s.publish(out, QuestionAsked{Words: r.unanswered})
		r.unanswered = ""
	}
}

// finishReply ends a turn when everything of it has been sent.
func (s *State) finishReply(out *effects) {
	r := s.reply
	if r.phase != answering || !r.complete() || len(r.unsentSound) > 0 {
		return
	}
	s.cutUnfinishedSentence(out)
	s.publish(out, AnswerEnded{})
	s.reply = reply{}
	if len(r.dictated) > 0 {
		s.saySentences(out, r.dictated[0])
		s.reply.dictated = r.dictated[1:]
		return
	}
	out.add(Prefill{s.conversation()})
}

// stopFailedTurn handles a mind or mouth that gave up.
func (s *State) stopFailedTurn(out *effects, e TurnFailed) {
	if !s.isCurrent(e.Turn) || s.reply.phase == answering && s.reply.complete() {
		return
	}
	out.add(Cancel{s.turn})
	if s.reply.phase == preparing {
		s.reply.fault = &e.Fault
		return
	}
	s.failReply(out, e.Fault)
}

// failReply reports the fault to the client and ends the turn with the sentences so far.
func (s *State) failReply(out *effects, f contract.Fault) {
	s.endWithUnsent()
	if len(s.reply.unsentSound) == 0 {
		s.cutUnfinishedSentence(out)
	}
	s.reportFault(out, f)
	if !s.ended {
		s.finishReply(out)
	}
}

// interrupt gives the floor to the user. Sentences that were not played count as not said; interrupt returns
// them.
func (s *State) interrupt(out *effects) (unheard []Sentence) {
	if s.reply.phase != quiet {
		out.add(Cancel{s.turn})
	}
	s.interruption, s.chatEnd = interruption{}, chatEnd{}
	s.reply = reply{}
	unheard = s.stopPlayback(out)
	s.publish(out, Interrupted{})
	out.add(Prefill{s.conversation()})
	return unheard
}

// sayDictated says a text from the client.
func (s *State) sayDictated(out *effects, e Dictated) {
	s.noteActivity()
	s.dropPrepared(out)
	if len(e.Sentences) == 0 {
		return
	}
	lines := slices.Clone(e.Sentences)
	for i := range lines {
		lines[i].Dictated = true
	}
	if s.reply.call.running { // the client's own "one moment" does not end a call
		s.reply.call.fillerSaid = true
		s.reply.unspoken = append(slices.Clip(s.reply.unspoken), lines...)
		s.askMouth(out)
		return
	}
	if s.reply.phase != answering {
		s.saySentences(out, lines)
		return
	}
	// One voice at a time: the dictated text follows when everything made so far has been sent.
	if !s.reply.complete() {
		out.add(Cancel{s.turn})
		s.endWithUnsent()
	}
	if len(s.reply.dictated) == maxDictated {
		s.reply.dictated = s.reply.dictated[1:]
	}
	s.reply.dictated = append(slices.Clip(s.reply.dictated), lines)
	s.finishReply(out)
}

// complete reports whether all of a reply has been made.
func (r reply) complete() bool { return r.thinkingEnded && len(r.atMouth)+len(r.unspoken) == 0 }

// endWithUnsent ends a reply with the sound that was made for it.
func (s *State) endWithUnsent() {
	r := s.reply
	s.reply = reply{
		phase:         answering,
		thinkingEnded: true,
		finished:      true,
		unsentSound:   r.unsentSound,
		joined:        r.joined,
		dictated:      r.dictated,
		unprompted:    r.unprompted,
		unanswered:    r.unanswered,
		answerID:      r.answerID,
	}
}

// saySentences begins a turn whose sentences are all known.
func (s *State) saySentences(out *effects, sentences []Sentence) {
	s.turn++
	s.interruption = interruption{call: s.interruption.call}
	s.reply = reply{
		phase:         answering,
		thinkingEnded: true,
		unspoken:      sentences,
		answerID:      sentences[0].AnswerID, // the user has heard its beginning
	}
	s.askMouth(out)
}

// pauseAssistant stops the assistant at once. If the model was still answering, it answers again on
// resumption; if the answer was complete, its unheard rest is said then.
func (s *State) pauseAssistant(out *effects) {
	if s.paused {
		return
	}
	s.paused = true
	s.publish(out, AssistantPaused{})
	s.dropPrepared(out)
	r, sent := s.reply, s.playing
	s.interruption = interruption{call: r.interruptedCall()}
	s.answerOnResume = r.phase == answering && !r.thinkingEnded
	// the client may send dictated text again
	rest := slices.DeleteFunc(r.unheard(sent, s.stopSpeaking(out)), func(u Sentence) bool { return u.Dictated })
	if len(rest) > 0 && !s.answerOnResume {
		s.sayOnResume = rest
	}
}

// resumeAssistant lets the assistant answer what was said last, or say the rest of its answer.
func (s *State) resumeAssistant(out *effects) {
	if !s.paused {
		return
	}
	s.paused = false
	s.noteActivity() // otherwise the silence of the pause would bring a nudge
	s.publish(out, AssistantResumed{})
	if s.answerOnResume || len(s.sayOnResume) > 0 {
		s.answerOnResume = false
		s.pendingSpeech.unanswered = true // until dictated text has been played
		s.answerWaiting(out)
	}
}
