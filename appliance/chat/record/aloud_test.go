package record

import (
	"encoding/json"
	"testing"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
)

// What plays behind something else begins when that is over, and what is said
// anew after an interruption begins at once.
func TestWhenASentenceBeginsIsInTheHistory(t *testing.T) {
	said := func(at time.Duration, id string) turn.Tell {
		return turn.Tell{At: at, Fact: turn.AssistantSaid{Sentence: turn.Sentence{ID: id}}}
	}
	sounds := func(at time.Duration, length time.Duration) turn.Tell {
		return turn.Tell{At: at, Fact: turn.Sounded{PCM: make([]float32, length*contract.OutputRateHz/time.Second)}}
	}
	var a aloud
	var chat Chat
	begins := func(tell turn.Tell) int64 {
		o := chat.outgoing(tell, a.begins(tell))
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
	a.begins(sounds(time.Second, 2*time.Second))
	a.begins(sounds(1500*time.Millisecond, time.Second))
	if got := begins(said(2*time.Second, "b")); got != 4000 {
		t.Errorf("the next begins at %d ms, and the first plays until 4000", got)
	}
	a.begins(sounds(2*time.Second, 5*time.Second))
	a.cut(5 * time.Second)
	if got := begins(turn.Tell{At: 5 * time.Second,
		Fact: turn.CutShort{Sentence: turn.Sentence{ID: "b", Text: "Wel…"}}}); got != 4000 {
		t.Errorf("cut short, it begins at %d ms", got)
	}
	if got := begins(said(6*time.Second, "c")); got != 6000 {
		t.Errorf("after an interruption at 5000 a sentence of 6000 begins at %d ms", got)
	}
	for range 1000 {
		a.begins(said(7*time.Second, "d"))
	}
	if len(a.begun) > mostBegun {
		t.Errorf("%d sentences are remembered", len(a.begun))
	}
}
