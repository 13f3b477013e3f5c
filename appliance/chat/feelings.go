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
	felt  func(took time.Duration) // told how long was left to do at a pause
}

// intime reports whether something was done before a message has waited for long
// enough. Where it was not, it goes on by itself.
func (p *prompt) intime(done <-chan struct{}) bool {
	late := time.NewTimer(feltWithin)
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
	done := make(chan struct{})
	p.group.Go(func() {
		defer close(done)
		scores = p.Text(text)
	})
	if !p.intime(done) {
		return nil
	}
	return &scores
}

// voice returns what measures an utterance.
func (p *prompt) voice() ear.Voice { return &promptVoice{prompt: p, voice: p.NewVoice()} }

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
		voice.Pause()
		v.felt(time.Since(begun))
	})
}

func (v *promptVoice) Express(text, language string) (scores *contract.EmotionScores, strong string) {
	var found struct {
		scores contract.EmotionScores
		strong string
	}
	done := make(chan struct{})
	v.mu.Lock()
	lost := v.lost
	v.put(func(voice Voice) {
		defer close(done)
		found.scores, found.strong = voice.Express(text, language)
	})
	v.mu.Unlock()
	if lost || !v.intime(done) {
		return nil, ""
	}
	return &found.scores, found.strong
}

// lose gives up a voice that is too far behind. v.mu is held.
func (v *promptVoice) lose() {
	if !v.lost {
		v.log.Warn("feelings are not measured in the rest of an utterance: the machine is behind", "limit_s", mostHeld/engine.SpeechRateHz)
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
