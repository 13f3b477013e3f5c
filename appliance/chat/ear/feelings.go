package ear

import (
	"parley/appliance/chat/turn"
	"parley/appliance/contract"
)

// An UtteranceScorer measures the feelings in one utterance. One goroutine uses it. None of its methods blocks for
// longer than a message may wait.
type UtteranceScorer interface {
	// Hear takes the next sound, mono at engine.SpeechRateHz.
	Hear(pcm []float32)
	// Pause judges what was heard so far; more may follow. It is called at a pause, and now and then before
	// it, so that a machine that is late has a judgement.
	Pause()
	// Express scores the utterance up to the newest Pause, with its text, in a language (BCP 47; empty if
	// unknown). strong names the feelings that stand out; it may be empty. If the judgement is not ready in
	// time, an earlier one counts.
	Express(text, language string) (scores contract.EmotionScores, strong string)
}

// measureVoice gives the new sound of the utterance to its scorer, so that little is left to do when the user
// falls silent.
func (e *Ear) measureVoice() {
	u := e.utterance
	if e.NewVoice == nil || u.over || !e.segmenter.Speaking() {
		return
	}
	if u.voice == nil {
		u.voice = e.NewVoice()
	}
	u.voice.Hear(e.segmenter.Since(u.voiceUpTo))
	u.voiceUpTo = e.segmenter.Position()
}

// judgeVoice has the scorer judge the utterance so far, while the transcript is made.
func (e *Ear) judgeVoice() {
	e.measureVoice()
	if v := e.utterance.voice; v != nil {
		v.Pause()
	}
}

// withFeelings adds the feelings of an utterance to its transcript. A transcript with text always has them.
func (e *Ear) withFeelings(u *utterance, w turn.Transcript) turn.Transcript {
	if e.NewVoice == nil || w.Text == "" {
		return w
	}
	if u.voice == nil {
		u.voice = e.NewVoice()
	}
	scores, strong := u.voice.Express(w.Text, w.Language)
	w.Scores = &scores
	if e.TellFeelings {
		w.Feelings = strong
	}
	return w
}
