package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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

// maxTextBytes bounds the text of one call: two hours of speech.
const maxTextBytes = 100_000

// sample is the text for trying a voice.
const sample = "Good morning. The pool on the second floor is open every day, from seven until ten at night."

type sayCmd struct {
	Text       string  `arg:"" optional:"" default:"${voice_sample}" help:"Text to speak (a sample); - reads stdin."`
	Out        string  `short:"o" placeholder:"FILE" predictor:"file" help:"Write a file, do not play; - is stdout."`
	Format     string  `enum:"wav,mp3,pcm," default:"" placeholder:"FORMAT" help:"wav, mp3 or pcm (by its name)."`
	Play       bool    `help:"Also play it while writing a file."`
	Voice      string  `placeholder:"NAME" predictor:"voice" help:"Name of the voice, such as Jenny (engines.voice)."`
	Account    string  `placeholder:"NAME" predictor:"account" help:"Account with saved voices (default)."`
	Describe   string  `placeholder:"WORDS" help:"How to speak: slowly, excited; without --voice, the voice to design."`
	Speed      float64 `default:"1" help:"Speed relative to the voice: 0.25 to 3."`
	Alone      bool    `help:"Load a voice here, even if a box runs."`
	Timestamps string  `enum:"table,json," default:"" placeholder:"HOW" help:"Print word times: table or json."`

	Settings kong.Plugins `embed:"" settings:"data packs engines.threads voices.aliases"`
}

func (sayCmd) Help() string {
	return `Examples:

  parley say "Good morning." --out morning.mp3

  parley say --voice heart

  fortune | parley say - --voice jenny --out - | aplay

  parley say "Mind the step." --describe "a calm elderly woman" --play --out step.wav

  parley say "It is £3.50." --voice joe --describe "slowly" --timestamps json --out -  >price.wav 2>words.jsonl

It begins to play or write after the first quarter of a second of sound, while it generates the rest. pcm is 16-bit ` +
		`little-endian, mono, 48 kHz.

If a box runs on the data folder, the box speaks, since its voices are loaded: sound starts at once instead of ` +
		`after most of a second. It then uses the pronunciations of the account, and stores the text like that of ` +
		`every speech request. A designed voice, a text of more than 5,000 characters and a speed outside 0.5 to 2 ` +
		`are spoken without the box, as is everything with --alone.`
}

// Validate checks the flags.
func (cmd *sayCmd) Validate() error {
	switch n := len([]rune(cmd.Describe)); {
	case cmd.Speed < 0.25 || cmd.Speed > 3:
		return fmt.Errorf("--speed %g is not allowed: use 0.25 to 3", cmd.Speed)
	case n > contract.MaxDescriptionChars:
		return fmt.Errorf("--describe has %d characters: use %d at most", n, contract.MaxDescriptionChars)
	case cmd.Format != "" && cmd.Out == "":
		return errors.New("--format needs a file: name it with --out")
	case cmd.Format == "":
		_, err := formatOfName(cmd.Out)
		return err
	}
	return nil
}

// Run speaks the text.
func (cmd *sayCmd) Run(ctx context.Context, c *console, cfg config.Config) error {
	if err := c.runAsOwnerWith(cfg, cmd.Out, os.O_WRONLY|os.O_CREATE); err != nil {
		return err
	}
	c.allowInstantExit(interrupted{state: "nothing was spoken"})
	text, err := cmd.text(c)
	if err != nil {
		return err
	}
	out, err := cmd.openSpeaker(ctx) // before the seconds that loading takes
	if err != nil {
		return err
	}
	job, err := cmd.begin(ctx, c, cfg, text)
	if err != nil {
		return withoutField(err)
	}
	defer job.Close()
	c.forbidInstantExit()
	if out, err = cmd.openFile(c, out); err != nil {
		return err
	}
	s := &sayer{out: out, progress: newSpeechProgress(c, text), times: timesOf(c, cmd.Timestamps)}
	err = errors.Join(job.Stream(ctx, s.take), s.close())
	if err == nil && s.samples == 0 {
		return misuse{errors.New("there is nothing in this text that can be spoken")}
	}
	return withoutField(err)
}

// withoutField removes the name of a request's field from an error: the user wrote no
// request.
func withoutField(err error) error {
	if invalid, ok := errors.AsType[contract.ErrInvalid](err); ok {
		return misuse{errors.New(invalid.Why)}
	}
	return err
}

// speechStream is speech that is being generated.
type speechStream interface {
	// Stream calls send with the sound and the word times as they come.
	Stream(ctx context.Context, send func(contract.TTSMessage) error) error
	Close()
}

// begin starts the speech: by the running box if it can, since its voices are loaded,
// else with a voice that is loaded here.
func (cmd *sayCmd) begin(ctx context.Context, c *console, cfg config.Config, text string) (speechStream, error) {
	log := c.quietLogger(cfg.Log)
	designed := cmd.Describe != "" && cmd.Voice == ""
	utterance := contract.PostedUtterance{Text: text, Description: cmd.Describe, Speed: cmd.Speed}
	if !designed {
		utterance.Voice = &contract.VoiceRef{Name: cmp.Or(cmd.Voice, cfg.Engines.Voice)}
		job, err := cmd.askBox(ctx, cfg, speechRequest(utterance, cmd.Timestamps != ""))
		if err == nil {
			log.Debug("the box speaks", "data", cfg.Data)
			return job, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		log.Debug("loading a voice, since no box speaks", "why", err)
	}
	a, err := c.accountVoices(ctx, cfg, cmd.Account)
	if err != nil {
		return nil, err
	}
	service, closeEngines, err := appliance.OpenSpeech(ctx, a, cmd.Voice, designed, log)
	if is[engines.ErrNoVoice](err) {
		_, found := a.Find(ctx, cmd.Voice)
		if missing, ok := errors.AsType[contract.ErrNotFound](found); ok {
			err = fmt.Errorf("%w; %s", err, missing.Hint)
		}
	}
	if err != nil {
		return nil, err
	}
	request := speechRequest(utterance, cmd.Timestamps != "")
	job, err := service.Begin(ctx, tts.Request{Account: a.ID, PostedTTS: request})
	if err != nil {
		_ = closeEngines() // the process ends
		return nil, err
	}
	return localSpeech{job, closeEngines}, nil
}

// localSpeech is speech of a voice that was loaded for it.
type localSpeech struct {
	*tts.Job
	closeEngines func() error
}

// Close frees the voice.
func (s localSpeech) Close() {
	s.Job.Close()
	_ = s.closeEngines() // the process ends
}

// speechRequest returns the request for an utterance as a stream of samples.
func speechRequest(u contract.PostedUtterance, timed bool) contract.PostedTTS {
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

// text returns the text to speak.
func (cmd *sayCmd) text(c *console) (string, error) {
	text := cmd.Text
	if text == "-" {
		read, err := io.ReadAll(io.LimitReader(c.in, maxTextBytes+1))
		if err != nil {
			return "", fmt.Errorf("reading standard input: %w", err)
		}
		text = string(read)
	}
	if len(text) > maxTextBytes {
		return "", misuse{fmt.Errorf("the text has more than %d bytes: split it", maxTextBytes)}
	}
	if text = strings.ToValidUTF8(text, " "); strings.TrimSpace(text) == "" {
		return "", misuse{errors.New("the text is empty")}
	}
	return text, nil
}

// sayer sends speech to its outputs as it is made.
type sayer struct {
	out      []soundOut
	progress *speechProgress
	times    func(contract.Timestamp) error // nil: not asked for
	samples  int                            // samples
}

// take handles a message of the stream.
func (s *sayer) take(m contract.TTSMessage) error {
	switch m := m.(type) {
	case contract.SnippetAudioChunk:
		pcm := audio.Linear16(m.Audio)
		s.samples += len(pcm)
		for _, o := range s.out {
			if err := o.Write(pcm); err != nil {
				return err
			}
		}
		s.progress.advance(m)
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

// timesOf returns a function that prints word times on standard error, or nil.
func timesOf(c *console, how string) func(contract.Timestamp) error {
	switch how {
	case "json":
		return func(t contract.Timestamp) error {
			return writeJSON(c.err, timedWord{t.Text, t.Time.Begin, t.Time.End})
		}
	case "table":
		return func(t contract.Timestamp) error {
			_, err := fmt.Fprintf(c.err, "%8s  %8s  %s\n", seconds(t.Time.Begin), seconds(t.Time.End), t.Text)
			return err
		}
	}
	return nil
}

// timedWord is a word with its times, as --timestamps json prints it.
type timedWord struct {
	Text    string `json:"text"`
	BeginMS int64  `json:"begin_ms"`
	EndMS   int64  `json:"end_ms"`
}

func seconds(ms int64) string {
	return fmt.Sprintf("%.2f s", (time.Duration(ms) * time.Millisecond).Seconds())
}
