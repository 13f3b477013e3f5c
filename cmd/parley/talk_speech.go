package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

// pieceDuration is the length of one message of audio, as native clients send it.
const pieceDuration = periodMS * time.Millisecond

// recordedUser is a user whose speech is a recording, sent in real time.
type recordedUser struct {
	pcm []float32 // at chatRateHz
}

func (*recordedUser) player() *playQueue { return nil }
func (*recordedUser) close()             {}

// speak sends the recording and returns at its end. It then sends silence until the
// conversation ends.
func (p *recordedUser) speak(ctx context.Context, box *chatConn, f *follower) error {
	f.recording.addUser(f.now(), audio.Resample(p.pcm, chatRateHz, speakerRateHz))
	const piece = chatRateHz * periodMS / 1000
	begun := time.Now()
	pieces := (len(p.pcm) + piece - 1) / piece
	for i := range pieces {
		end := min((i+1)*piece, len(p.pcm))
		if err := sendAt(ctx, box, begun.Add(time.Duration(i)*pieceDuration), p.pcm[i*piece:end]); err != nil {
			return err
		}
	}
	go func() { // a turn ends in the silence after it
		silence := make([]float32, piece)
		for i := pieces; ; i++ {
			if sendAt(ctx, box, begun.Add(time.Duration(i)*pieceDuration), silence) != nil {
				return // the receiving side reports why
			}
		}
	}()
	return nil
}

// sendAt sends a piece of speech at its end, as a microphone does.
func sendAt(ctx context.Context, box *chatConn, at time.Time, pcm []float32) error {
	select {
	case <-time.After(time.Until(at.Add(pieceDuration))):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return box.send(ctx, contract.AudioInput{Data: audio.AppendLinear16(nil, pcm)})
}

// typingUser is a user who types.
type typingUser struct {
	in      io.Reader
	out     io.Writer
	prompts bool
}

func (*typingUser) player() *playQueue { return nil }
func (*typingUser) close()             {}

// speak sends line after line, each after the previous one is answered.
func (t *typingUser) speak(ctx context.Context, box *chatConn, f *follower) error {
	lines := bufio.NewScanner(t.in)
	lines.Buffer(nil, 4*contract.MaxInputChars)
	for t.prompt() && lines.Scan() {
		text := strings.TrimSpace(strings.ToValidUTF8(lines.Text(), " "))
		if text == "" {
			continue
		}
		answered := f.expectAnswer()
		if err := box.send(ctx, contract.UserInput{Text: text}); err != nil {
			return err
		}
		select {
		case <-answered:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := t.listen(ctx, f); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading standard input: %w", err)
	}
	return nil
}

// listen waits for the time in which the answer would play, unless the user is at a
// terminal: the next line of a script is no interruption.
func (t *typingUser) listen(ctx context.Context, f *follower) error {
	if t.prompts {
		return nil
	}
	select {
	case <-time.After(f.playbackLeft()):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t *typingUser) prompt() bool {
	if t.prompts {
		fmt.Fprint(t.out, "> ")
	}
	return true
}

// liveUser is a user at the microphone and loudspeaker of this machine.
type liveUser struct {
	device *soundDevice
	pieces chan []byte
}

// openLive opens the sound card.
func openLive() (*liveUser, error) {
	// A second of speech may wait for a slow connection; more is dropped, since a later
	// conversation makes no sense.
	l := &liveUser{pieces: make(chan []byte, time.Second/pieceDuration)}
	var err error
	l.device, err = openSound(func(linear16 []byte) {
		select {
		case l.pieces <- linear16:
		default:
		}
	})
	return l, err
}

func (l *liveUser) player() *playQueue { return &l.device.queue }

func (l *liveUser) close() {
	if l.device != nil {
		l.device.close()
	}
}

// speak sends the sound of the microphone until ctx ends.
func (l *liveUser) speak(ctx context.Context, box *chatConn, f *follower) error {
	fmt.Fprintln(f.console.err, "Speak; Ctrl-C hangs up.")
	decoder, err := audio.NewLinear16(speakerRateHz, 1, speakerRateHz)
	if err != nil {
		return err
	}
	for {
		select {
		case piece := <-l.pieces:
			pcm, err := decoder.Decode(piece)
			if err != nil {
				return err
			}
			f.recording.addUser(f.now()-pieceDuration, pcm)
			if err := box.send(ctx, contract.AudioInput{Data: piece}); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
