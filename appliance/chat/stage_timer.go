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
func (p *stageTimer) follow(e turn.Event, follows []turn.Effect, n int) {
	if n != p.current {
		p.current, p.began, p.thought, p.spoken = n, 0, 0, 0
	}
	switch e := e.(type) {
	case turn.VoiceHeard:
		p.began, p.thought, p.spoken, p.ended, p.calledTool, p.typed = 0, 0, 0, 0, false, false
	case turn.Typed:
		now := e.Time()
		p.began, p.thought, p.spoken, p.calledTool, p.typed = 0, 0, 0, false, true
		p.voiceEnd, p.transcribed, p.ended = now, now, now
	case turn.ToolRequested:
		p.calledTool = true
	case turn.Transcribed:
		p.voiceEnd, p.transcribed = e.Transcript.End, e.Time()
	case turn.SentenceThought:
		if e.Turn == n && p.thought == 0 && !e.Sentence.Quick {
			p.began, p.thought = e.Began, e.Time()
		}
	case turn.SoundMade:
		if e.Turn == n && p.spoken == 0 && !e.Piece.Sentence.Quick {
			p.spoken = e.Time()
		}
	}
	for _, f := range follows {
		if _, over := f.(turn.CloseUtterance); over {
			p.ended = e.Time()
		}
	}
	if p.ended != 0 && p.spoken != 0 && n != p.reported && sendsAudio(follows) {
		p.reported = n
		p.store(n, e.Time())
		if !p.typed {
			p.report(e.Time())
		}
	}
}

// store stores the times of a turn whose first sound is sent.
func (p *stageTimer) store(n int, now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.turns) == maxTurns {
		p.turns = slices.Delete(p.turns, 0, 1)
	}
	p.turns = append(p.turns, contract.ReturnTurn{
		Turn:          n,
		Typed:         p.typed,
		CalledTool:    p.calledTool,
		VoiceEnd:      p.voiceEnd.Milliseconds(),
		Transcript:    p.transcribed.Milliseconds(),
		TurnEnd:       p.ended.Milliseconds(),
		FirstToken:    p.began.Milliseconds(),
		FirstSentence: p.thought.Milliseconds(),
		FirstSound:    p.spoken.Milliseconds(),
		Sent:          now.Milliseconds(),
	})
}

// recent returns the stored turns, oldest first.
func (p *stageTimer) recent() []contract.ReturnTurn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]contract.ReturnTurn{}, p.turns...)
}

// report reports the stages of a turn whose first sound is sent.
func (p *stageTimer) report(now time.Duration) {
	stages := []struct {
		stage Stage
		took  time.Duration
	}{
		{StageHear, p.transcribed - p.voiceEnd},
		{StageThink, p.thought - p.transcribed},
		{StageSpeak, p.spoken - p.thought},
		{StageSilence, p.ended - p.voiceEnd},
		{StageAnswer, now - p.voiceEnd},
	}
	line := make([]any, 0, 2*len(stages))
	for _, s := range stages {
		p.observe(s.stage, s.took)
		line = append(line, string(s.stage)+"_ms", s.took.Milliseconds())
	}
	p.log.Debug("turn", line...)
	if p.observeDelay != nil && !p.calledTool {
		p.observeDelay(now - p.ended)
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
