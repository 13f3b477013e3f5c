package record

import (
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
)

// maxStarts is for how many of the newest sentences the start is remembered. A sentence may be cut short
// while it plays; there are seldom more than four that wait.
const maxStarts = 128

// playbackClock computes when each sentence of the assistant begins to play, in agreement with the recorder:
// sound plays after all sound that was sent before it.
type playbackClock struct {
	end    time.Duration // when everything sent has been played
	starts []sentenceStart
}

type sentenceStart struct {
	sentence string // its ID
	ms       int64  // since the chat began
}

// startOf returns when the sentence of a fact begins, in ms since the chat began, or nil if the fact has
// none.
func (p *playbackClock) startOf(t turn.Publish) *int64 {
	switch f := t.Fact.(type) {
	case turn.SoundSent:
		length := time.Duration(len(f.PCM)) * time.Second / contract.OutputRateHz
		p.end = max(t.At, p.end) + length
	case turn.AssistantSaid:
		if f.First != "" {
			return p.known(f.First)
		}
		b := sentenceStart{f.ID, max(t.At, p.end).Milliseconds()}
		if len(p.starts) == maxStarts {
			p.starts = append(p.starts[:0], p.starts[maxStarts/2:]...)
		}
		p.starts = append(p.starts, b)
		return &b.ms
	case turn.CutShort:
		return p.known(f.ID)
	}
	return nil
}

// known returns when a sentence began, or nil if that is not remembered.
func (p *playbackClock) known(sentence string) *int64 {
	for _, b := range p.starts {
		if b.sentence == sentence {
			return &b.ms
		}
	}
	return nil
}

// cut notes that nothing plays after a time.
func (p *playbackClock) cut(at time.Duration) { p.end = min(p.end, at) }
