package turn

import (
	"time"

	"parley/appliance/contract"
)

// An Effect is something that the owner of the conversation has to do.
type Effect interface{ effect() }

type (
	// Publish passes on a fact: it is written into the history first, and then
	// sent to the client.
	Publish struct {
		At   time.Duration
		Fact Fact
	}
	// Think asks the mind for the reply of a turn. Due is when the user's turn
	// will be over and the reply is waited for, 0 when it is already: near that
	// moment its first sentence may be cut at a clause.
	//
	// AfterTool says that the turn is under way: a tool has answered, and NoCall that
	// the reply has to be in words.
	Think struct {
		Turn        int
		Speculative bool
		Due         time.Duration
		AfterTool   bool
		NoCall      bool
		// Unprompted says that nobody waits for it: the assistant speaks by itself.
		Unprompted bool
		Conversation
	}
	// SayText asks for the sentences of a text, as a reply of the mind.
	SayText struct {
		Turn int
		Text string
	}
	// Promote says that a speculative turn has become real: the user has
	// finished, and waits.
	Promote struct{ Turn int }
	// Prefill has the model read the conversation so far, ahead of the user's
	// next words.
	Prefill struct{ Conversation }
	// CloseUtterance tells the ear that an utterance is over: the voice that comes after
	// the pause it is in begins another one.
	CloseUtterance struct{ Utterance int }
	// Speak asks the mouth for one sentence of a turn.
	Speak struct {
		Turn     int
		Sentence Sentence
	}
	// FinishTurn says that a turn needs no more sentences: its mind and mouth may go.
	FinishTurn struct{ Turn int }
	// Cancel stops all work for a turn; what it still brings is dropped.
	Cancel struct{ Turn int }
	// Cut says that what was sent and not played by now is not heard any more.
	Cut struct{ At time.Duration }
	// End ends the conversation: the history says why, the line closes.
	End struct {
		Status contract.ChatStatus
		Code   int
		Reason string
	}
)

func (Publish) effect()        {}
func (Think) effect()          {}
func (SayText) effect()        {}
func (Promote) effect()        {}
func (Prefill) effect()        {}
func (CloseUtterance) effect() {}
func (Speak) effect()          {}
func (FinishTurn) effect()     {}
func (Cancel) effect()         {}
func (Cut) effect()            {}
func (End) effect()            {}
