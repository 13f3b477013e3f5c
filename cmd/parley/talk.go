package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"parley/appliance/audio"
	"parley/appliance/config"
	"parley/appliance/contract"
)

type talkCmd struct {
	boxFlags

	Wav    string `placeholder:"FILE" predictor:"file" help:"Send this recording in real time, no microphone."`
	Out    string `short:"o" placeholder:"FILE" predictor:"file" help:"Write the answers to this WAV file."`
	Both   bool   `help:"Also write the user: user left, assistant right."`
	Text   bool   `help:"Type instead of speaking, one message a line."`
	Prompt string `placeholder:"TEXT" help:"System prompt for this conversation."`
	Voice  string `placeholder:"NAME" predictor:"voice" help:"Voice of the assistant."`
	Listen string `hidden:"" setting:"listen"`
	JSON   bool   `name:"json" help:"Print the transcript as JSON, one object a line."`

	Settings kong.Plugins `embed:"" settings:"data"`
}

func (talkCmd) Help() string {
	return `Examples:

  parley talk

  parley talk --wav question.wav --out answer.wav

  echo "What is the capital of France?" | parley talk --text

Without --wav and --text it uses the microphone and loudspeaker of this machine. It does not cancel echoes: wear ` +
		`headphones, or the assistant hears itself.`
}

// chatRateHz is the sample rate of the audio of a recording that is sent: the rate of
// speech-to-text.
const chatRateHz = 16000

// Run holds the conversation.
func (cmd *talkCmd) Run(ctx context.Context, c *console, cfg config.Config) (err error) {
	at, err := findBox(cmd.URL, cmd.Key, cfg, "")
	if err != nil {
		return err
	}
	say, rateHz, err := cmd.speech(ctx, c) // before dialling, since a chat takes a slot
	if err != nil {
		return err
	}
	defer say.close()
	key, revoke, err := cmd.key(ctx, cfg, at, temporaryKey{label: "parley talk", life: talkKeyLife})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, revoke()) }()

	client, err := trustingClient(cmd.CA, cfg)
	if err != nil {
		return misuse{err}
	}
	defer client.CloseIdleConnections()
	box, err := dial(ctx, client, at.address, key, cmd.query())
	if err != nil {
		return err
	}
	defer box.close()
	f := newFollower(c, cmd.JSON, say.player())
	f.typed = cmd.Text
	f.quietUser = cmd.Text && onTerminal(c.in)
	err = converse(ctx, box, f, say, cmd.settings(rateHz))
	if errors.Is(err, errNoSpeech) {
		err = fmt.Errorf("%s: %w: check it, and record it again or louder", cmd.Wav, err)
	}
	if _, ok := errors.AsType[signalled](context.Cause(ctx)); ok {
		err = cmd.hungUp(ctx, err)
		f.recording.cut(f.now()) // without what was not played
	}
	return errors.Join(err, cmd.keep(c, f))
}

// keep writes the recorded sound to the file of --out.
func (cmd *talkCmd) keep(c *console, f *follower) error {
	if cmd.Out == "" {
		return nil
	}
	frames, channels := f.recording.frames(cmd.Both)
	out, done, err := c.create(cmd.Out)
	if err != nil {
		return err
	}
	w, err := audio.NewWAVWriter(out, speakerRateHz, channels)
	if err == nil {
		err = errors.Join(w.Write(frames), w.Close())
	}
	if err = errors.Join(err, done()); err != nil {
		return fmt.Errorf("writing the audio: %w", err)
	}
	return nil
}

// hungUp returns the error of a conversation that a signal ended. With the microphone
// that is the normal end, and not an error.
func (cmd *talkCmd) hungUp(ctx context.Context, err error) error {
	s, _ := errors.AsType[signalled](context.Cause(ctx))
	switch {
	case err == nil || s.signal == syscall.SIGINT && !cmd.Text && cmd.Wav == "":
		return nil
	case cmd.Out == "":
		return interrupted{state: "the conversation is over"}
	}
	return interrupted{state: cmd.Out + " has the conversation up to here"}
}

// Validate checks the combination of flags.
func (cmd *talkCmd) Validate() error {
	switch {
	case cmd.Text && cmd.Wav != "":
		return errors.New("--text and --wav exclude each other: type, or play a recording")
	case cmd.Both && cmd.Out == "":
		return errors.New("--both needs a file: name it with --out")
	}
	if format, err := formatOfName(cmd.Out); err != nil || format != "wav" {
		return fmt.Errorf("--out %s: only WAV is supported: name it .wav and convert it afterwards", cmd.Out)
	}
	return nil
}

// speech opens the user's side of the conversation, and returns the sample rate of its
// audio, 0 for text.
func (cmd *talkCmd) speech(ctx context.Context, c *console) (userSide, int, error) {
	switch {
	case cmd.Text:
		return &typingUser{in: c.in, out: c.err, prompts: onTerminal(c.in)}, 0, nil
	case cmd.Wav != "":
		pcm, err := c.recording(ctx, cmd.Wav, chatRateHz)
		return &recordedUser{pcm: pcm}, chatRateHz, err
	}
	s, err := openLive()
	return s, speakerRateHz, err
}

// settings returns the session settings to send before the user speaks.
func (cmd *talkCmd) settings(rateHz int) contract.SessionSettings {
	var s contract.SessionSettings
	if rateHz > 0 {
		s.Audio = &contract.AudioConfiguration{Encoding: contract.Linear16, SampleRate: rateHz, Channels: 1}
	}
	if cmd.Prompt != "" {
		s.SystemPrompt = &cmd.Prompt
	}
	return s
}

// query returns the query parameters of the chat.
func (cmd *talkCmd) query() url.Values {
	q := url.Values{}
	if cmd.Voice != "" {
		q.Set("voice_id", cmd.Voice)
	}
	if cmd.Wav != "" {
		q.Set("verbose_transcription", "true") // to learn early whether there is speech
	}
	return q
}

// userSide is the user's side of a conversation.
type userSide interface {
	// speak sends the user's input until there is no more, or ctx ends.
	speak(ctx context.Context, box *chatConn, f *follower) error
	// player returns the playback queue for the assistant, or nil.
	player() *playQueue
	close()
}

// converse runs the conversation until both sides have finished.
func converse(ctx context.Context, box *chatConn, f *follower, say userSide, settings contract.SessionSettings) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	messages := make(chan received, 64) // a buffer for the time in which clips are decoded
	go box.receive(ctx, messages)

	if err := f.begin(ctx, messages); err != nil {
		return err
	}
	spoken := make(chan error, 1)
	go func() {
		err := box.send(ctx, settings)
		if err == nil {
			err = say.speak(ctx, box, f)
		}
		spoken <- err
	}()
	// A conversation ends with silence, which only the clock shows.
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case m := <-messages:
			if over, err := f.follow(m); over || err != nil {
				return err
			}
		case err := <-spoken:
			if err != nil && ctx.Err() == nil {
				return sendFailure(err, f, messages)
			}
			f.userDone()
			spoken = nil
		case <-look.C:
			if over, err := f.over(); over || err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// sendFailure returns why nothing can be sent any more. A box that ended the chat has
// sent the reason, which may still be on its way.
func sendFailure(err error, f *follower, messages <-chan received) error {
	patience := time.After(time.Second)
	for {
		select {
		case m := <-messages:
			if over, err := f.follow(m); over || err != nil {
				return err
			}
		case <-patience:
			return err
		}
	}
}
