package turn

import (
	"parley/appliance/contract"
	"parley/appliance/language"
)

// noteMindFailure notes that the mind has failed. The failure of a speculative reply is not reported before
// the user has finished.
func (s *State) noteMindFailure(out *effects, e MindFailed) {
	if !s.isCurrent(e.Turn) || s.reply.thinkingEnded || s.reply.call.exists() {
		return
	}
	s.reply.mindFailure = &e
	if s.reply.phase == answering {
		s.apologiseIfFailed(out)
	}
}

// apologiseIfFailed reports a failure of the mind, if there was one, and has the assistant apologise after
// the sentences that were thought.
func (s *State) apologiseIfFailed(out *effects) {
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

// nameSession puts the name that the language model's server gives the session in force, as if the client had
// set it.
func (s *State) nameSession(out *effects, e SessionNamed) {
	if e.Session == s.settings.CustomSessionID {
		return
	}
	s.settings.CustomSessionID = e.Session
	s.publishSettings(out, contract.SessionSettings{CustomSessionID: e.Session})
}
