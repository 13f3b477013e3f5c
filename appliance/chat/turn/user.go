package turn

import (
	"strings"
	"time"

	"parley/appliance/contract"
	"parley/appliance/language"
)

// staleVoice is how much more voice after a pause makes an answer prepared in that pause useless. A breath or
// a cough is shorter and mostly leaves the transcript unchanged.
const staleVoice = 160 * time.Millisecond

// countVoice notes how much the user has said. Enough voice over the assistant's interrupts it.
func (s *State) countVoice(out *effects, e VoiceHeard) {
	s.noteActivity()
	if s.isClosed(e.Utterance) {
		return
	}
	s.beginUtterance(out, e.Utterance)
	u := &s.utterance
	if s.reply.phase == preparing && s.reply.stale && e.Voice-u.voiceAtResume >= staleVoice {
		s.dropPrepared(out)
	}
	u.voice = e.Voice
	u.voiceAtResume = min(u.voiceAtResume, e.Voice)
	switch {
	case !s.talking():
		u.ignoredVoice = e.Voice // it was said before the assistant began
	case !u.interrupted && !s.chatEnd.final() && e.Voice-u.ignoredVoice >= s.settings.MinInterruption:
		u.interrupted = true
		s.interruptWith(out, e.Utterance)
	}
}

// interruptWith lets an utterance interrupt the assistant. If the transcript turns out to hold no words, the
// assistant resumes what it was saying.
func (s *State) interruptWith(out *effects, utterance int) {
	r, sent, said := s.reply, s.playing, s.recentlySpoken()
	rest := r.unheard(sent, s.interrupt(out))
	s.interruption = interruption{
		utterance: utterance,
		rest:      rest,
		spoken:    said,
		call:      r.interruptedCall(),
	}
}

// isClosed reports whether an utterance is over. What the ear still reports for it belongs to the next
// utterance, for which the ear will report it again.
func (s State) isClosed(utterance int) bool {
	return utterance < s.utterance.number || utterance == s.utterance.number && (s.utterance.ended || !s.utterance.open)
}

// beginUtterance makes utterance n the newest one.
func (s *State) beginUtterance(out *effects, n int) {
	if n == s.utterance.number {
		return
	}
	s.dropPrepared(out)
	if s.utterance.ended {
		s.pendingSpeech.expect(s.utterance.number, s.utterance.revision)
	}
	s.utterance = utterance{number: n, open: true}
}

// readAlong lets the model read the beginning of an utterance while the user is still speaking.
func (s *State) readAlong(out *effects, e PartlyTranscribed) {
	if e.Utterance != s.utterance.number || s.isClosed(e.Utterance) {
		return
	}
	if s.isEcho(e.Utterance, e.Transcript) {
		s.utterance.ignoredVoice = max(s.utterance.ignoredVoice, s.utterance.voice)
		return
	}
	if e.Transcript.Text != "" { // the beginning of a word may give no text
		s.ignoreBackchannel(e.Transcript)
	}
	if s.utterance.transcribed || s.talking() {
		return
	}
	if s.settings.Verbose && e.Transcript.Text != "" {
		s.publish(out, UserSaid{Transcript: e.Transcript, Interim: true})
	}
	if text := stableText(e.Transcript.Text); text != "" && s.reply.phase == quiet && !s.paused {
		out.add(Prefill{s.conversation(Entry{Role: User, Text: text})})
	}
}

// ignoreBackchannel excludes the voice so far from an interruption if its transcript is only a backchannel,
// or empty.
func (s *State) ignoreBackchannel(w Transcript) {
	if s.talking() && backchannel(w) {
		s.utterance.ignoredVoice = max(s.utterance.ignoredVoice, s.utterance.voice)
	}
}

// stableText returns the part of an interim transcript that most likely stays: everything but the last word,
// which may be half a word, and without the full stop that a transcriber adds at the end.
func stableText(text string) string {
	last := strings.LastIndexByte(text, ' ')
	if last < 0 {
		return ""
	}
	return strings.TrimRight(text[:last], " .,;:!?")
}

// takeTranscript takes the transcript up to a pause and prepares an answer to it.
func (s *State) takeTranscript(out *effects, e Transcribed) {
	u := &s.utterance
	if s.isEcho(e.Utterance, e.Transcript) {
		e.Transcript.Text = "" // the user said nothing
	}
	if e.Utterance < u.number {
		s.takeLateTranscript(out, e)
		return
	}
	if e.Utterance != u.number || e.Revision < u.revision || !u.open {
		return
	}
	if e.Transcript.Text == u.transcript.Text && u.transcript.Scores != nil {
		// The prepared answer was made from these scores; the history must hold what the model has read.
		e.Transcript.Scores, e.Transcript.Feelings = u.transcript.Scores, u.transcript.Feelings
	}
	u.revision, u.transcript, u.transcribed = e.Revision, e.Transcript, true
	s.learnLanguage(out, e.Transcript)
	if u.ended {
		s.finishUtterance(out)
		return
	}
	s.ignoreBackchannel(e.Transcript)
	if s.settings.Verbose && e.Transcript.Text != "" && !s.talking() {
		s.publish(out, UserSaid{Transcript: e.Transcript, Interim: true})
	}
	s.speculate(out)
}

// learnLanguage notes the language that the user speaks, because the prompt may ask the model to answer in
// it. One or two words are not enough evidence.
func (s *State) learnLanguage(out *effects, w Transcript) {
	const evidence = 12 // bytes: three short words, or four characters of Chinese
	if w.Language == s.settings.userLanguage || len(w.Text) < evidence || language.Of(w.Language).Backchannel(w.Text) {
		return
	}
	before := s.instructions()
	s.settings.userLanguage = w.Language
	s.prompt = s.settings.Prompt(s.startedAt)
	if s.instructions() != before && s.reply.phase == preparing {
		s.dropPrepared(out)
	}
}

// speculate prepares an answer to the transcript of a pause, unless it is prepared already.
func (s *State) speculate(out *effects) {
	u := s.utterance
	if !u.transcribed || u.ended || s.talking() || s.paused || s.chatEnd.on {
		return
	}
	if s.reply.phase == preparing {
		if s.reply.answeredText == u.transcript.Text && s.reply.fault == nil && s.reply.mindFailure == nil {
			s.reply.revision, s.reply.stale = u.revision, false
			return
		}
		s.dropPrepared(out)
	}
	if u.transcript.Text == "" || s.isFalseInterruption(u.number, u.transcript) {
		return
	}
	s.think(out, preparing, u.transcript.Text, s.userEntries(u.transcript)...)
	s.reply.utterance, s.reply.revision = u.number, u.revision
}

// awaitsPreparation reports whether a transcript waits until its answer can be prepared.
func (s State) awaitsPreparation() bool {
	u := s.utterance
	return s.reply.phase == quiet && u.transcribed && !u.ended && u.transcript.Text != "" && !s.paused &&
		!s.chatEnd.on && !s.isFalseInterruption(u.number, u.transcript)
}

// beginPause notes that the voice has stopped for now.
func (s *State) beginPause(e VoicePaused) {
	if e.Utterance != s.utterance.number || s.isClosed(e.Utterance) {
		return
	}
	if e.Revision != s.utterance.revision {
		s.utterance.revision, s.utterance.transcribed = e.Revision, false
	}
	s.utterance.pause = pause{
		on:          true,
		voiceEnd:    e.End,
		silentUntil: e.End,
		short:       e.Short,
	}
}

// extendPause notes that the silence goes on.
func (s *State) extendPause(e SilenceContinued) {
	if e.Utterance == s.utterance.number {
		p := &s.utterance.pause
		p.silentUntil, p.mayBeVoice = max(p.silentUntil, e.Until), e.MayBeVoice
	}
}

// judgePause notes how likely it is that the user has finished.
func (s *State) judgePause(e EndJudged) {
	u := &s.utterance
	if e.Utterance == u.number && e.Revision == u.revision && u.pause.on {
		u.pause.judged, u.pause.probability = true, e.Probability
	}
}

// endPause handles voice that returned after a pause. If the pause was long enough, the turn is over: sound
// may arrive late and in one piece.
func (s *State) endPause(out *effects, e VoiceResumed) {
	if e.Utterance != s.utterance.number || s.isClosed(e.Utterance) {
		return
	}
	p := s.utterance.pause
	if p.on && e.Begin >= p.voiceEnd+s.silenceUntilEnd() {
		s.endUserTurn(out)
		return
	}
	if silent := e.Begin - p.voiceEnd; p.on && silent >= finishedSilence {
		s.utterance.longestPause = max(s.utterance.longestPause, silent)
	}
	s.utterance.pause = pause{}
	s.utterance.transcribed = false
	s.utterance.revision = e.Revision + 1
	s.utterance.voiceAtResume = noVoiceYet
	if s.reply.phase == preparing {
		s.reply.stale = true
	}
}

// noVoiceYet stands for the voice at the resumption until the next VoiceHeard.
const noVoiceYet = time.Duration(1<<62 - 1)

// endUserTurn closes the utterance when the silence is long enough.
func (s *State) endUserTurn(out *effects) {
	u := &s.utterance
	out.add(CloseUtterance{u.number})
	if u.transcribed || u.pause.short {
		s.finishUtterance(out)
		return
	}
	u.ended = true
}

// finishUtterance handles a complete utterance and its transcript, which may be empty.
func (s *State) finishUtterance(out *effects) {
	words := s.utterance.transcript
	falseInterruption := s.isFalseInterruption(s.utterance.number, words)
	s.utterance = utterance{number: s.utterance.number}
	s.noteActivity()
	switch {
	case words.Text != "" && s.talking():
		s.pendingSpeech.hold(words)
	case falseInterruption:
		s.dropPrepared(out)
		if words.Text != "" {
			s.recordUser(out, words)
		}
		s.resumeReply(out)
	case words.Text != "":
		s.recordHeldBack(out)
		s.addUserSaid(out, UserSaid{Transcript: words})
		s.answer(out, words.Text)
	default:
		s.dropPrepared(out)
		s.answerWaiting(out)
	}
}

// isFalseInterruption reports whether an utterance interrupted the assistant but, with this transcript, does
// not take the floor: a cough, a noise, "mm-hm".
func (s State) isFalseInterruption(utterance int, w Transcript) bool {
	return s.interruption.utterance == utterance && utterance != 0 && backchannel(w) && !s.endedWithQuestion()
}

// resumeReply continues the reply where it was interrupted. If none of it was known then, the mind answers
// again.
func (s *State) resumeReply(out *effects) {
	cut := s.interruption
	s.interruption = interruption{call: cut.call}
	rest := toRepeat(cut.rest)
	switch {
	case s.paused || s.pendingSpeech.unanswered || s.talking():
		s.answerWaiting(out)
	case s.resumeCall(out):
	case len(rest) > 0:
		s.saySentences(out, rest)
	case len(cut.rest) == 0:
		s.answer(out, "")
	}
}

// toRepeat returns the unheard sentences with new IDs, to be said again. A sentence that was said in two
// parts becomes one, because all of it is known now.
func toRepeat(unheard []Sentence) []Sentence {
	rest := make([]Sentence, 0, len(unheard))
	row := "" // of the newest sentence in rest
	for _, sentence := range unheard {
		text := strings.TrimSpace(strings.TrimSuffix(sentence.Text, CutMark))
		if text == "" || sentence.Quick { // all of it was heard, or it is not worth repeating
			continue
		}
		if n := len(rest); n > 0 && sentence.First == row && row != "" {
			rest[n-1].Text, rest[n-1].GoesOn = rest[n-1].Text+" "+text, sentence.GoesOn
			continue
		}
		row = sentence.RowID()
		sentence.ID, sentence.Text, sentence.First, sentence.Before = contract.DerivedID(sentence.ID), text, "", ""
		rest = append(rest, sentence)
	}
	return rest
}

// recordUser records what the user said, after earlier speech that was held back. It drops a prepared answer,
// because the history changes.
func (s *State) recordUser(out *effects, w Transcript) {
	s.dropPrepared(out)
	s.recordHeldBack(out)
	s.addUserSaid(out, UserSaid{Transcript: w})
}

// recordHeldBack records the speech that was held back.
func (s *State) recordHeldBack(out *effects) {
	for _, w := range s.pendingSpeech.release() {
		s.dropPrepared(out)
		s.addUserSaid(out, UserSaid{Transcript: w})
	}
}

// addUserSaid publishes what the user said or typed and adds it to the history.
func (s *State) addUserSaid(out *effects, u UserSaid) {
	s.publish(out, u)
	s.sayOnResume = nil // the next answer replaces it
	if !backchannel(u.Transcript) {
		s.interruption.call = interruptedCall{}
	}
	s.appendUser(u.Transcript)
	s.dropOneTimeContext()
}

// answerTyped answers text that the user typed. Typed text interrupts the assistant as speech does.
func (s *State) answerTyped(out *effects, e Typed) {
	s.takeFloor(out)
	s.recordHeldBack(out)
	s.addUserSaid(out, UserSaid{
		Transcript: Transcript{Text: e.Text, Begin: s.now, End: s.now},
		Typed:      true,
		Digits:     e.Digits,
	})
	s.answer(out, "")
}

// takeFloor gives the user the floor, who does not speak.
func (s *State) takeFloor(out *effects) {
	s.noteActivity()
	s.dropPrepared(out)
	if s.talking() && !s.chatEnd.final() {
		s.interrupt(out)
	}
}

// dropOneTimeContext drops a context that was meant for one message.
func (s *State) dropOneTimeContext() {
	if c := s.settings.Context; c != nil && c.Type != contract.ContextPersistent {
		s.settings.Context = nil
	}
}
