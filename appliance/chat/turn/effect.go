package turn

import (
	"time"

	"parley/appliance/contract"
)

// An Effect is something that the owner of the conversation has to do.
type Effect interface{ effect() }

type (
	// Publish passes on a fact: it is written into the history, and then sent to the client.
	Publish struct {
		At   time.Duration
		Fact Fact
	}
	// Think asks the mind for the reply of a turn. Due is when the user's turn will be over and the reply is
	// waited for; 0 means that it is waited for now. Near that time the first sentence may be cut at a
	// clause.
	//
	// AfterTool means that the turn continues after a tool's answer. NoCall means that the reply must be in
	// words.
	Think struct {
		Turn        int
		Speculative bool
		Due         time.Duration
		AfterTool   bool
		NoCall      bool
		// Unprompted means that the assistant speaks by itself and nobody waits for the reply.
		Unprompted bool
		Conversation
	}
	// SayText asks for the sentences of a known text, as if the mind had thought them.
	SayText struct {
		Turn int
		Text string
	}
	// Promote makes a speculative turn real: the user has finished and waits.
	Promote struct{ Turn int }
	// Prefill prefills the conversation so far, before the user's next words.
	Prefill struct{ Conversation }
	// CloseUtterance tells the ear that an utterance is over: voice after the current pause begins the next
	// one.
	CloseUtterance struct{ Utterance int }
	// Speak asks the mouth for one sentence of a turn.
	Speak struct {
		Turn     int
		Sentence Sentence
	}
	// FinishTurn reports that a turn needs no more sentences, so that its mind and mouth can stop.
	FinishTurn struct{ Turn int }
	// Cancel stops all work for a turn. Events that still come from it are dropped.
	Cancel struct{ Turn int }
	// Cut drops the sound that was sent and has not been played by now.
	Cut struct{ At time.Duration }
	// End ends the conversation: the history records the reason, and the line closes.
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
