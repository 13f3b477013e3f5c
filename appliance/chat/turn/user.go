package turn

import (
	"strings"
	"time"

	"parley/appliance/contract"
)

// staleVoice is how much more voice after a pause makes an answer prepared in
// that pause worthless. A breath or a cough brings less, and mostly leaves the
// words as they were.
const staleVoice = 160 * time.Millisecond

// voiced: the user makes a sound. Enough of it over the assistant's interrupts.
func (s *State) voiced(out *effects, e Voiced) {
	s.active = s.now
	if s.closed(e.Utterance) {
		return
	}
	s.listenTo(out, e.Utterance)
	h := &s.heard
	if s.reply.phase == preparing && s.reply.stale && e.Voice-h.resumed >= staleVoice {
		s.drop(out)
	}
	if s.talking() && !h.interrupted && e.Voice >= s.settings.MinInterruption {
		h.interrupted = true
		s.interrupt(out)
	}
	h.resumed = min(h.resumed, e.Voice)
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
	if s.reply.phase == preparing {
		s.drop(out)
	}
	if s.heard.over {
		s.waiting.expect(s.heard.utterance, s.heard.revision)
	}
	s.heard = heard{utterance: n, open: true}
}

// overheard: the user is still speaking, and this is the beginning of it. The
// model reads it meanwhile.
func (s *State) overheard(out *effects, e Overheard) {
	if e.Utterance != s.heard.utterance || s.closed(e.Utterance) || s.heard.guessed || s.talking() {
		return
	}
	if s.settings.Verbose && e.Words.Text != "" {
		s.tell(out, UserSaid{Words: e.Words, Interim: true})
	}
	if text := certain(e.Words.Text); text != "" && s.reply.phase == quiet && !s.paused {
		out.add(Prefill{s.conversation(Entry{Role: User, Text: text})})
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
	if e.Utterance < h.utterance {
		s.cameLate(out, e)
		return
	}
	if e.Utterance != h.utterance || e.Revision < h.revision || !h.open {
		return
	}
	h.revision, h.words, h.guessed = e.Revision, e.Words, true
	if h.over {
		s.complete(out)
		return
	}
	if s.settings.Verbose && e.Words.Text != "" && !s.talking() {
		s.tell(out, UserSaid{Words: e.Words, Interim: true})
	}
	s.speculate(out)
}

// speculate prepares the answer to a guess, unless it is prepared already.
func (s *State) speculate(out *effects) {
	h := s.heard
	if !h.guessed || h.over || s.talking() || s.paused {
		return
	}
	if s.reply.phase == preparing {
		if s.reply.answers == h.words.Text && s.reply.failed == nil {
			s.reply.revision, s.reply.stale = h.revision, false
			return
		}
		s.drop(out)
	}
	if h.words.Text == "" {
		return
	}
	s.think(out, preparing, h.words.Text, s.byUser(h.words.Text))
	s.reply.utterance, s.reply.revision = h.utterance, h.revision
}

// unprepared reports whether the user's words wait to be answered in advance.
func (s State) unprepared() bool {
	h := s.heard
	return s.reply.phase == quiet && h.guessed && !h.over && h.words.Text != "" && !s.paused
}

// pausedAt: the user is silent, for now.
func (s *State) pausedAt(e Paused) {
	if e.Utterance != s.heard.utterance || s.closed(e.Utterance) {
		return
	}
	if e.Revision != s.heard.revision {
		s.heard.revision, s.heard.guessed = e.Revision, false
	}
	s.heard.pause = pause{on: true, end: e.End, until: e.End, short: e.Short}
}

// silent: the user is silent still.
func (s *State) silent(e Silent) {
	if e.Utterance == s.heard.utterance {
		s.heard.pause.until = max(s.heard.pause.until, e.Until)
	}
}

// wentOn: the pause is over. If it was long enough by then, the turn is too:
// sound may come late, and more of it at once.
func (s *State) wentOn(out *effects, e WentOn) {
	if e.Utterance != s.heard.utterance || s.closed(e.Utterance) {
		return
	}
	p := s.heard.pause
	if p.on && e.Begin >= p.end+s.settings.EndOfTurnSilence {
		s.turnOver(out)
		return
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
	switch {
	case h.pause.short:
		s.forgetUtterance(out)
	case h.guessed:
		s.complete(out)
	default:
		h.over = true
	}
}

// forgetUtterance drops an utterance that held no words.
func (s *State) forgetUtterance(out *effects) {
	if s.reply.phase == preparing {
		s.drop(out)
	}
	s.heard = heard{utterance: s.heard.utterance}
	s.answerWaiting(out)
}

// complete: the user has finished, and this is what was said.
func (s *State) complete(out *effects) {
	words := s.heard.words
	s.heard = heard{utterance: s.heard.utterance}
	s.active = s.now
	switch {
	case words.Text == "":
		if s.reply.phase == preparing {
			s.drop(out)
		}
		s.answerWaiting(out)
	case s.talking():
		s.waiting.hold(words)
	default:
		s.say(out, words)
		s.answer(out, words.Text)
	}
}

// say tells and keeps what the user said.
func (s *State) say(out *effects, w Words) { s.sayOrType(out, w, false) }

// sayOrType tells and keeps what the user said or typed, after what was said
// before it and is not told yet.
func (s *State) sayOrType(out *effects, w Words, typed bool) {
	for _, earlier := range s.waiting.release() {
		s.say(out, earlier)
	}
	s.tell(out, UserSaid{Words: w, Typed: typed})
	s.addUser(w.Text)
	s.spendContext()
}

// typed: the user wrote. It interrupts as speech does.
func (s *State) typed(out *effects, e Typed) {
	s.active = s.now
	if s.reply.phase == preparing {
		s.drop(out)
	}
	if s.talking() {
		s.interrupt(out)
	}
	w := Words{Text: e.Text, Begin: s.now, End: s.now}
	s.sayOrType(out, w, true)
	s.answer(out, "")
}

// spendContext drops a context that was meant for one message.
func (s *State) spendContext() {
	if c := s.settings.Context; c != nil && c.Type != contract.ContextPersistent {
		s.settings.Context = nil
	}
}
