package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"parley/appliance"
	"parley/appliance/audio"
	"parley/appliance/engine"
)

// maxSaidBytes bounds the text of one call: two hours of speech.
const maxSaidBytes = 100_000

type sayCmd struct {
	Text  string  `arg:"" help:"What to say; - reads it from standard input."`
	Out   string  `short:"o" placeholder:"FILE" help:"Write a WAV file instead of playing; - is standard output."`
	Speed float64 `default:"1" help:"0.25 to 3 times as fast as the voice is (1)."`

	Settings kong.Plugins `embed:"" settings:"packs engines.voice engines.threads speech.locale lexicon"`
}

// Help shows the command in use.
func (sayCmd) Help() string {
	return `Examples:

  parley say "Good morning." --out morning.wav

  fortune | parley say - --voice jenny --out - | aplay`
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
	engines, err := appliance.OpenEngines(ctx, cfg, appliance.Speaking, c.quietLogger(cfg.Log))
	if err != nil {
		return fmt.Errorf("say: %w", err)
	}
	defer engines.Close()
	voice, err := engines.Voice(ctx, cfg.Engines.Voice)
	if err != nil {
		return misuse{fmt.Errorf("say: %w", err)}
	}
	said, err := engine.SpeakWhole(ctx, voice, text, engine.SpeakOptions{Urgency: engine.Request.Urgency(), Speed: cmd.Speed, Locale: cfg.Speech.Locale, Lexicon: cfg.Lexicon})
	if err != nil {
		return fmt.Errorf("say: %w", err)
	}
	if len(said.PCM) == 0 {
		return misuse{errors.New("say: there is nothing in this text that can be spoken")}
	}
	c.endsByItself()
	if cmd.Out != "" {
		return c.writeWAV(cmd.Out, said.PCM, said.RateHz, 1)
	}
	return play(ctx, audio.Resample(said.PCM, said.RateHz, speakerRateHz))
}

// text checks what the caller asked for and returns what is to be said.
func (cmd *sayCmd) text(c *console) (string, error) {
	if cmd.Speed < 0.25 || cmd.Speed > 3 {
		return "", misuse{fmt.Errorf("say: --speed %g is not allowed: use 0.25 to 3", cmd.Speed)}
	}
	if err := wantWAV("say: --out", cmd.Out); err != nil {
		return "", err
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

// wantWAV refuses names of files that promise another format.
func wantWAV(what, name string) error {
	if ext := strings.ToLower(filepath.Ext(name)); name != "-" && ext != "" && ext != ".wav" {
		return misuse{fmt.Errorf("%s %s: only WAV files are written: name it .wav and convert it afterwards", what, name)}
	}
	return nil
}

// writeWAV writes frames (their channels interleaved) as a WAV file, or to
// standard output for -.
func (c *console) writeWAV(name string, frames []float32, rateHz, channels int) error {
	if name == "-" && channels == 1 {
		_, err := c.out.Write(audio.EncodeWAV(frames, rateHz))
		return err
	}
	out, done := c.out, func() error { return nil }
	if name != "-" {
		f, err := os.Create(name)
		if err != nil {
			return fmt.Errorf("writing the audio: %w: choose another place", err)
		}
		out, done = f, f.Close
	}
	w, err := audio.NewWAVWriter(out, rateHz, channels)
	if err == nil {
		err = errors.Join(w.Write(frames), w.Close())
	}
	if err = errors.Join(err, done()); err != nil {
		return fmt.Errorf("writing the audio: %w", err)
	}
	return nil
}
