package chat

import (
	"log/slog"
	"slices"
	"sync"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
)

// Stage is a part of the time from the user's last sound to the answer's first.
type Stage string

// The stages of a spoken turn. They overlap, because an answer is prepared during the silence.
const (
	// StageSilence is from the end of the voice to the end of the turn.
	StageSilence Stage = "silence"
	// StageHear is from the end of the voice to its transcript.
	StageHear Stage = "hear"
	// StageThink is from the transcript to the first sentence.
	StageThink Stage = "think"
	// StageSpeak is from the first sentence to its sound.
	StageSpeak Stage = "speak"
	// StageAnswer is from the end of the voice to the first sound sent. StageAnswer minus StageSilence is the
	// latency that the box adds.
	StageAnswer Stage = "answer"
	// StageLate is from the end of the turn to the first sound sent, for turns that waited only for the box.
	StageLate Stage = "late"
	// StageFeel is the work left at a pause to measure the feelings in a voice. It runs while the transcript
	// is made.
	StageFeel Stage = "feel"
)

// stageTimer follows the newest turn and reports how long its stages took.
type stageTimer struct {
	observe      func(Stage, time.Duration)
	observeDelay func(time.Duration) // called with how much later than its silence an answer came; may be nil
	log          *slog.Logger

	voiceEnd, transcribed, began, thought, spoken, ended time.Duration
	reported                                             int  // the turn reported last
	current                                              int  // the turn of began, thought and spoken
	calledTool                                           bool // the turn has called a tool
	typed                                                bool

	mu    sync.Mutex // guards turns
	turns []contract.ReturnTurn
}

// maxTurns is how many turns of a chat are stored with their times: a quarter of an hour, in a few kilobytes.
const maxTurns = 100

// follow takes an event and its effects as the session handles them. n is the state's current turn. What was
// thought for an earlier turn, such as a dropped speculative one, is not part of this turn's answer.
func (t *stageTimer) follow(e turn.Event, follows []turn.Effect, n int) {
	if n != t.current {
		t.current, t.began, t.thought, t.spoken = n, 0, 0, 0
	}
	switch e := e.(type) {
	case turn.VoiceHeard:
		t.began, t.thought, t.spoken, t.ended, t.calledTool, t.typed = 0, 0, 0, 0, false, false
	case turn.Typed:
		now := e.Time()
		t.began, t.thought, t.spoken, t.calledTool, t.typed = 0, 0, 0, false, true
		t.voiceEnd, t.transcribed, t.ended = now, now, now
	case turn.ToolRequested:
		t.calledTool = true
	case turn.Transcribed:
		t.voiceEnd, t.transcribed = e.Transcript.End, e.Time()
	case turn.SentenceThought:
		if e.Turn == n && t.thought == 0 && !e.Sentence.Quick {
			t.began, t.thought = e.Began, e.Time()
		}
	case turn.SoundMade:
		if e.Turn == n && t.spoken == 0 && !e.Piece.Sentence.Quick {
			t.spoken = e.Time()
		}
	}
	for _, f := range follows {
		if _, over := f.(turn.CloseUtterance); over {
			t.ended = e.Time()
		}
	}
	if t.ended != 0 && t.spoken != 0 && n != t.reported && sendsAudio(follows) {
		t.reported = n
		t.store(n, e.Time())
		if !t.typed {
			t.report(e.Time())
		}
	}
}

// store stores the times of a turn whose first sound is sent.
func (t *stageTimer) store(n int, now time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.turns) == maxTurns {
		t.turns = slices.Delete(t.turns, 0, 1)
	}
	t.turns = append(t.turns, contract.ReturnTurn{
		Turn:          n,
		Typed:         t.typed,
		CalledTool:    t.calledTool,
		VoiceEnd:      t.voiceEnd.Milliseconds(),
		Transcript:    t.transcribed.Milliseconds(),
		TurnEnd:       t.ended.Milliseconds(),
		FirstToken:    t.began.Milliseconds(),
		FirstSentence: t.thought.Milliseconds(),
		FirstSound:    t.spoken.Milliseconds(),
		Sent:          now.Milliseconds(),
	})
}

// recent returns the stored turns, oldest first.
func (t *stageTimer) recent() []contract.ReturnTurn {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]contract.ReturnTurn{}, t.turns...)
}

// report reports the stages of a turn whose first sound is sent.
func (t *stageTimer) report(now time.Duration) {
	stages := []struct {
		stage Stage
		took  time.Duration
	}{
		{StageHear, t.transcribed - t.voiceEnd},
		{StageThink, t.thought - t.transcribed},
		{StageSpeak, t.spoken - t.thought},
		{StageSilence, t.ended - t.voiceEnd},
		{StageAnswer, now - t.voiceEnd},
	}
	line := make([]any, 0, 2*len(stages))
	for _, s := range stages {
		t.observe(s.stage, s.took)
		line = append(line, string(s.stage)+"_ms", s.took.Milliseconds())
	}
	t.log.Debug("turn", line...)
	if t.observeDelay != nil && !t.calledTool {
		t.observeDelay(now - t.ended)
	}
}

func sendsAudio(effects []turn.Effect) bool {
	for _, f := range effects {
		if t, ok := f.(turn.Publish); ok {
			if _, sounds := t.Fact.(turn.SoundSent); sounds {
				return true
			}
		}
	}
	return false
}
