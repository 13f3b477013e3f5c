package chat

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
)

// A box that answers most of its conversations late refuses more, with a Retry-After. It accepts them again
// when answers are in time, or when the late ones are old or their chats are over.
func TestABoxThatAnswersLateRefusesChats(t *testing.T) {
	const most = 500 * time.Millisecond
	for name, c := range map[string]struct {
		late []time.Duration // one answer for each chat
		ago  time.Duration
		max  time.Duration
		want bool
	}{
		"nobody was answered":   {nil, 0, most, false},
		"one alone is late":     {[]time.Duration{time.Minute}, 0, most, false},
		"both are late":         {[]time.Duration{most + 1, time.Second}, 0, most, true},
		"both are just in time": {[]time.Duration{most, most}, 0, most, false},
		"half of them are late": {[]time.Duration{time.Second, time.Second, 0, 0}, 0, most, false},
		"more than half are":    {[]time.Duration{time.Second, time.Second, 0}, 0, most, true},
		"they were late long ago": {[]time.Duration{time.Second, time.Second}, lateWindow + time.Second, most,
			false},
		"they may be as late as it is": {[]time.Duration{time.Second, time.Second}, 0, 0, false},
	} {
		f := newFakes()
		h := hostOf(f, func(p *Parts) { p.MaxAddedDelay, p.MaxChats = c.max, 8 })
		for i, late := range c.late {
			id := string(rune('a' + i))
			h.delays.note(id, time.Now().Add(-c.ago-time.Second), 0)
			h.delays.note(id, time.Now().Add(-c.ago), late)
		}
		slot, err := h.Reserve("a")
		full, refused := errors.AsType[contract.ErrFull](err)
		if refused != c.want || refused && full.Wait() != lateRetry {
			t.Errorf("%s: %v", name, err)
		}
		if slot != nil {
			slot.Release()
		}
		for i := range c.late {
			h.delays.forget(string(rune('a' + i)))
		}
		if slot, err := h.Reserve("a"); err != nil {
			t.Errorf("%s: refused when they were over: %v", name, err)
		} else {
			slot.Release()
		}
	}
}

// Time spent waiting for a tool is not counted as a delay of the box.
func TestATurnWithAToolIsNotLate(t *testing.T) {
	for _, tool := range []bool{false, true} {
		var late []time.Duration
		p := stageTimer{observe: func(Stage, time.Duration) {}, log: slog.New(slog.DiscardHandler),
			observeDelay: func(d time.Duration) {
				late = append(late, d)
			}}
		at := func(d time.Duration) turn.At { return turn.At(d) }
		p.follow(turn.VoiceHeard{At: at(0)}, nil, 1)
		p.follow(turn.SilenceContinued{At: at(time.Second)}, []turn.Effect{turn.CloseUtterance{}}, 1)
		if tool {
			p.follow(turn.ToolRequested{At: at(time.Second), Turn: 1}, nil, 1)
		}
		p.follow(turn.SoundMade{At: at(4 * time.Second), Turn: 1},
			[]turn.Effect{turn.Publish{Fact: turn.SoundSent{}}}, 1)
		if tool && len(late) != 0 || !tool && (len(late) != 1 || late[0] != 3*time.Second) {
			t.Errorf("with a tool %v: %v", tool, late)
		}
	}
}

// The stages of a dropped speculation are not those of the answer that came.
func TestADroppedSpeculationLeavesNoStage(t *testing.T) {
	p := stageTimer{observe: func(Stage, time.Duration) {}, log: slog.New(slog.DiscardHandler)}
	at := func(d time.Duration) turn.At { return turn.At(d) }
	p.follow(turn.VoiceHeard{At: at(0)}, nil, 0)
	p.follow(turn.Transcribed{At: at(1000 * time.Millisecond)}, []turn.Effect{turn.Think{Turn: 1}}, 1)
	p.follow(turn.SentenceThought{At: at(1100 * time.Millisecond), Turn: 1, Began: 1050 * time.Millisecond}, nil, 1)
	p.follow(turn.SoundMade{At: at(1200 * time.Millisecond), Turn: 1}, nil, 1)
	p.follow(turn.Transcribed{At: at(3 * time.Second)}, []turn.Effect{turn.Cancel{Turn: 1}, turn.Think{Turn: 2}}, 2)
	p.follow(turn.SilenceContinued{At: at(4 * time.Second)}, []turn.Effect{turn.CloseUtterance{}}, 2)
	p.follow(turn.SentenceThought{At: at(5 * time.Second), Turn: 2, Began: 4500 * time.Millisecond}, nil, 2)
	p.follow(turn.SoundMade{At: at(6 * time.Second), Turn: 2}, []turn.Effect{turn.Publish{Fact: turn.SoundSent{}}}, 2)
	recorded := p.recent()
	if len(recorded) != 1 {
		t.Fatalf("%d turns were recorded, want 1", len(recorded))
	}
	if o := recorded[0]; o.FirstToken != 4500 || o.FirstSentence != 5000 || o.FirstSound != 6000 || o.Sent != 6000 {
		t.Errorf("the answer's moments are %+v", o)
	}
}
