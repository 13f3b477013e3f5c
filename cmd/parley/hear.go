package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"parley/appliance/config"
	"parley/appliance/engine"
	"parley/appliance/engines"
)

type hearCmd struct {
	File     string `arg:"" predictor:"file" help:"Recording in any format; - reads stdin."`
	JSON     bool   `name:"json" help:"Print JSON: text, language, duration_ms, segments."`
	Language string `help:"Spoken language, such as en; whisper detects it."`

	Settings kong.Plugins `embed:"" settings:"packs engines.transcriber engines.threads"`
}

func (hearCmd) Help() string {
	return `Examples:

  parley hear meeting.mp3 --json

  ffmpeg -i meeting.m4a meeting.wav && parley hear meeting.wav

It reads WAV, MP3, M4A, FLAC, Ogg/Opus and WebM/Opus, and other formats such as AIFF, AMR and videos if ffmpeg is ` +
		`installed (apt-get install ffmpeg). Without --json it prints each utterance on a line as soon as it is ` +
		`transcribed.`
}

// transcript is the transcript of a recording, as --json prints it.
type transcript struct {
	Text       string              `json:"text"` // empty if there is no speech
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
	if err := c.runAsOwnerWith(cfg, cmd.File, os.O_RDONLY); err != nil {
		return err
	}
	c.allowInstantExit(interrupted{state: "nothing was transcribed yet"})
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
		state := fmt.Sprintf("the first %v were transcribed and printed", u.End.Round(time.Second))
		if cmd.JSON {
			state = "with --json nothing is printed before the end"
		} else if _, err := fmt.Fprintln(c.out, u.Text); err != nil {
			unprinted = err
		}
		c.allowInstantExit(interrupted{state: state})
	}
	utterances, language, err := engine.TranscribeRecording(ctx, opened.Detector, opened.Transcriber, pcm,
		engine.DefaultSegmentOptions(),
		engine.TranscribeOptions{Urgency: engine.Request.Urgency(), Language: cmd.Language}, found)
	if err = errors.Join(err, unprinted); err != nil {
		return err
	}
	if !cmd.JSON {
		return nil
	}
	result := transcript{Language: language, DurationMS: int64(len(pcm)) * 1000 / engine.SpeechRateHz,
		Segments: []transcriptSegment{}}
	var words []string
	for _, u := range utterances {
		words = append(words, u.Text)
		result.Segments = append(result.Segments,
			transcriptSegment{u.Begin.Milliseconds(), u.End.Milliseconds(), u.Text})
	}
	result.Text = strings.Join(words, " ")
	return c.json(result)
}
