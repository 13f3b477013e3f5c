package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

const (
	// maxFromBox bounds a message: a minute of speech at 48 kHz is 8 MB of base64.
	maxFromBox = 32 << 20
	// openTimeout is how long a chat may take to begin.
	openTimeout = 30 * time.Second
	// answerTimeout is how long an answer may take: on a machine that four chats keep
	// busy, seconds.
	answerTimeout = 45 * time.Second
	// answerPause is how long the user waits after the answer has ended.
	answerPause = 300 * time.Millisecond
)

// caller is a client of a box, in one conversation.
type caller struct {
	conn       *websocket.Conn
	microphone *microphone
	messages   chan received
	stop       context.CancelCauseFunc
	done       chan struct{} // closed when nothing of it runs any more

	playingUntil time.Time
}

// received is a message of the box and its time of arrival.
type received struct {
	at      time.Time
	message contract.ServerMessage
}

// endpoint is the address of a box (HOST:PORT), and the key for it.
type endpoint struct{ address, key string }

// call opens a conversation with a system prompt and begins to send silence.
func call(ctx context.Context, at endpoint, prompt string) (_ *caller, err error) {
	opening, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	conn, _, err := websocket.Dial(opening, "ws://"+at.address+chatPath,
		&websocket.DialOptions{HTTPHeader: http.Header{"X-Service-Api-Key": {at.key}}})
	if err != nil {
		return nil, fmt.Errorf("opening a chat at %s: %w", at.address, err)
	}
	conn.SetReadLimit(maxFromBox)
	c := &caller{conn: conn, messages: make(chan received, 256), done: make(chan struct{})}
	settings := contract.SessionSettings{
		SystemPrompt: &prompt,
		Audio: &contract.AudioConfiguration{Encoding: contract.Linear16, SampleRate: engine.SpeechRateHz,
			Channels: 1},
	}
	if err := c.send(opening, settings); err != nil {
		return nil, errors.Join(err, conn.CloseNow())
	}
	ctx, c.stop = context.WithCancelCause(ctx)
	c.microphone = newMicrophone(c.send)
	go func() { c.stop(c.microphone.run(ctx)) }()
	go func() {
		defer close(c.done)
		c.stop(c.listen(ctx))
		<-c.microphone.over
	}()
	return c, nil
}

func (c *caller) send(ctx context.Context, m contract.ClientMessage) error {
	data, err := contract.Marshal(m)
	if err != nil {
		return err
	}
	return c.conn.Write(ctx, websocket.MessageText, data)
}

// listen forwards the messages of the box until the chat ends.
func (c *caller) listen(ctx context.Context) error {
	defer close(c.messages)
	for {
		_, data, err := c.conn.Read(ctx)
		at := time.Now()
		if err != nil {
			return err
		}
		m, err := contract.ParseServerMessage(data)
		if err != nil {
			return err
		}
		select {
		case c.messages <- received{at, m}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// hangUp ends the conversation, if the box has not ended it.
func (c *caller) hangUp() {
	c.conn.Close(websocket.StatusNormalClosure, "")
	c.stop(nil)
	<-c.done
}

// turn is the result of one utterance of the user. Its times are from the user's last
// sound; the time of a message that did not come is 0.
type turn struct {
	recording         string
	transcript        string        // of the user's words
	answer            string        // text of the assistant
	transcriptAt      time.Duration // user_message
	messageAt         time.Duration // assistant_message
	clipAt            time.Duration // audio_output
	soundAt           time.Duration // the first audible sound
	early             bool          // the box ended the turn before the user had finished
	interrupted       bool
	fault             string
	audible, complete bool
	limit             limit // what the machine can do; zero if it was not measured
}

// ok reports whether the turn went normally, so that its times count.
func (t turn) ok() bool {
	return t.complete && t.audible && !t.early && !t.interrupted && t.fault == ""
}

// String describes the turn.
func (t turn) String() string {
	switch {
	case t.fault != "":
		return t.fault
	case t.early:
		return fmt.Sprintf("%q was answered before its end", t.transcript)
	case t.interrupted:
		return fmt.Sprintf("%q counted as an interruption", t.transcript)
	case t.transcript == "":
		return "nothing was transcribed"
	case !t.audible:
		return fmt.Sprintf("%q was not answered", t.transcript)
	}
	out := fmt.Sprintf("%q was answered after %d ms", t.transcript, t.soundAt.Milliseconds())
	if t.limit != (limit{}) {
		out += fmt.Sprintf("; the limit is %d (%s)", t.limit.forSilence(silenceAsked()).Milliseconds(), t.limit)
	}
	return out
}

// ask says pcm and follows the answer until it has been played.
func (c *caller) ask(ctx context.Context, pcm []float32) (turn, error) {
	var t turn
	_, end, ok := span(pcm, engine.SpeechRateHz)
	if !ok {
		return t, errors.New("the recording has no sound")
	}
	begin, err := c.microphone.speak(ctx, pcm)
	if err != nil {
		return t, err
	}
	return c.follow(ctx, begin.Add(end))
}

// follow follows the answer to an utterance that ended at last.
func (c *caller) follow(ctx context.Context, last time.Time) (t turn, err error) {
	patience := time.NewTimer(time.Until(last) + answerTimeout)
	defer patience.Stop()
	quiet := time.NewTimer(0) // fires when the answer has been played
	defer quiet.Stop()
	for {
		select {
		case h, ok := <-c.messages:
			if !ok {
				return t, errors.New("the box ended the chat")
			}
			if err := c.handle(&t, h, last); err != nil {
				return t, err
			}
			quiet.Reset(time.Until(c.playingUntil) + answerPause)
			if left := time.Until(c.playingUntil); left > 0 {
				patience.Reset(left + answerTimeout) // a long answer is waited for to its end
			}
		case <-quiet.C:
			if t.complete {
				return t, nil
			}
		case <-patience.C:
			return t, nil
		case <-ctx.Done():
			return t, context.Cause(ctx)
		}
	}
}

// handle records a message of the answer to an utterance that ended at last.
func (c *caller) handle(t *turn, h received, last time.Time) error {
	after := h.at.Sub(last)
	switch m := h.message.(type) {
	case contract.UserMessage:
		t.early = t.early || after < 0
		t.transcript = strings.TrimSpace(t.transcript + " " + m.Message.Content)
		t.transcriptAt, t.complete = after, false
	case contract.AssistantMessage:
		if t.messageAt == 0 {
			t.messageAt = after
		}
		t.answer = strings.TrimSpace(t.answer + " " + m.Message.Content)
	case contract.AudioOutput:
		return c.notePlayback(t, m, h.at, after)
	case contract.AssistantEnd:
		t.complete = true
	case contract.UserInterruption:
		t.interrupted = true
		c.playingUntil = h.at
	case contract.WebSocketError:
		t.fault = fmt.Sprintf("%s %s: %s", m.Code, m.Slug, m.Message)
		t.complete = true
	}
	return nil
}

// notePlayback records a clip of the answer, which plays after those before it.
func (c *caller) notePlayback(t *turn, m contract.AudioOutput, at time.Time, after time.Duration) error {
	pcm, err := audio.DecodeAll(m.Data, contract.OutputRateHz)
	if err != nil {
		return fmt.Errorf("the box sent audio that cannot be decoded: %w", err)
	}
	t.early = t.early || after < 0
	if at.After(c.playingUntil) {
		c.playingUntil = at
	}
	if !t.audible {
		if t.clipAt == 0 {
			t.clipAt = after
		}
		silence, audible := leadingSilence(pcm, contract.OutputRateHz)
		t.audible, t.soundAt = audible, after+c.playingUntil.Sub(at)+silence
	}
	c.playingUntil = c.playingUntil.Add(time.Duration(len(pcm)) * time.Second / contract.OutputRateHz)
	return nil
}
