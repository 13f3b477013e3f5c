package chat

import (
	"time"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/store"
)

// An Effect is something that a Session has to do.
type Effect interface{ effect() }

type (
	// Send gives the client a message. With a Record it is written into the
	// history first.
	Send struct {
		Message contract.ServerMessage
		Record  *store.Event
	}
	// Record writes into the history what the client is not told.
	Record struct{ Event store.Event }
	// Amend puts another text and metadata in place of those of an event that
	// is in the history.
	Amend struct{ Event store.Event }
	// Note keeps with the chat what the client notes of it.
	Note struct{ Metadata string } // JSON
	// Think asks the mind for the reply of a turn. From Hurry on its first
	// sentence may be cut at a clause: somebody waits.
	Think struct {
		Turn        int
		Speculative bool
		Hurry       time.Duration
		Messages    []engine.Message
	}
	// Read asks the mind to read the conversation so far, ahead of the user's
	// next words.
	Read struct{ Messages []engine.Message }
	// Speak asks the mouth for one sentence of a turn.
	Speak struct {
		Turn     int
		Sentence Sentence
	}
	// Done says that a turn needs no more sentences: its mind and mouth may go.
	Done struct{ Turn int }
	// Cancel stops all work for a turn; what it still brings is dropped.
	Cancel struct{ Turn int }
	// End ends the conversation: the record says why, the line closes.
	End struct {
		Status store.Status
		Code   int
		Reason string
	}
)

func (Send) effect()   {}
func (Record) effect() {}
func (Amend) effect()  {}
func (Note) effect()   {}
func (Think) effect()  {}
func (Read) effect()   {}
func (Speak) effect()  {}
func (Done) effect()   {}
func (Cancel) effect() {}
func (End) effect()    {}
