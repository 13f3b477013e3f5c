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
	NewVoice() Voice
	// Text scores what is written, or is to be said. It takes well under a
	// millisecond, for a message waits.
	Text(text string) contract.EmotionScores
}

// A Voice measures the feelings in one utterance. One goroutine at a time uses it.
type Voice interface {
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

// feltWithin is for how long a message waits at most for the voice to be measured;
// then what was measured by then counts. The rest of a voice takes a few milliseconds
// on a slow box, and what a listener notices begins behind 20.
const feltWithin = 20 * time.Millisecond

// prompt measures feelings for one chat, and never for longer than a message may
// wait.
type prompt struct {
	Expression
	group *group
	log   *slog.Logger
	felt  func(took time.Duration) // told how long was left to do at a pause
}

// voice returns what measures an utterance.
func (p *prompt) voice() ear.Voice {
	v := p.NewVoice()
	return &promptVoice{prompt: p, voice: v, tone: v.Tone()}
}

// mostHeld is how much sound waits for a voice that is still at work, in samples: 30
// seconds, two megabytes. A machine that is so far behind does not measure the rest.
const mostHeld = 30 * engine.SpeechRateHz

// promptVoice is a Voice for which nobody waits but whoever sends its message. What
// comes while it is at work, it does afterwards.
type promptVoice struct {
	*prompt
	voice Voice // used by one goroutine at a time: work's, or else whoever holds mu

	mu   sync.Mutex
	busy bool          // work is under way
	todo []func(Voice) // in the order in which it came
	held int           // samples in todo
	lost bool          // it is too far behind
	tone Tone          // as it was judged last
}

func (v *promptVoice) Hear(pcm []float32) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.busy {
		v.voice.Hear(pcm)
		return
	}
	if v.held += len(pcm); v.held > mostHeld {
		v.lose()
	}
	if !v.lost {
		later := slices.Clone(pcm)
		v.put(func(voice Voice) { voice.Hear(later) })
	}
}

func (v *promptVoice) Pause() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.put(func(voice Voice) {
		begun := time.Now()
		tone := voice.Tone()
		v.felt(time.Since(begun))
		v.mu.Lock()
		v.tone = tone
		v.mu.Unlock()
	})
}

func (v *promptVoice) Express(text, language string) (scores contract.EmotionScores, strong string) {
	v.await()
	v.mu.Lock()
	tone := v.tone
	v.mu.Unlock()
	return tone.Express(text, language)
}

// await returns when the voice is done with all that came before, or when a message
// has waited for long enough; then the voice goes on by itself.
func (v *promptVoice) await() {
	done := make(chan struct{})
	v.mu.Lock()
	waits := v.busy && !v.lost
	if waits {
		v.put(func(Voice) { close(done) })
	}
	v.mu.Unlock()
	if !waits {
		return
	}
	late := time.NewTimer(feltWithin)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
		v.log.Warn("feelings took too long to measure; a message goes with what was measured by then", "limit_ms",
			feltWithin.Milliseconds())
	}
}

// lose gives up a voice that is too far behind. v.mu is held.
func (v *promptVoice) lose() {
	if !v.lost {
		v.log.Warn("feelings are not measured in the rest of an utterance: the machine is behind", "limit_s",
			mostHeld/engine.SpeechRateHz)
	}
	v.lost, v.todo = true, nil
}

// put has the voice do something after what it is at. v.mu is held.
func (v *promptVoice) put(work func(Voice)) {
	if v.lost {
		return
	}
	v.todo = append(v.todo, work)
	if !v.busy {
		v.busy = true
		v.group.Go(v.work)
	}
}

// work does all there is to do.
func (v *promptVoice) work() {
	for {
		v.mu.Lock()
		if len(v.todo) == 0 {
			v.busy, v.held = false, 0
			v.mu.Unlock()
			return
		}
		next := v.todo[0]
		v.todo = v.todo[1:]
		v.mu.Unlock()
		next(v.voice)
	}
}
