package turn

import (
	"parley/appliance/contract"
	"parley/appliance/language"
)

// broke: the mind has failed. Of a guess nobody is told before the user has
// finished.
func (s *State) broke(out *effects, e Broke) {
	if !s.at(e.Turn) || s.reply.thought || s.reply.call.is() {
		return
	}
	s.reply.broke = &e
	if s.reply.phase == answering {
		s.admit(out)
	}
}

// admit tells of a mind that has failed, and has the assistant apologise behind
// what it had thought.
func (s *State) admit(out *effects) {
	e := s.reply.broke
	if e == nil {
		return
	}
	s.reply.broke = nil
	s.faulty(out, e.Fault)
	if !s.ended {
		s.last(out, language.Of(s.settings.spoken).Broken(), e.ID)
	}
}

// named: the language model's server has a name for the session, which holds as
// if the client had given it.
func (s *State) named(out *effects, e Named) {
	if e.Session == s.settings.CustomSessionID {
		return
	}
	s.settings.CustomSessionID = e.Session
	s.tellSettings(out, contract.SessionSettings{CustomSessionID: e.Session})
}
