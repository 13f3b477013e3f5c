package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/alecthomas/kong"

	"parley/appliance/box"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/voices"
	"parley/firmware/importer"
	"parley/internal/progress"
	"parley/store"
)

// importCmd imports what people saved of the old service.
type importCmd struct {
	From    string `arg:"" name:"folder" help:"Folder or ZIP file with what was saved." type:"path" predictor:"file"`
	Account string `default:"default" predictor:"account" help:"Account that gets the records."`
	Yes     bool   `help:"Import without asking."`
	JSON    bool   `name:"json" help:"Print the report as JSON."`

	Settings kong.Plugins `embed:"" settings:"data packs"`
}

func (importCmd) Help() string {
	return `Examples:

  parley import saved-records

  parley import saved-records.zip --account default --yes

The folder holds what the REST interface of the old service returned, as JSON in files of any name: configs, ` +
		`prompts, tools, voices, chats, chat groups and their events; and recordings, named after the ids of their ` +
		`chats. First it only reports what it would take, change and leave out; then it asks. Without a terminal and ` +
		`without --yes the report is all. Ids, versions and times stay, and a second import changes nothing. The box ` +
		`may keep running.`
}

// Run imports, or reports what it would import.
func (cmd *importCmd) Run(ctx context.Context, c *console, cfg config.Config) (err error) {
	options, err := cmd.options(ctx, c, cfg)
	if err != nil {
		return err
	}
	var im *importer.Import
	err = withBars(ctx, c.err, func(p progress.Func) (err error) {
		options.Progress = p
		im, err = importer.Read(ctx, options)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return misuse{err}
	}
	if err != nil {
		return orInterrupted(ctx, err, "nothing was imported", "run the command again")
	}
	defer func() { err = errors.Join(err, im.Close()) }()
	dry, err := im.Run(ctx, false)
	if err != nil {
		return orInterrupted(ctx, err, "nothing was imported", "run the command again")
	}
	asks := !cmd.Yes && onTerminal(c.in)
	switch {
	case dry.New() == 0:
		return cmd.print(c, dry, "There is nothing new to import.")
	case !cmd.Yes && !asks:
		return cmd.print(c, dry, "Nothing was imported yet: pass --yes to import.")
	case asks:
		if err := cmd.print(c, dry, ""); err != nil {
			return err
		}
		if yes, err := c.confirm("Import this?", "--yes"); err != nil || !yes {
			return err
		}
	}
	var done *importer.Report
	err = withBars(ctx, c.err, func(p progress.Func) (err error) {
		im.Progress = p
		done, err = im.Run(ctx, true)
		return err
	})
	if err != nil {
		return orInterrupted(ctx, err, "a part was imported", "run the command again: it imports the rest")
	}
	return cmd.print(c, done, "All of this was imported.")
}

// print prints a report, and for people what it means.
func (cmd *importCmd) print(c *console, r *importer.Report, what string) error {
	if cmd.JSON {
		return c.json(r)
	}
	if err := r.Write(c.out); err != nil || what == "" {
		return err
	}
	_, err := fmt.Fprintf(c.out, "\n%s\n", what)
	return err
}

// options returns what the importer needs of the box.
func (cmd *importCmd) options(ctx context.Context, c *console, cfg config.Config) (o importer.Options, err error) {
	s, err := c.openStore(ctx, cfg)
	if err != nil {
		return o, err
	}
	a, err := s.Account(ctx, cmd.Account)
	if errors.Is(err, store.ErrNotFound) {
		return o, misuse{fmt.Errorf("there is no account %.80q: parley keys create --account %[1]s makes one",
			cmd.Account)}
	}
	if err != nil {
		return o, err
	}
	recordings, err := box.RecordingLimits(cfg)
	if err != nil {
		return o, err
	}
	return importer.Options{
		From:    cmd.From,
		Account: a,
		Store:   s,
		Voices:  voices.Voices{Config: cfg, Records: s},
		StandIn: strings.TrimPrefix(cfg.Engines.Voice, config.VoicePrefix),
		Answers: func(m contract.LanguageModel) (string, bool) {
			answers, routed := cfg.ModelFor(m)
			return answers.Name(), routed
		},
		Settings: importer.Settings{
			KeepHistory:    cfg.Retention.History,
			KeepDays:       cfg.Retention.Days,
			RecordingDays:  recordings.Days,
			RecordingBytes: recordings.Bytes,
			AccountBytes:   recordings.AccountBytes,
		},
	}, nil
}
