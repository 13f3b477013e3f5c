package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"parley/appliance/config"
	"parley/appliance/contract"
)

type batchCmd struct {
	Files       []string `arg:"" optional:"" name:"file" predictor:"file" help:"Files or URLs; - reads stdin."`
	Text        []string `sep:"none" placeholder:"TEXT" help:"Also analyse this text; may be repeated."`
	Model       []string `enum:"face,prosody,language,burst,ner,facemesh" placeholder:"NAME" help:"${batch_models}"`
	Granularity string   `enum:"${units}," default:"" placeholder:"UNIT" help:"${granularity}"`
	Language    string   `placeholder:"TAG" help:"Spoken language, such as en (detected)."`
	FPS         float64  `name:"fps" placeholder:"N" help:"Frames of a video to look at each second (3)."`
	Identify    bool     `help:"Tell faces and voices apart: face_0, face_1, speaker_0 …"`
	Out         string   `short:"o" placeholder:"DIR" predictor:"dir" help:"Write CSV files to this folder."`
	NoWait      bool     `help:"Only start the job, and print its id."`
	Job         string   `placeholder:"ID" help:"Show the results of a job that was started before."`
	JSON        bool     `name:"json" help:"Print the predictions as the API returns them."`

	boxFlags

	Account string `placeholder:"NAME" predictor:"account" help:"Account of the job (default)."`
	Listen  string `hidden:"" setting:"listen"`

	Settings kong.Plugins `embed:"" settings:"data"`
}

// The values of --granularity, and the help of flags.
const (
	batchModels = "Models to run, such as face,language: face, prosody, language, burst, ner, facemesh (all)."
	units       = "word,sentence,utterance,conversational_turn"
	granularity = "What one score is of: word, sentence, utterance or conversational_turn (a word of a text, an " +
		"utterance of a voice)."
)

func (batchCmd) Help() string {
	return `Examples:

  parley batch portrait.jpg interview.mp4 --identify

  parley batch https://media.example/call.mp3 --model prosody,language --granularity utterance --json

  parley batch --text "I can't believe it, we won!" --model language

  ssh shop cat review.txt | parley batch - --out scores

It scores the expression in faces, voices and texts: pictures, videos, recordings, texts, and archives of them (zip, ` +
		`tar, tar.gz). The running box does the work as a job, while no conversation needs its models. Ctrl-C does ` +
		`not stop the job: --job ID shows its results later. The table has the three highest scores of each face, ` +
		`utterance or name; a video's faces and the words of a text are averaged. Errors of single files are on ` +
		`standard error, and the exit code is 1 if no file could be analysed.`
}

// Validate checks the combination of flags.
func (cmd *batchCmd) Validate() error {
	inputs := len(cmd.Files) + len(cmd.Text)
	switch {
	case cmd.Job == "" && inputs == 0:
		return errors.New("there is nothing to analyse: name files or URLs, or give --text")
	case cmd.Job != "" && (inputs > 0 || cmd.NoWait):
		return errors.New("--job is for a job that was started before: give no files, no --text and no --no-wait")
	case cmd.NoWait && cmd.Out != "":
		return errors.New("--out needs the results: leave out --no-wait")
	case cmd.FPS < 0:
		return fmt.Errorf("--fps %g is not allowed: use a number above 0", cmd.FPS)
	}
	for _, text := range cmd.Text {
		if strings.TrimSpace(text) == "" {
			return errors.New("--text is empty")
		}
	}
	return nil
}

// batchKeyLife is when the temporary key expires, in case the command is killed. Jobs of
// a whole archive of videos take days.
const batchKeyLife = 7 * 24 * time.Hour

// Run starts a job, waits for it and shows its results.
func (cmd *batchCmd) Run(ctx context.Context, c *console, cfg config.Config) (err error) {
	body, err := cmd.body(c)
	if err != nil {
		return err
	}
	opened, closeBox, err := cmd.open(ctx, cfg,
		temporaryKey{account: cmd.Account, label: "parley batch", life: batchKeyLife})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeBox()) }()
	box := newBatchBox(opened.client, opened.at, opened.key)
	id := cmd.Job
	if id == "" {
		if id, err = box.start(ctx, c, body); err != nil {
			return orInterrupted(ctx, err, "no job was started", "")
		}
	}
	if cmd.NoWait {
		return c.print(cmd.JSON, map[string]string{"job_id": id},
			"job %s is started: parley batch --job %s shows its results\n", id, id)
	}
	job, err := box.wait(ctx, c, id)
	if err == nil {
		err = cmd.show(ctx, c, box, job)
	}
	return orInterrupted(ctx, err, "the box goes on with the job", "parley batch --job "+id+" shows its results")
}

// request returns the request that the flags describe, without files.
func (cmd *batchCmd) request() contract.PostedBatchJob {
	m := contract.AllBatchModels()
	m.Face.FPSPred = cmp.Or(cmd.FPS, m.Face.FPSPred)
	m.Face.IdentifyFaces = cmd.Identify
	m.Prosody.Granularity = cmp.Or(contract.Granularity(cmd.Granularity), m.Prosody.Granularity)
	m.Language.Granularity = cmp.Or(contract.Granularity(cmd.Granularity), m.Language.Granularity)
	if len(cmd.Model) > 0 {
		all := m
		m = contract.BatchModels{}
		for _, name := range cmd.Model {
			switch name {
			case "face":
				m.Face = all.Face
			case "prosody":
				m.Prosody = all.Prosody
			case "language":
				m.Language = all.Language
			case "burst":
				m.Burst = all.Burst
			case "ner":
				m.NER = all.NER
			case "facemesh":
				m.Facemesh = all.Facemesh
			}
		}
	}
	return contract.PostedBatchJob{
		Models: &m,
		Transcription: &contract.BatchTranscription{
			Language:            cmd.Language,
			IdentifySpeakers:    cmd.Identify,
			ConfidenceThreshold: contract.DefaultTranscriptConfidence,
		},
		Text: cmd.Text,
	}
}
