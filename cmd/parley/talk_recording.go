package main

import (
	"sync"
	"time"

	"parley/appliance/audio"
)

// recording is the sound of a conversation, at speakerRateHz.
type recording struct {
	mu              sync.Mutex
	user, assistant []float32
}

// addAssistant adds a clip of the assistant at its time.
func (r *recording) addAssistant(at time.Duration, pcm []float32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.assistant = append(padded(r.assistant, at), pcm...)
}

// cut removes the assistant's sound from that time on.
func (r *recording) cut(at time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := samplesIn(at); n < len(r.assistant) {
		r.assistant = r.assistant[:n]
		audio.FadeEdges(r.assistant[max(0, n-speakerRateHz/100):], speakerRateHz, 5*time.Millisecond)
	}
}

// addUser adds the user's sound at its time.
func (r *recording) addUser(at time.Duration, pcm []float32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.user = append(padded(r.user, at), pcm...)
}

// frames returns the samples and the number of channels: the assistant only, or both,
// with the user left.
func (r *recording) frames(both bool) ([]float32, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !both {
		return r.assistant, 1
	}
	frames := make([]float32, 2*max(len(r.user), len(r.assistant)))
	for i, s := range r.user {
		frames[2*i] = s
	}
	for i, s := range r.assistant {
		frames[2*i+1] = s
	}
	return frames, 2
}

func samplesIn(d time.Duration) int { return int(d.Milliseconds()) * speakerRateHz / 1000 }

// padded extends pcm with silence up to the time at.
func padded(pcm []float32, at time.Duration) []float32 {
	if n := samplesIn(at) - len(pcm); n > 0 {
		pcm = append(pcm, make([]float32, n)...)
	}
	return pcm
}
