package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"parley/appliance"
	"parley/appliance/audio"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engines"
	tts "parley/appliance/speech"
)

// maxSaidBytes bounds the text of one call: two hours of speech.
const maxSaidBytes = 100_000

type sayCmd struct {
	Text       string  `arg:"" help:"What to say; - reads it from standard input."`
	Out        string  `short:"o" placeholder:"FILE" help:"Write a file instead of playing; - is standard output."`
	Format     string  `placeholder:"FORMAT" help:"wav, mp3 or pcm (16-bit little-endian, mono, 48 kHz); else as the file is named, and wav where that says nothing."`
	Play       bool    `help:"Play it, also while a file is written."`
	Voice      string  `placeholder:"NAME" help:"Name of a voice, such as Jenny; else the one of the settings (engines.voice)."`
	Describe   string  `placeholder:"WORDS" help:"How to say it (whispering, excited, slowly); without --voice, the voice to make (a warm old man with a low voice)."`
	Speed      float64 `default:"1" help:"0.25 to 3 times as fast as the voice is (1)."`
	Alone      bool    `help:"Ask no box, also where one runs: load a voice for it."`
	Timestamps string  `placeholder:"HOW" help:"Say on standard error when each word is heard: table, or json with an object a line."`

	Settings kong.Plugins `embed:"" settings:"data packs engines.threads voices.aliases"`
}

// Help shows the command in use.
func (sayCmd) Help() string {
	return `Examples:

  parley say "Good morning." --out morning.mp3

  fortune | parley say - --voice jenny --out - | aplay

  parley say "Mind the step." --describe "a calm elderly woman" --play --out step.wav

  parley say "It is £3.50." --voice joe --describe "slowly" --timestamps json --out -  >price.wav 2>words.jsonl

It begins to play, and to write, with the first quarter of a second of sound, while the rest is made.

Where a box runs on the data folder, it speaks, since its voices are loaded: there is sound at once instead of ` +
		`after most of a second. Then the voices and the pronunciations of its account "default" are there as well, ` +
		`and it keeps the text as it keeps that of every request for speech. A voice that a description makes, a ` +
		`text of more than 5,000 characters and a speed outside of 0.5 to 2 are spoken without it, and so is ` +
		`everything with --alone.`
}

// Run speaks the text.
func (cmd *sayCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	cfg, err := c.config(parsed)
	if err != nil {
		return err
	}
	c.endsAtOnce(interrupted{kept: "nothing was said"})
	text, err := cmd.text(c)
	if err != nil {
		return err
	}
	format, err := cmd.format()
	if err != nil {
		return err
	}
	out, err := cmd.speaker(ctx) // before the seconds that loading takes
	if err != nil {
		return err
	}
	job, err := cmd.begin(ctx, c, cfg, text)
	if err != nil {
		return cmd.refused(err)
	}
	defer job.Close()
	c.endsByItself()
	if cmd.Out != "" {
		f, err := c.openSaid(cmd.Out, format)
		if err != nil {
			return err
		}
		out = append(out, f)
	}
	s := &sayer{out: out, progress: newSaying(c, text), times: timesOf(c, cmd.Timestamps)}
	err = errors.Join(job.Stream(ctx, s.take), s.close())
	if err == nil && s.said == 0 {
		return misuse{errors.New("say: there is nothing in this text that can be spoken")}
	}
	return cmd.refused(err)
}

// speaking is speech that has begun.
type speaking interface {
	// Stream gives send the sound and the times as they come.
	Stream(ctx context.Context, send func(contract.TTSMessage) error) error
	Close()
}

// begin has the text spoken: by the box that runs on the data folder, if one does
// and will, since its voices are loaded; else by a voice that is loaded for it.
func (cmd *sayCmd) begin(ctx context.Context, c *console, cfg config.Config, text string) (speaking, error) {
	log := c.quietLogger(cfg.Log)
	designed := cmd.Describe != "" && cmd.Voice == ""
	utterance := contract.PostedUtterance{Text: text, Description: cmd.Describe, Speed: cmd.Speed}
	if !designed {
		utterance.Voice = &contract.VoiceRef{Name: cmp.Or(cmd.Voice, cfg.Engines.Voice)}
		job, err := cmd.askBox(ctx, cfg, saying(utterance, cmd.Timestamps != ""))
		if err == nil {
			log.Debug("the box speaks", "data", cfg.Data)
			return job, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		log.Debug("no box speaks, so a voice is loaded", "why", err)
		utterance.Voice.Provider = contract.VoiceLibrary
		cfg = withBoxAliases(ctx, cfg)
	}
	service, closeEngines, err := appliance.OpenSpeech(ctx, cfg, cmd.Voice, designed, log)
	if err != nil {
		return nil, err
	}
	job, err := service.Begin(ctx, tts.Asked{PostedTTS: saying(utterance, cmd.Timestamps != "")})
	if err != nil {
		_ = closeEngines() // the process ends
		return nil, err
	}
	return ownSpeech{job, closeEngines}, nil
}

// ownSpeech is speech of a voice that was loaded for it.
type ownSpeech struct {
	*tts.Job
	closeEngines func() error
}

// Close gives the voice's memory back.
func (s ownSpeech) Close() {
	s.Job.Close()
	_ = s.closeEngines() // the process ends
}

// saying asks for an utterance as samples, as they are made.
func saying(u contract.PostedUtterance, timed bool) contract.PostedTTS {
	instant := true
	asked := contract.PostedTTS{
		Utterances:     []contract.PostedUtterance{u},
		Format:         &contract.Format{Type: contract.FormatPCM},
		NumGenerations: 1,
		StripHeaders:   true,
		InstantMode:    &instant,
	}
	if timed {
		asked.IncludeTimestampTypes = []contract.TimestampType{contract.TimestampWord}
	}
	return asked
}

// refused tells what the text or the voice is at fault for from what else went
// wrong.
func (cmd *sayCmd) refused(err error) error {
	if err == nil {
		return nil
	}
	if invalid, ok := errors.AsType[contract.ErrInvalid](err); ok {
		return misuse{fmt.Errorf("say: %s", invalid.Why)}
	}
	if missing, ok := errors.AsType[contract.ErrNotFound](err); ok {
		return misuse{fmt.Errorf("say: %w", missing)}
	}
	if _, none := errors.AsType[engines.ErrNoVoice](err); none {
		return misuse{fmt.Errorf("say: %w", err)}
	}
	return fmt.Errorf("say: %w", err)
}

// text checks what the caller asked for and returns what is to be said.
func (cmd *sayCmd) text(c *console) (string, error) {
	if cmd.Speed < 0.25 || cmd.Speed > 3 {
		return "", misuse{fmt.Errorf("say: --speed %g is not allowed: use 0.25 to 3", cmd.Speed)}
	}
	if t := cmd.Timestamps; t != "" && t != "table" && t != "json" {
		return "", misuse{fmt.Errorf("say: --timestamps %s is not allowed: use table or json", t)}
	}
	if n := len([]rune(cmd.Describe)); n > contract.MaxDescriptionChars {
		return "", misuse{fmt.Errorf("say: --describe has %d characters: use %d at most", n,
			contract.MaxDescriptionChars)}
	}
	text := cmd.Text
	if text == "-" {
		read, err := io.ReadAll(io.LimitReader(c.in, maxSaidBytes+1))
		if err != nil {
			return "", fmt.Errorf("say: reading standard input: %w", err)
		}
		text = string(read)
	}
	if len(text) > maxSaidBytes {
		return "", misuse{fmt.Errorf("say: the text has more than %d bytes: say it in parts", maxSaidBytes)}
	}
	if text = strings.ToValidUTF8(text, " "); strings.TrimSpace(text) == "" {
		return "", misuse{errors.New("say: the text is empty")}
	}
	return text, nil
}

// sayer takes speech as it is made to where it is wanted.
type sayer struct {
	out      []soundOut
	progress *saidProgress
	times    func(contract.Timestamp) error // nil: nobody asked
	said     int                            // samples
}

// take takes a message of the stream.
func (s *sayer) take(m contract.TTSMessage) error {
	switch m := m.(type) {
	case contract.SnippetAudioChunk:
		pcm := audio.Linear16(m.Audio)
		s.said += len(pcm)
		for _, o := range s.out {
			if err := o.Write(pcm); err != nil {
				return err
			}
		}
		s.progress.said(m, s.said)
	case contract.TimestampMessage:
		if s.times != nil {
			return s.times(m.Timestamp)
		}
	}
	return nil
}

func (s *sayer) close() error {
	s.progress.done()
	var err error
	for _, o := range s.out {
		err = errors.Join(err, o.Close())
	}
	return err
}

// timesOf prints the times of words on standard error.
func timesOf(c *console, how string) func(contract.Timestamp) error {
	switch how {
	case "json":
		return func(t contract.Timestamp) error {
			return writeJSON(c.err, saidWord{t.Text, t.Time.Begin, t.Time.End})
		}
	case "table":
		return func(t contract.Timestamp) error {
			_, err := fmt.Fprintf(c.err, "%8s  %8s  %s\n", seconds(t.Time.Begin), seconds(t.Time.End), t.Text)
			return err
		}
	}
	return nil
}

// saidWord is a word as JSON tells of it.
type saidWord struct {
	Text    string `json:"text"`
	BeginMS int64  `json:"begin_ms"`
	EndMS   int64  `json:"end_ms"`
}

func seconds(ms int64) string {
	return fmt.Sprintf("%.2f s", (time.Duration(ms) * time.Millisecond).Seconds())
}
