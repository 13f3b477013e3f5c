package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"parley/appliance/config"
	"parley/appliance/engine"
	"parley/appliance/engines"
)

type hearCmd struct {
	File     string `arg:"" predictor:"file" help:"Recording, in whatever format; - is the input."`
	JSON     bool   `name:"json" help:"Print JSON: text, language, duration_ms, segments."`
	Language string `help:"Language that is spoken, such as en; whisper finds it out by itself."`

	Settings kong.Plugins `embed:"" settings:"packs engines.transcriber engines.threads"`
}

func (hearCmd) Help() string {
	return `Examples:

  parley hear meeting.mp3 --json

  ffmpeg -i meeting.m4a meeting.wav && parley hear meeting.wav

WAV, MP3, M4A, FLAC, Ogg/Opus and WebM/Opus are read; AIFF, AMR, films and the rest through ffmpeg, if that is ` +
		`installed (apt-get install ffmpeg). Without --json each utterance is printed on a line of its own as it is ` +
		`understood; nothing when nobody speaks.`
}

// transcript is the transcript of a recording, as JSON prints it.
type transcript struct {
	Text       string              `json:"text"` // empty when nobody speaks
	Language   string              `json:"language"`
	DurationMS int64               `json:"duration_ms"`
	Segments   []transcriptSegment `json:"segments"`
}

type transcriptSegment struct {
	BeginMS int64  `json:"begin_ms"`
	EndMS   int64  `json:"end_ms"`
	Text    string `json:"text"`
}

// Run transcribes the recording.
func (cmd *hearCmd) Run(ctx context.Context, c *console, cfg config.Config) error {
	c.allowInstantExit(interrupted{state: "nothing was understood yet"})
	pcm, err := c.recording(ctx, cmd.File, engine.SpeechRateHz)
	if err != nil {
		return err
	}
	opened, err := engines.Open(ctx, cfg, engines.Hearing, c.quietLogger(cfg.Log))
	if err != nil {
		return err
	}
	defer opened.Close()

	var unprinted error
	found := func(u engine.Utterance) {
		kept := fmt.Sprintf("what is printed was understood of the first %v", u.End.Round(time.Second))
		if cmd.JSON {
			kept = "nothing is printed before the end with --json"
		} else if _, err := fmt.Fprintln(c.out, u.Text); err != nil {
			unprinted = err
		}
		c.allowInstantExit(interrupted{state: kept})
	}
	said, language, err := engine.Listen(ctx, opened.Detector, opened.Transcriber, pcm, engine.DefaultSegmentOptions(),
		engine.TranscribeOptions{Urgency: engine.Request.Urgency(), Language: cmd.Language}, found)
	if err = errors.Join(err, unprinted); err != nil {
		return err
	}
	if !cmd.JSON {
		return nil
	}
	heard := transcript{Language: language, DurationMS: int64(len(pcm)) * 1000 / engine.SpeechRateHz,
		Segments: []transcriptSegment{}}
	var words []string
	for _, u := range said {
		words = append(words, u.Text)
		heard.Segments = append(heard.Segments, transcriptSegment{u.Begin.Milliseconds(), u.End.Milliseconds(), u.Text})
	}
	heard.Text = strings.Join(words, " ")
	return c.json(heard)
}
