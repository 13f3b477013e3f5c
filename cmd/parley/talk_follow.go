package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

const (
	// endSilence is the silence after which nothing more is expected: the longest
	// configurable end of a turn (3 s) and a second to transcribe.
	endSilence = 4 * time.Second
	// voiceTimeout is how long to wait after a recording in which the box detected no
	// voice. The box reports a voice while it lasts, at the latest 100 ms into the
	// silence after it; a busy box may take longer.
	voiceTimeout = 1800 * time.Millisecond
	// transcriptTimeout is how long to wait for the transcript after the box detected a
	// voice.
	transcriptTimeout = 10 * time.Second
	// answerTimeout is how long an answer may take: longer than the box allows its
	// language model.
	answerTimeout = 75 * time.Second
)

// errNoSpeech ends a conversation in which the user said nothing.
var errNoSpeech = errors.New("the box heard no speech in it")

// follower follows a conversation: it prints the transcript, plays and records the sound,
// and knows when nothing more will come. Times count from the start of the chat.
type follower struct {
	console   *console
	json      bool
	typed     bool // the user types: no sound is sent, and each line waits for its answer
	quietUser bool // the terminal already shows the user's words
	play      *playQueue
	recording *recording

	begun    time.Time
	messages []contract.AssistantMessage // without the start of their audio

	mu           sync.Mutex // guards the fields below, which the user's side reads
	awaiting     bool       // the answer to the user is not complete
	answered     chan struct{}
	failed       string // error code that the box sent instead of an answer
	voiced       bool   // the box detected the user's voice
	understood   bool   // the user was transcribed at least once
	userEnded    bool
	lastEvent    time.Duration // time of the last event
	playingUntil time.Duration
}

func newFollower(c *console, json bool, play *playQueue) *follower {
	return &follower{
		console:   c,
		json:      json,
		play:      play,
		recording: &recording{},
		answered:  make(chan struct{}),
	}
}

// now returns the time since the chat began.
func (f *follower) now() time.Duration { return time.Since(f.begun) }

// begin waits for the metadata of the chat, with which it begins.
func (f *follower) begin(ctx context.Context, messages <-chan received) error {
	for {
		select {
		case m := <-messages:
			if errors.Is(m.err, io.EOF) {
				return errors.New("the box ended the chat before it began")
			}
			if m.err != nil {
				return m.err
			}
			if e, ok := m.message.(contract.WebSocketError); ok {
				fmt.Fprintf(f.console.err, "the box: %s %s: %s\n", e.Code, e.Slug, e.Message)
			}
			if _, ok := m.message.(contract.ChatMetadata); ok {
				f.begun = m.at
				return nil
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// follow handles what came from the box, and reports whether that ended the chat
// normally.
func (f *follower) follow(a received) (over bool, err error) {
	switch {
	case errors.Is(a.err, io.EOF):
		return true, nil
	case a.err != nil:
		return false, a.err
	}
	return false, f.take(a)
}

// take handles a message of the box.
func (f *follower) take(a received) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := a.at.Sub(f.begun)
	f.lastEvent = now
	switch m := a.message.(type) {
	case contract.UserMessage:
		f.voiced = true
		if m.Interim {
			return nil
		}
		f.awaiting, f.understood = true, true
		if !f.quietUser {
			return f.line(time.Duration(m.Time.Begin)*time.Millisecond, "you", m.Message.Content)
		}
	case contract.AssistantMessage:
		f.messages = append(f.messages, m)
	case contract.AudioOutput:
		return f.clip(m, now)
	case contract.AssistantEnd:
		f.endAnswer()
		return f.printUnspoken(now)
	case contract.UserInterruption:
		if !f.typed { // text typed during an answer still gets its answer
			f.endAnswer()
		}
		f.messages = nil
		f.playingUntil = now
		f.recording.cut(now)
		if f.play != nil {
			f.play.clear()
		}
		return f.line(now, "", "(interrupted)")
	case contract.WebSocketError:
		fmt.Fprintf(f.console.err, "the box: %s %s: %s\n", m.Code, m.Slug, m.Message)
		if f.awaiting {
			f.failed = string(m.Code)
		}
		f.endAnswer()
	}
	return nil
}

// clip plays and records a piece of the answer.
func (f *follower) clip(m contract.AudioOutput, now time.Duration) error {
	pcm, err := audio.DecodeAll(m.Data, speakerRateHz)
	if err != nil {
		return fmt.Errorf("the box sent audio that cannot be decoded: %w", err)
	}
	at := max(now, f.playingUntil)
	f.playingUntil = at + time.Duration(len(pcm))*time.Second/speakerRateHz
	f.recording.addAssistant(at, pcm)
	if f.play != nil {
		f.play.add(pcm)
	}
	for i, message := range f.messages {
		if message.ID == m.ID {
			f.messages = append(f.messages[:i], f.messages[i+1:]...)
			return f.line(at, "assistant", message.Message.Content)
		}
	}
	return nil
}

// printUnspoken prints the messages that came without audio.
func (f *follower) printUnspoken(now time.Duration) error {
	var err error
	for _, m := range f.messages {
		err = errors.Join(err, f.line(now, "assistant", m.Message.Content))
	}
	f.messages = nil
	return err
}

// endAnswer records that the answer is complete.
func (f *follower) endAnswer() {
	f.awaiting = false
	close(f.answered)
	f.answered = make(chan struct{})
}

// expectAnswer records that the user sent a message, and returns a channel that is closed
// when it is answered.
func (f *follower) expectAnswer() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.awaiting, f.lastEvent = true, f.now()
	return f.answered
}

// playbackLeft returns how much longer the answer plays.
func (f *follower) playbackLeft() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.playingUntil - f.now()
}

// userDone records that the user has finished.
func (f *follower) userDone() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.userEnded, f.lastEvent = true, f.now()
}

// over reports whether the conversation is over. An answer that takes too long is an
// error.
func (f *follower) over() (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	if f.awaiting && now > max(f.lastEvent, f.playingUntil)+answerTimeout {
		return true, fmt.Errorf("the box did not answer within %v: see its log", answerTimeout)
	}
	if !f.userEnded || f.awaiting || now < f.playingUntil && !f.typed {
		return false, nil
	}
	expected := endSilence
	switch {
	case f.typed:
		expected = 0
	case !f.voiced:
		expected = voiceTimeout
	case !f.understood:
		expected = transcriptTimeout
	}
	if now < f.lastEvent+expected {
		return false, nil
	}
	if !f.understood && !f.typed {
		return true, errNoSpeech
	}
	if f.failed != "" {
		return true, fmt.Errorf("the box reported an error instead of an answer (%s): see its log", f.failed)
	}
	return true, nil
}

// line prints a line of the transcript.
func (f *follower) line(at time.Duration, who, text string) error {
	var err error
	if f.json {
		err = f.console.json(struct {
			AtMS int64  `json:"at_ms"`
			Who  string `json:"who"`
			Text string `json:"text"`
		}{at.Milliseconds(), who, text})
	} else {
		_, err = fmt.Fprintf(f.console.out, "%7.2f s  %-9s  %s\n", at.Seconds(), who, text)
	}
	return err
}
