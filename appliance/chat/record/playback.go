package record

import (
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
)

// maxStarts is of how many of the newest sentences is known when they began. One
// may be cut short while it plays: there are seldom more than four that wait.
const maxStarts = 128

// playbackClock knows when each sentence of the assistant begins to be heard, as the
// recorder places it: what is sent plays behind what was sent before.
type playbackClock struct {
	end    time.Duration // when all that was sent has been played
	starts []sentenceStart
}

type sentenceStart struct {
	sentence string // its id
	ms       int64  // since the chat began
}

// startOf is when the sentence begins that a fact is of, in ms since the chat
// began; nil where it is of none.
func (a *playbackClock) startOf(t turn.Publish) *int64 {
	switch f := t.Fact.(type) {
	case turn.SoundSent:
		length := time.Duration(len(f.PCM)) * time.Second / contract.OutputRateHz
		a.end = max(t.At, a.end) + length
	case turn.AssistantSaid:
		if f.First != "" {
			return a.known(f.First)
		}
		b := sentenceStart{f.ID, max(t.At, a.end).Milliseconds()}
		if len(a.starts) == maxStarts {
			a.starts = append(a.starts[:0], a.starts[maxStarts/2:]...)
		}
		a.starts = append(a.starts, b)
		return &b.ms
	case turn.CutShort:
		return a.known(f.ID)
	}
	return nil
}

// known is when a sentence began, nil where that is not remembered.
func (a *playbackClock) known(sentence string) *int64 {
	for _, b := range a.starts {
		if b.sentence == sentence {
			return &b.ms
		}
	}
	return nil
}

// cutUpTo says that what was to play from a time on is not heard.
func (a *playbackClock) cut(at time.Duration) { a.end = min(a.end, at) }
