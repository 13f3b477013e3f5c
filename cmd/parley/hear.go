package main

import (
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
	"parley/appliance/engine"
)

// maxRecordingBytes bounds a recording: an hour and a half of studio quality
// (48 kHz, 16 bit, stereo), which is decoded in memory.
const maxRecordingBytes = 1 << 30

type hearCmd struct {
	File     string `arg:"" help:"Recording: WAV, MP3, Ogg/Opus or WebM/Opus; - is standard input."`
	JSON     bool   `name:"json" help:"Print JSON: text, language, duration_ms, segments."`
	Language string `help:"Language that is spoken, such as en; whisper finds it out by itself."`

	Settings kong.Plugins `embed:"" settings:"packs engines.transcriber engines.threads"`
}

// Help shows the command in use.
func (hearCmd) Help() string {
	return `Example:

  parley hear meeting.mp3 --json

Without --json each utterance is printed on a line of its own as it is understood; nothing when nobody speaks.`
}

// heardText is the transcript of a recording, as JSON prints it.
type heardText struct {
	Text       string         `json:"text"` // empty when nobody speaks
	Language   string         `json:"language"`
	DurationMS int64          `json:"duration_ms"`
	Segments   []heardSegment `json:"segments"`
}

type heardSegment struct {
	BeginMS int64  `json:"begin_ms"`
	EndMS   int64  `json:"end_ms"`
	Text    string `json:"text"`
}

// Run transcribes the recording.
func (cmd *hearCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	cfg, err := c.config(parsed)
	if err != nil {
		return err
	}
	c.endsAtOnce(interrupted{kept: "nothing was understood yet"})
	pcm, err := c.recording(cmd.File, engine.SpeechRateHz)
	if err != nil {
		return fmt.Errorf("hear: %w", err)
	}
	engines, err := appliance.OpenEngines(ctx, cfg, appliance.Hearing, c.quietLogger(cfg.Log))
	if err != nil {
		return fmt.Errorf("hear: %w", err)
	}
	defer engines.Close()

	var unprinted error
	found := func(u engine.Utterance) {
		kept := fmt.Sprintf("what is printed was understood of the first %v", u.End.Round(time.Second))
		if cmd.JSON {
			kept = "nothing is printed before the end with --json"
		} else if _, err := fmt.Fprintln(c.out, u.Text); err != nil {
			unprinted = err
		}
		c.endsAtOnce(interrupted{kept: kept})
	}
	said, language, err := engine.Listen(ctx, engines.Detector, engines.Transcriber, pcm, engine.DefaultSegmentOptions(),
		engine.TranscribeOptions{Priority: engine.Request, Language: cmd.Language}, found)
	if err = errors.Join(err, unprinted); err != nil {
		return fmt.Errorf("hear: %w", err)
	}
	if !cmd.JSON {
		return nil
	}
	heard := heardText{Language: language, DurationMS: int64(len(pcm)) * 1000 / engine.SpeechRateHz, Segments: []heardSegment{}}
	var words []string
	for _, u := range said {
		words = append(words, u.Text)
		heard.Segments = append(heard.Segments, heardSegment{u.Begin.Milliseconds(), u.End.Milliseconds(), u.Text})
	}
	heard.Text = strings.Join(words, " ")
	return c.json(heard)
}

// recording reads a file, or standard input for -, and decodes it to mono at
// the given rate.
func (c *console) recording(name string, rateHz int) ([]float32, error) {
	in := c.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, misuse{err}
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return nil, misuse{fmt.Errorf("%s is a folder: name a recording in it", name)}
		}
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxRecordingBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxRecordingBytes {
		return nil, misuse{fmt.Errorf("%s has more than %d bytes: cut it in parts", name, maxRecordingBytes)}
	}
	if len(data) == 0 {
		return nil, misuse{errors.New(name + " is empty: give a WAV, MP3, Ogg/Opus or WebM/Opus recording")}
	}
	pcm, err := audio.DecodeAll(data, rateHz)
	if err != nil {
		return nil, misuse{fmt.Errorf("%s: %w", name, err)}
	}
	return pcm, nil
}
