package turn

import (
	"strings"
	"time"

	"parley/appliance/contract"
	"parley/appliance/language"
)

// staleVoice is how much more voice after a pause makes an answer prepared in
// that pause worthless. A breath or a cough brings less, and mostly leaves the
// words as they were.
const staleVoice = 160 * time.Millisecond

// voiced: the user makes a sound. Enough of it over the assistant's interrupts.
func (s *State) voiced(out *effects, e Voiced) {
	s.stir()
	if s.closed(e.Utterance) {
		return
	}
	s.listenTo(out, e.Utterance)
	h := &s.heard
	if s.reply.phase == preparing && s.reply.stale && e.Voice-h.resumed >= staleVoice {
		s.drop(out)
	}
	h.voice = e.Voice
	h.resumed = min(h.resumed, e.Voice)
	switch {
	case !s.talking():
		h.before = e.Voice // was said before the assistant began
	case !h.interrupted && !s.leaving.final() && e.Voice-h.before >= s.settings.MinInterruption:
		h.interrupted = true
		s.interruptBy(out, e.Utterance)
	}
}

// interruptBy: the user speaks over the assistant. If it turns out that nothing
// was said, the assistant takes up what it was saying.
func (s *State) interruptBy(out *effects, utterance int) {
	r, sent, said := s.reply, s.playing, s.lately()
	rest := r.rest(sent, s.interrupt(out))
	s.broken = brokenOff{
		utterance: utterance,
		rest:      rest,
		said:      said,
		call:      r.brokenCall(),
	}
}

// closed reports whether an utterance is over: what the ear still says of it
// belongs to the next one, as which it will say it again.
func (s State) closed(utterance int) bool {
	return utterance < s.heard.utterance || utterance == s.heard.utterance && (s.heard.over || !s.heard.open)
}

// listenTo makes utterance n the one that is heard.
func (s *State) listenTo(out *effects, n int) {
	if n == s.heard.utterance {
		return
	}
	s.drop(out)
	if s.heard.over {
		s.waiting.expect(s.heard.utterance, s.heard.revision)
	}
	s.heard = heard{utterance: n, open: true}
}

// overheard: the user is still speaking, and this is the beginning of it. The
// model reads it meanwhile.
func (s *State) overheard(out *effects, e Overheard) {
	if e.Utterance != s.heard.utterance || s.closed(e.Utterance) {
		return
	}
	if s.own(e.Utterance, e.Words) {
		s.heard.before = max(s.heard.before, s.heard.voice)
		return
	}
	if e.Words.Text != "" { // the beginning of a word may give none
		s.discount(e.Words)
	}
	if s.heard.guessed || s.talking() {
		return
	}
	if s.settings.Verbose && e.Words.Text != "" {
		s.tell(out, UserSaid{Words: e.Words, Interim: true})
	}
	if text := certain(e.Words.Text); text != "" && s.reply.phase == quiet && !s.paused {
		out.add(Prefill{s.conversation(Entry{Role: User, Text: text})})
	}
}

// discount leaves out of what interrupts the voice that has turned out to be
// nothing but a backchannel, or no word at all.
func (s *State) discount(w Words) {
	if s.talking() && backchannel(w) {
		s.heard.before = max(s.heard.before, s.heard.voice)
	}
}

// certain is what will most likely stay of words that were cut off: all but the
// last one, which may be half of a word, and without the full stop that a
// transcriber puts at the end.
func certain(text string) string {
	last := strings.LastIndexByte(text, ' ')
	if last < 0 {
		return ""
	}
	return strings.TrimRight(text[:last], " .,;:!?")
}

// guessed: the user paused, and this is what was said so far.
func (s *State) guessed(out *effects, e Guessed) {
	h := &s.heard
	if s.own(e.Utterance, e.Words) {
		e.Words.Text = "" // nobody has said anything
	}
	if e.Utterance < h.utterance {
		s.cameLate(out, e)
		return
	}
	if e.Utterance != h.utterance || e.Revision < h.revision || !h.open {
		return
	}
	if e.Words.Text == h.words.Text && h.words.Scores != nil {
		// What is prepared was prepared for these: the model is to find in the
		// history what it has read.
		e.Words.Scores, e.Words.Sounds = h.words.Scores, h.words.Sounds
	}
	h.revision, h.words, h.guessed = e.Revision, e.Words, true
	s.learnLanguage(out, e.Words)
	if h.over {
		s.complete(out)
		return
	}
	s.discount(e.Words)
	if s.settings.Verbose && e.Words.Text != "" && !s.talking() {
		s.tell(out, UserSaid{Words: e.Words, Interim: true})
	}
	s.speculate(out)
}

// learnLanguage takes note of the language that the user speaks, for the prompt
// may ask to be answered in it. A word or two are no evidence.
func (s *State) learnLanguage(out *effects, w Words) {
	const evidence = 12 // bytes: three short words, or four characters of Chinese
	if w.Language == s.settings.spoken || len(w.Text) < evidence || language.Of(w.Language).Backchannel(w.Text) {
		return
	}
	before := s.instructions()
	s.settings.spoken = w.Language
	s.prompt = s.settings.Prompt(s.begun)
	if s.instructions() != before && s.reply.phase == preparing {
		s.drop(out)
	}
}

// speculate prepares the answer to a guess, unless it is prepared already.
func (s *State) speculate(out *effects) {
	h := s.heard
	if !h.guessed || h.over || s.talking() || s.paused || s.leaving.on {
		return
	}
	if s.reply.phase == preparing {
		if s.reply.answers == h.words.Text && s.reply.failed == nil && s.reply.broke == nil {
			s.reply.revision, s.reply.stale = h.revision, false
			return
		}
		s.drop(out)
	}
	if h.words.Text == "" || s.returns(h.utterance, h.words) {
		return
	}
	s.think(out, preparing, h.words.Text, s.byUser(h.words)...)
	s.reply.utterance, s.reply.revision = h.utterance, h.revision
}

// unprepared reports whether the user's words wait to be answered in advance.
func (s State) unprepared() bool {
	h := s.heard
	return s.reply.phase == quiet && h.guessed && !h.over && h.words.Text != "" && !s.paused && !s.leaving.on &&
		!s.returns(h.utterance, h.words)
}

// pausedAt: the user is silent, for now.
func (s *State) pausedAt(e Paused) {
	if e.Utterance != s.heard.utterance || s.closed(e.Utterance) {
		return
	}
	if e.Revision != s.heard.revision {
		s.heard.revision, s.heard.guessed = e.Revision, false
	}
	s.heard.pause = pause{
		on:    true,
		end:   e.End,
		until: e.End,
		short: e.Short,
	}
}

// silent: the user is silent still.
func (s *State) silent(e Silent) {
	if e.Utterance == s.heard.utterance {
		s.heard.pause.until, s.heard.pause.stirs = max(s.heard.pause.until, e.Until), e.Stirs
	}
}

// finished: a model says whether the user will go on.
func (s *State) finished(e Finished) {
	h := &s.heard
	if e.Utterance == h.utterance && e.Revision == h.revision && h.pause.on {
		h.pause.asked, h.pause.finished = true, e.Probability
	}
}

// wentOn: the pause is over. If it was long enough by then, the turn is too:
// sound may come late, and more of it at once.
func (s *State) wentOn(out *effects, e WentOn) {
	if e.Utterance != s.heard.utterance || s.closed(e.Utterance) {
		return
	}
	p := s.heard.pause
	if p.on && e.Begin >= p.end+s.silenceGiven() {
		s.turnOver(out)
		return
	}
	if silent := e.Begin - p.end; p.on && silent >= finishedSilence {
		s.heard.hesitated = max(s.heard.hesitated, silent)
	}
	s.heard.pause = pause{}
	s.heard.guessed = false
	s.heard.revision = e.Revision + 1
	s.heard.resumed = noVoiceYet
	if s.reply.phase == preparing {
		s.reply.stale = true
	}
}

// noVoiceYet stands for the voice at the resumption until the next Voiced
// tells it.
const noVoiceYet = time.Duration(1<<62 - 1)

// turnOver: the silence is long enough.
func (s *State) turnOver(out *effects) {
	h := &s.heard
	out.add(Close{h.utterance})
	if h.guessed || h.pause.short {
		s.complete(out)
		return
	}
	h.over = true
}

// complete: the user has finished, and this is what was said, if anything.
func (s *State) complete(out *effects) {
	words, returns := s.heard.words, s.returns(s.heard.utterance, s.heard.words)
	s.heard = heard{utterance: s.heard.utterance}
	s.stir()
	switch {
	case words.Text != "" && s.talking():
		s.waiting.hold(words)
	case returns:
		s.drop(out)
		if words.Text != "" {
			s.say(out, words)
		}
		s.takeUp(out)
	case words.Text != "":
		s.tellEarlier(out)
		s.add(out, UserSaid{Words: words})
		s.answer(out, words.Text)
	default:
		s.drop(out)
		s.answerWaiting(out)
	}
}

// returns reports whether an utterance has interrupted the assistant and, with
// these words, does not take the floor: a cough, a noise, "mm-hm".
func (s State) returns(utterance int, w Words) bool {
	return s.broken.utterance == utterance && utterance != 0 && backchannel(w) && !s.endedWithQuestion()
}

// takeUp has the assistant go on where it was interrupted. If nothing of it was
// known then, it thinks again.
func (s *State) takeUp(out *effects) {
	b := s.broken
	s.broken = brokenOff{call: b.call}
	rest := again(b.rest)
	switch {
	case s.paused || s.waiting.unanswered || s.talking():
		s.answerWaiting(out)
	case s.resumeCall(out):
	case len(rest) > 0:
		s.recite(out, rest)
	case len(b.rest) == 0:
		s.answer(out, "")
	}
}

// again is what was not heard of sentences, to be said anew. A sentence that was said
// in two parts is one now: all of it is known.
func again(unheard []Sentence) []Sentence {
	rest := make([]Sentence, 0, len(unheard))
	row := "" // of the newest
	for _, sentence := range unheard {
		text := strings.TrimSpace(strings.TrimSuffix(sentence.Text, CutMark))
		if text == "" || sentence.Quick { // its last word was heard, or it is not missed
			continue
		}
		if n := len(rest); n > 0 && sentence.First == row && row != "" {
			rest[n-1].Text, rest[n-1].GoesOn = rest[n-1].Text+" "+text, sentence.GoesOn
			continue
		}
		row = sentence.Row()
		sentence.ID, sentence.Text, sentence.First, sentence.Before = contract.DerivedID(sentence.ID), text, "", ""
		rest = append(rest, sentence)
	}
	return rest
}

// say tells and keeps what the user said, after what was said before it and is
// not told yet. What was prepared before the history changed is worthless.
func (s *State) say(out *effects, w Words) {
	s.drop(out)
	s.tellEarlier(out)
	s.add(out, UserSaid{Words: w})
}

// tellEarlier tells what was held back.
func (s *State) tellEarlier(out *effects) {
	for _, w := range s.waiting.release() {
		s.drop(out)
		s.add(out, UserSaid{Words: w})
	}
}

// add tells and keeps what the user said or typed.
func (s *State) add(out *effects, u UserSaid) {
	s.tell(out, u)
	s.unsaid = nil // it is answered with what follows
	if !backchannel(u.Words) {
		s.broken.call = brokenCall{}
	}
	s.addUser(u.Words)
	s.spendContext()
}

// typed: the user wrote. It interrupts as speech does.
func (s *State) typed(out *effects, e Typed) {
	s.stir()
	s.drop(out)
	if s.talking() && !s.leaving.final() {
		s.interrupt(out)
	}
	s.tellEarlier(out)
	s.add(out, UserSaid{Words: Words{Text: e.Text, Begin: s.now, End: s.now}, Typed: true})
	s.answer(out, "")
}

// spendContext drops a context that was meant for one message.
func (s *State) spendContext() {
	if c := s.settings.Context; c != nil && c.Type != contract.ContextPersistent {
		s.settings.Context = nil
	}
}
