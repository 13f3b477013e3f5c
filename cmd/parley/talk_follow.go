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
	// end of a turn that can be configured (3 s) and a second to transcribe.
	endSilence = 4 * time.Second
	// voiceTimeout is how long a recording is waited for in which the box heard no
	// voice. It tells of one while it goes on, and 100 ms into the silence behind
	// it: this is what a busy box may take longer.
	voiceTimeout = 1800 * time.Millisecond
	// transcriptTimeout is how long a box that heard a voice is waited for to say the words.
	transcriptTimeout = 10 * time.Second
	// answerTimeout is how long an answer may keep a user waiting: longer than
	// the box itself gives its language model.
	answerTimeout = 75 * time.Second
)

// errNoSpeech is how a conversation ends in which the user said nothing.
var errNoSpeech = errors.New("the box heard no speech in it")

// follower follows a conversation: it prints what is said, plays and records
// what is heard, and knows when nothing more is to come. Times are since the
// chat began.
type follower struct {
	console   *console
	json      bool
	typed     bool // the user types: nothing is to be heard, and a line waits for its answer
	quietUser bool // the user's words are on the terminal already
	play      *playQueue
	recording *recording

	begun    time.Time
	messages []contract.AssistantMessage // whose audio has not begun

	mu           sync.Mutex // guards what follows, which the user's side reads
	awaiting     bool       // the user said something and the answer is not complete
	answered     chan struct{}
	failed       string // what the box said in place of an answer
	voiced       bool   // the user was heard to speak, if not understood yet
	understood   bool   // the user was understood at least once
	userEnded    bool
	lastEvent    time.Duration // when something last happened
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

// now is the time since the chat began.
func (f *follower) now() time.Duration { return time.Since(f.begun) }

// begin waits for the chat to begin, which its metadata says.
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

// follow follows what came from the box, and tells whether that ended the chat
// as agreed.
func (f *follower) follow(a received) (over bool, err error) {
	switch {
	case errors.Is(a.err, io.EOF):
		return true, nil
	case a.err != nil:
		return false, a.err
	}
	return false, f.take(a)
}

// take follows one message of the box.
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
		if !f.typed { // what was typed into an answer is still to be answered
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

// endAnswer notes that nothing more of this answer will come.
func (f *follower) endAnswer() {
	f.awaiting = false
	close(f.answered)
	f.answered = make(chan struct{})
}

// expectAnswer notes that the user said something, and returns what is closed when it
// is answered.
func (f *follower) expectAnswer() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.awaiting, f.lastEvent = true, f.now()
	return f.answered
}

// playbackLeft is how long what the assistant said goes on.
func (f *follower) playbackLeft() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.playingUntil - f.now()
}

// userDone notes that the user has nothing more to say.
func (f *follower) userDone() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.userEnded, f.lastEvent = true, f.now()
}

// stopped tells whether the conversation is over. A box that owes an answer for
// too long is an error.
func (f *follower) over() (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	if f.awaiting && now > max(f.lastEvent, f.playingUntil)+answerTimeout {
		return true, fmt.Errorf("the box did not answer within %v: look at its log", answerTimeout)
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
		return true, fmt.Errorf("the box answered something with an error (%s): look at its log", f.failed)
	}
	return true, nil
}

// line prints one line of the transcript.
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
