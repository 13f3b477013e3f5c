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

// Expression measures feelings in voices and texts.
type Expression interface {
	// NewVoice returns a VoiceScorer for one utterance.
	NewVoice() VoiceScorer
	// Text scores a text. It takes well under a millisecond, because a message waits for it.
	Text(text string) contract.EmotionScores
}

// A VoiceScorer measures the feelings in one utterance. Only one goroutine at a time may use it.
type VoiceScorer interface {
	// Hear takes the next sound, mono at engine.SpeechRateHz.
	Hear(pcm []float32)
	// Tone judges what was heard so far, which may be nothing. More may follow.
	Tone() Tone
}

// A Tone is how a voice sounded up to some moment. It may be used by many goroutines.
type Tone interface {
	// Express scores a text that was said in that tone, in a language (BCP 47; empty if unknown). strong
	// names the feelings that stand out; it may be empty. It takes well under a millisecond, because a
	// message waits for it.
	Express(text, language string) (scores contract.EmotionScores, strong string)
}

// expressionLimit is how long a message waits for its voice to be measured; after that, the measurements so
// far count. The rest of a voice takes a few milliseconds on a slow box, and listeners notice delays above 20
// ms.
const expressionLimit = 20 * time.Millisecond

// boundedExpression measures feelings for one chat, and never for longer than a message may wait.
type boundedExpression struct {
	Expression
	group   *group
	log     *slog.Logger
	observe func(took time.Duration) // called with the work that was left at a pause
}

// voice returns a scorer for one utterance.
func (b *boundedExpression) voice() ear.UtteranceScorer {
	v := b.NewVoice()
	return &boundedVoice{boundedExpression: b, voice: v, tone: v.Tone()}
}

// maxQueuedSamples is how much sound may wait for a busy voice: 30 seconds, two megabytes. A machine that is
// further behind does not measure the rest.
const maxQueuedSamples = 30 * engine.SpeechRateHz

// boundedVoice is a VoiceScorer that works in the background. Only the sender of a message waits for it; what comes
// while it is busy is queued.
type boundedVoice struct {
	*boundedExpression
	voice VoiceScorer // used by runQueue while busy, otherwise by the holder of mu

	mu            sync.Mutex
	busy          bool                // runQueue is running
	queue         []func(VoiceScorer) // in order of arrival
	queuedSamples int                 // samples in queue
	givenUp       bool                // it was too far behind
	tone          Tone                // the newest judgement
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

// await returns when the voice has handled everything queued, or after expressionLimit; then the voice
// continues in the background.
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
		v.log.Warn("measuring feelings took too long; the message is sent with the scores so far", "limit_ms",
			expressionLimit.Milliseconds())
	}
}

// giveUp stops measuring a voice that is too far behind. The caller holds v.mu.
func (v *boundedVoice) giveUp() {
	if !v.givenUp {
		v.log.Warn("feelings are not measured in the rest of an utterance: the machine is behind", "limit_s",
			maxQueuedSamples/engine.SpeechRateHz)
	}
	v.givenUp, v.queue = true, nil
}

// enqueue queues work for the voice. The caller holds v.mu.
func (v *boundedVoice) enqueue(work func(VoiceScorer)) {
	if v.givenUp {
		return
	}
	v.queue = append(v.queue, work)
	if !v.busy {
		v.busy = true
		v.group.Go(v.runQueue)
	}
}

// runQueue runs until the queue is empty.
func (v *boundedVoice) runQueue() {
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
