package chat

import (
	"log/slog"
	"slices"
	"sync"
	"time"

	"parley/appliance/chat/ear"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// Expression measures feelings, in voices and in texts.
type Expression interface {
	// NewVoice returns what measures an utterance.
	NewVoice() VoiceScorer
	// Text scores what is written, or is to be said. It takes well under a
	// millisecond, for a message waits.
	Text(text string) contract.EmotionScores
}

// A Voice measures the feelings in one utterance. One goroutine at a time uses it.
type VoiceScorer interface {
	// Hear takes the next sound, mono at engine.SpeechRateHz.
	Hear(pcm []float32)
	// Tone judges what was heard so far, which may be nothing. More may follow.
	Tone() Tone
}

// A Tone is how a voice sounded up to some moment. Any goroutine may use it.
type Tone interface {
	// Express scores what was said in that tone, with these words, in a language (BCP
	// 47, empty where it is not known). strong names the feelings that stand out; it is
	// empty where none does. It takes well under a millisecond, for a message waits.
	Express(text, language string) (scores contract.EmotionScores, strong string)
}

// expressionLimit is for how long a message waits at most for the voice to be measured;
// then what was measured by then counts. The rest of a voice takes a few milliseconds
// on a slow box, and what a listener notices begins behind 20.
const expressionLimit = 20 * time.Millisecond

// boundedExpression measures feelings for one chat, and never for longer than a message may
// wait.
type boundedExpression struct {
	Expression
	group   *group
	log     *slog.Logger
	observe func(took time.Duration) // told how long was left to do at a pause
}

// voice returns what measures an utterance.
func (p *boundedExpression) voice() ear.UtteranceScorer {
	v := p.NewVoice()
	return &boundedVoice{boundedExpression: p, voice: v, tone: v.Tone()}
}

// maxQueuedSamples is how much sound waits for a voice that is still at work, in samples: 30
// seconds, two megabytes. A machine that is so far behind does not measure the rest.
const maxQueuedSamples = 30 * engine.SpeechRateHz

// boundedVoice is a Voice for which nobody waits but whoever sends its message. What
// comes while it is at work, it does afterwards.
type boundedVoice struct {
	*boundedExpression
	voice VoiceScorer // used by one goroutine at a time: work's, or else whoever holds mu

	mu            sync.Mutex
	busy          bool                // work is under way
	queue         []func(VoiceScorer) // in the order in which it came
	queuedSamples int                 // samples in todo
	givenUp       bool                // it is too far behind
	tone          Tone                // as it was judged last
}

func (v *boundedVoice) Hear(pcm []float32) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.busy {
		v.voice.Hear(pcm)
		return
	}
	if v.queuedSamples += len(pcm); v.queuedSamples > maxQueuedSamples {
		v.giveUp()
	}
	if !v.givenUp {
		later := slices.Clone(pcm)
		v.enqueue(func(voice VoiceScorer) { voice.Hear(later) })
	}
}

func (v *boundedVoice) Pause() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.enqueue(func(voice VoiceScorer) {
		begun := time.Now()
		tone := voice.Tone()
		v.observe(time.Since(begun))
		v.mu.Lock()
		v.tone = tone
		v.mu.Unlock()
	})
}

func (v *boundedVoice) Express(text, language string) (scores contract.EmotionScores, strong string) {
	v.await()
	v.mu.Lock()
	tone := v.tone
	v.mu.Unlock()
	return tone.Express(text, language)
}

// await returns when the voice is done with all that came before, or when a message
// has waited for long enough; then the voice goes on by itself.
func (v *boundedVoice) await() {
	done := make(chan struct{})
	v.mu.Lock()
	waits := v.busy && !v.givenUp
	if waits {
		v.enqueue(func(VoiceScorer) { close(done) })
	}
	v.mu.Unlock()
	if !waits {
		return
	}
	late := time.NewTimer(expressionLimit)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
		v.log.Warn("feelings took too long to measure; a message goes with what was measured by then", "limit_ms",
			expressionLimit.Milliseconds())
	}
}

// giveUp gives up a voice that is too far behind. v.mu is held.
func (v *boundedVoice) giveUp() {
	if !v.givenUp {
		v.log.Warn("feelings are not measured in the rest of an utterance: the machine is behind", "limit_s",
			maxQueuedSamples/engine.SpeechRateHz)
	}
	v.givenUp, v.queue = true, nil
}

// enqueue has the voice do something after what it is at. v.mu is held.
func (v *boundedVoice) enqueue(work func(VoiceScorer)) {
	if v.givenUp {
		return
	}
	v.queue = append(v.queue, work)
	if !v.busy {
		v.busy = true
		v.group.Go(v.work)
	}
}

// work does all there is to do.
func (v *boundedVoice) work() {
	for {
		v.mu.Lock()
		if len(v.queue) == 0 {
			v.busy, v.queuedSamples = false, 0
			v.mu.Unlock()
			return
		}
		next := v.queue[0]
		v.queue = v.queue[1:]
		v.mu.Unlock()
		next(v.voice)
	}
}
