package chat

import (
	"log/slog"
	"time"

	"parley/appliance/chat/ear"
	"parley/appliance/contract"
)

// Expression measures feelings, in voices and in texts.
type Expression interface {
	// NewVoice returns what measures an utterance.
	NewVoice() Voice
	// Text scores what is written, or is to be said.
	Text(text string) contract.EmotionScores
}

// A Voice measures the feelings in one utterance. One goroutine at a time uses it.
type Voice interface {
	// Hear takes the next sound, mono at engine.SpeechRateHz.
	Hear(pcm []float32)
	// Pause judges what was heard so far, of which more may follow.
	Pause()
	// Express scores the utterance as far as it was heard at the newest Pause,
	// with the words in it, in a language (BCP 47, empty where it is not known).
	// strong names the feelings that stand out; it is empty where none does.
	Express(text, language string) (scores contract.EmotionScores, strong string)
}

// feltWithin is for how long a message waits at most for the feelings in it; then
// it goes without them. They take a few milliseconds on a slow box, and what a
// listener notices begins behind 20.
const feltWithin = 20 * time.Millisecond

// prompt measures feelings for one chat, and never for longer than a message may
// wait.
type prompt struct {
	Expression
	group *group
	log   *slog.Logger
}

// within runs measure beside the chat, and reports whether it was done before the
// time was over. Where it was not, it goes on by itself.
func (p *prompt) within(d time.Duration, measure func()) bool {
	done := make(chan struct{})
	p.group.Go(func() {
		defer close(done)
		measure()
	})
	late := time.NewTimer(d)
	defer late.Stop()
	select {
	case <-done:
		return true
	case <-late.C:
		p.log.Warn("feelings took too long to measure; a message goes without them", "limit_ms", feltWithin.Milliseconds())
		return false
	}
}

// text scores a sentence of the assistant's; nil where that would take too long.
func (p *prompt) text(text string) *contract.EmotionScores {
	var scores contract.EmotionScores
	if !p.within(feltWithin, func() { scores = p.Text(text) }) {
		return nil
	}
	return &scores
}

// voice returns what measures an utterance.
func (p *prompt) voice() ear.Voice { return &promptVoice{prompt: p, voice: p.NewVoice()} }

// promptVoice is a Voice that is given up once it was too slow: what it is at goes
// on, and nobody else may use it meanwhile.
type promptVoice struct {
	*prompt
	voice Voice         // nil: it was given up
	spent time.Duration // of feltWithin, since the newest pause
}

func (v *promptVoice) Hear(pcm []float32) {
	if v.voice != nil {
		v.voice.Hear(pcm)
	}
}

func (v *promptVoice) Pause() {
	v.spent = 0
	v.spend(func(voice Voice) { voice.Pause() })
}

func (v *promptVoice) Express(text, language string) (scores *contract.EmotionScores, strong string) {
	var felt struct {
		scores contract.EmotionScores
		strong string
	}
	if !v.spend(func(voice Voice) { felt.scores, felt.strong = voice.Express(text, language) }) {
		return nil, ""
	}
	return &felt.scores, felt.strong
}

// spend lets the voice work for what is left of the time that a message waits.
func (v *promptVoice) spend(work func(Voice)) bool {
	if v.voice == nil {
		return false
	}
	begun, voice := time.Now(), v.voice
	if !v.within(feltWithin-v.spent, func() { work(voice) }) {
		v.voice = nil
		return false
	}
	v.spent += time.Since(begun)
	return true
}
