package record

import (
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
)

// mostBegun is of how many of the newest sentences is known when they began. One
// may be cut short while it plays: there are seldom more than four that wait.
const mostBegun = 128

// aloud knows when each sentence of the assistant begins to be heard, as the
// recorder places it: what is sent plays behind what was sent before.
type aloud struct {
	silentAt time.Duration // when all that was sent has been played
	begun    []begun
}

type begun struct {
	sentence string // its id
	ms       int64  // since the chat began
}

// begins is when the sentence begins that a fact is of, in ms since the chat
// began; nil where it is of none.
func (a *aloud) begins(t turn.Tell) *int64 {
	switch f := t.Fact.(type) {
	case turn.Sounded:
		length := time.Duration(len(f.PCM)) * time.Second / contract.OutputRateHz
		a.silentAt = max(t.At, a.silentAt) + length
	case turn.AssistantSaid:
		if f.First != "" {
			return a.began(f.First)
		}
		b := begun{f.ID, max(t.At, a.silentAt).Milliseconds()}
		if len(a.begun) == mostBegun {
			a.begun = append(a.begun[:0], a.begun[mostBegun/2:]...)
		}
		a.begun = append(a.begun, b)
		return &b.ms
	case turn.CutShort:
		return a.began(f.ID)
	}
	return nil
}

// began is when a sentence began, nil where that is not remembered.
func (a *aloud) began(sentence string) *int64 {
	for _, b := range a.begun {
		if b.sentence == sentence {
			return &b.ms
		}
	}
	return nil
}

// cut says that what was to play from a time on is not heard.
func (a *aloud) cut(at time.Duration) { a.silentAt = min(a.silentAt, at) }
