package ear

import (
	"parley/appliance/chat/turn"
	"parley/appliance/contract"
)

// A Voice measures the feelings in one utterance. One goroutine uses it, and
// none of its methods holds it up for longer than a message may wait.
type UtteranceScorer interface {
	// Hear takes the next sound, mono at engine.SpeechRateHz.
	Hear(pcm []float32)
	// Pause has what was heard so far judged, of which more may follow: at a pause, and
	// now and then before it, so that a machine that is late then has something.
	Pause()
	// Express scores the utterance as far as it was heard at the newest Pause,
	// with the words in it, in a language (BCP 47, empty where it is not known).
	// strong names the feelings that stand out; it is empty where none does. Where
	// that is not measured in time, they are those of what was measured by then.
	Express(text, language string) (scores contract.EmotionScores, strong string)
}

// measureVoice lets the voice of the utterance have what was heard of it since. So
// little is left to do when the user falls silent.
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

// judgeVoice judges the voice at a pause, or amid it. Its words are on their way
// meanwhile.
func (e *Ear) judgeVoice() {
	e.measureVoice()
	if v := e.utterance.voice; v != nil {
		v.Pause()
	}
}

// withFeelings puts the feelings of an utterance beside its words. Words that were said
// always have them.
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
