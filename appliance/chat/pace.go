package chat

import (
	"log/slog"
	"time"

	"parley/appliance/chat/turn"
)

// Stage is a piece of the way from the user's last sound to the answer's first.
type Stage string

// The stages of a spoken turn. They overlap: an answer is prepared while the
// silence is still waited for.
const (
	// StageSilence is from the end of the voice to the end of the turn.
	StageSilence Stage = "silence"
	// StageHear is from the end of the voice to its transcript.
	StageHear Stage = "hear"
	// StageThink is from the transcript to the first sentence.
	StageThink Stage = "think"
	// StageSpeak is from the first sentence to its sound.
	StageSpeak Stage = "speak"
	// StageAnswer is from the end of the voice to the first sound sent; what it
	// has over StageSilence is the latency that the box adds.
	StageAnswer Stage = "answer"
	// StageFeel is what is left to do of a voice's feelings at a pause. It is done
	// while the words are on their way.
	StageFeel Stage = "feel"
)

// pace follows the newest turn and tells how long its stages took.
type pace struct {
	tell func(Stage, time.Duration)
	late func(time.Duration) // by how much an answer came later than its silence; nil: nobody asks
	log  *slog.Logger

	voiceEnd, heard, thought, spoken, ended time.Duration
	turn                                    int  // that was told last
	waited                                  bool // for a tool
}

// note takes an event, and what it brought, as the session handles them.
func (p *pace) note(e turn.Event, follows []turn.Effect, n int) {
	switch e := e.(type) {
	case turn.Voiced:
		p.thought, p.spoken, p.ended, p.waited = 0, 0, 0, false
	case turn.Called:
		p.waited = true
	case turn.Guessed:
		p.voiceEnd, p.heard = e.Words.End, e.Time()
	case turn.Thought:
		if e.Turn == n && p.thought == 0 && !e.Sentence.Quick {
			p.thought = e.Time()
		}
	case turn.Spoken:
		if e.Turn == n && p.spoken == 0 && !e.Piece.Sentence.Quick {
			p.spoken = e.Time()
		}
	}
	for _, f := range follows {
		if _, over := f.(turn.Close); over {
			p.ended = e.Time()
		}
	}
	if p.ended != 0 && p.spoken != 0 && n != p.turn && sendsAudio(follows) {
		p.turn = n
		p.turnTold(e.Time())
	}
}

// turnTold tells the stages of a turn whose first sound is sent.
func (p *pace) turnTold(now time.Duration) {
	stages := []struct {
		stage Stage
		took  time.Duration
	}{
		{StageHear, p.heard - p.voiceEnd},
		{StageThink, p.thought - p.heard},
		{StageSpeak, p.spoken - p.thought},
		{StageSilence, p.ended - p.voiceEnd},
		{StageAnswer, now - p.voiceEnd},
	}
	line := make([]any, 0, 2*len(stages))
	for _, s := range stages {
		p.tell(s.stage, s.took)
		line = append(line, string(s.stage)+"_ms", s.took.Milliseconds())
	}
	p.log.Debug("turn", line...)
	if p.late != nil && !p.waited {
		p.late(now - p.ended)
	}
}

func sendsAudio(effects []turn.Effect) bool {
	for _, f := range effects {
		if t, ok := f.(turn.Tell); ok {
			if _, sounds := t.Fact.(turn.Sounded); sounds {
				return true
			}
		}
	}
	return false
}
