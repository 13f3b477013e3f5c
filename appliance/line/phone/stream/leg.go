package stream

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

// Play queues a piece of sound for the caller. One goroutine calls Play and HeldBack.
func (c *Call) Play(s contract.Sound) error {
	if isClosed(c.done) {
		return errOver
	}
	return c.mouth.play(s, false)
}

// HeldBack returns the number of samples that wait for more.
func (c *Call) HeldBack() int { return c.mouth.heldBack() }

// Unsent returns 0, because the call reports what was played.
func (c *Call) Unsent() time.Duration { return 0 }

// Cut drops the sound that the caller has not heard.
func (c *Call) Cut() { c.mouth.cut() }

// Drained returns a channel that is closed when the caller has heard all sound. A provider that does not say
// what was played gets 2 s longer than the sound takes.
func (c *Call) Drained() <-chan struct{} { return c.mouth.drained() }

// OnPlayed sets who is told how far the caller has heard a sentence.
func (c *Call) OnPlayed(played func(id string, upTo time.Duration)) { c.mouth.onPlayed(played) }

// Relay sends live sound at engine.SpeechRateHz at once. What the provider would have to hold for long is
// dropped.
func (c *Call) Relay(pcm []float32) { c.mouth.relay(pcm) }

// Press sends the tones of keys as sound, as the protocol has no message for them, and returns when they
// have been heard.
func (c *Call) Press(ctx context.Context, keys string) error {
	var pcm []float32
	for _, key := range keys {
		if !isKey(key) {
			return fmt.Errorf("the keys of a telephone have no %q; allowed are 0-9, *, # and A-D", key)
		}
		pcm = append(pcm, tone(key)...)
	}
	if err := c.mouth.play(contract.Sound{PCM: pcm, Last: true}, true); err != nil {
		return err
	}
	select {
	case <-c.Drained():
		return nil
	case <-c.done:
		return errOver
	case <-ctx.Done():
		return ctx.Err()
	}
}

// keys are the keys of a telephone, row by row (ITU-T Q.23).
const keys = "123A456B789C*0#D"

func isKey(key rune) bool { return strings.ContainsRune(keys, key) }

const (
	// toneLength and toneGap are the length of a tone and of the silence after it. Receivers need 40 ms of
	// each (ITU-T Q.24).
	toneLength, toneGap = 100 * time.Millisecond, 100 * time.Millisecond
	// toneLevel is the amplitude of each of the two sines: -14 dBFS, which is -8 dBm0, as telephones send.
	toneLevel = 0.2
)

// tone returns the tone of a key and the silence after it, at contract.OutputRateHz.
func tone(key rune) []float32 {
	at := strings.IndexRune(keys, key)
	row := [...]float64{697, 770, 852, 941}[at/4]
	column := [...]float64{1209, 1336, 1477, 1633}[at%4]
	n := audio.Samples(toneLength, contract.OutputRateHz)
	pcm := make([]float32, n+audio.Samples(toneGap, contract.OutputRateHz))
	for i := range n {
		turn := 2 * math.Pi * float64(i) / contract.OutputRateHz
		pcm[i] = float32(toneLevel * (math.Sin(row*turn) + math.Sin(column*turn)))
	}
	return pcm
}
