package record

import (
	"encoding/json"
	"testing"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
)

// A sentence begins when the one before it ends; a repeated one begins at once after an interruption.
func TestTheHistoryHasTheBeginningOfSentences(t *testing.T) {
	said := func(at time.Duration, id string) turn.Publish {
		return turn.Publish{At: at, Fact: turn.AssistantSaid{Sentence: turn.Sentence{ID: id}}}
	}
	sounds := func(at time.Duration, length time.Duration) turn.Publish {
		return turn.Publish{At: at, Fact: turn.SoundSent{PCM: make([]float32,
			length*contract.OutputRateHz/time.Second)}}
	}
	var a playbackClock
	var chat Chat
	begins := func(tell turn.Publish) int64 {
		o := chat.outgoing(tell, a.startOf(tell))
		row := o.record
		if row == nil {
			row = o.amended
		}
		var m contract.MessageMetadata
		if err := json.Unmarshal([]byte(row.Metadata), &m); err != nil || m.Begin == nil {
			t.Fatalf("%s: %v", row.Metadata, err)
		}
		return *m.Begin
	}
	if got := begins(said(time.Second, "a")); got != 1000 {
		t.Errorf("the first begins at %d ms", got)
	}
	a.startOf(sounds(time.Second, 2*time.Second))
	a.startOf(sounds(1500*time.Millisecond, time.Second))
	if got := begins(said(2*time.Second, "b")); got != 4000 {
		t.Errorf("the next begins at %d ms, and the first plays until 4000", got)
	}
	a.startOf(sounds(2*time.Second, 5*time.Second))
	a.cut(5 * time.Second)
	if got := begins(turn.Publish{At: 5 * time.Second,
		Fact: turn.CutShort{Sentence: turn.Sentence{ID: "b", Text: "Wel…"}}}); got != 4000 {
		t.Errorf("the sentence that was cut short begins at %d ms", got)
	}
	if got := begins(said(6*time.Second, "c")); got != 6000 {
		t.Errorf("after an interruption at 5000 a sentence of 6000 begins at %d ms", got)
	}
	for range 1000 {
		a.startOf(said(7*time.Second, "d"))
	}
	if len(a.starts) > maxStarts {
		t.Errorf("%d sentences are remembered", len(a.starts))
	}
}
