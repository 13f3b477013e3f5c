package turn

import (
	"parley/appliance/contract"
	"parley/appliance/language"
)

// noteMindFailure: the mind has failed. Of a guess nobody is told before the user has
// judgePause.
func (s *State) noteMindFailure(out *effects, e MindFailed) {
	if !s.isCurrent(e.Turn) || s.reply.thinkingEnded || s.reply.call.exists() {
		return
	}
	s.reply.mindFailure = &e
	if s.reply.phase == answering {
		s.apologise(out)
	}
}

// apologise tells of a mind that has failed, and has the assistant apologise behind
// what it had thought.
func (s *State) apologise(out *effects) {
	e := s.reply.mindFailure
	if e == nil {
		return
	}
	s.reply.mindFailure = nil
	s.reportFault(out, e.Fault)
	if !s.ended {
		s.endWith(out, language.Of(s.settings.userLanguage).AnswerFailed(), e.ID)
	}
}

// nameSession: the language model's server has a name for the session, which holds as
// if the client had given it.
func (s *State) nameSession(out *effects, e SessionNamed) {
	if e.Session == s.settings.CustomSessionID {
		return
	}
	s.settings.CustomSessionID = e.Session
	s.publishSettings(out, contract.SessionSettings{CustomSessionID: e.Session})
}
