package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/alecthomas/kong"

	"parley/appliance"
	"parley/firmware/backup"
	"parley/internal/progress"
	"parley/plugins/shelf"
	"parley/store"
)

// backupCmd saves a box, while it runs or not.
type backupCmd struct {
	File string `arg:"" help:"File to write, such as parley.tar.zst." type:"path"`
	JSON bool   `name:"json" help:"Print JSON."`

	Settings kong.Plugins `embed:"" settings:"data"`
}

// Help shows the command in use.
func (backupCmd) Help() string {
	return `Example:

  parley backup /mnt/usb/parley-$(date +%F).tar.zst

The box may go on: the backup is of the moment in which it began. It holds the whole data folder: what was said, recordings, plugins, keys and certificates. Keep it as safe as the box. Not in it is the key that opens the secrets of plugins (plugins.key): restored into the same folder they are good as they were, on another machine they are set again. The models are not in it; parley packs pull fetches them.`
}

// Run makes the backup.
func (cmd *backupCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	cfg, err := c.config(parsed)
	if err != nil {
		return err
	}
	box := backup.Box{
		Data: cfg.Data, Version: appliance.Version(),
		Database: func(ctx context.Context, file string, progress func(done, total int64)) (int64, error) {
			return store.Backup(ctx, cfg.Data, file, progress)
		},
	}
	if isNoBox(cfg.Data) {
		return fmt.Errorf("backup: %w", noBox(cfg.Data))
	}
	// What the database says of plugins has to fit their files.
	release, err := shelf.Hold(ctx, cfg.Data)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	defer release()
	var made backup.Manifest
	err = withBars(ctx, c.err, func(p progress.Func) error {
		made, err = backup.Make(ctx, box, cmd.File, p)
		return err
	})
	if err != nil {
		return brokenOff(ctx, fmt.Errorf("backup: %w", err), cmd.File+" was not written", "run the command again")
	}
	return c.tellBackup(cmd.JSON, cmd.File, made, "")
}

// backupMade is what backup and restore print with --json.
type backupMade struct {
	File   string `json:"file"`
	Files  int    `json:"files"`
	Bytes  int64  `json:"bytes"` // before compression
	Schema int64  `json:"schema"`
	MadeMS int64  `json:"made_ms"`
	Aside  string `json:"aside,omitempty"` // where the data folder is that was there before
}

func (c *console) tellBackup(asJSON bool, file string, m backup.Manifest, aside string) error {
	if asJSON {
		return c.json(backupMade{file, len(m.Files), m.Bytes(), m.Schema, m.MadeMS, aside})
	}
	_, err := fmt.Fprintf(c.out, "%s holds %d files, %.1f MB, of %s (Parley %s, schema %d)\n", file, len(m.Files), float64(m.Bytes())/1e6,
		time.UnixMilli(m.MadeMS).Format(time.DateTime), m.Parley, m.Schema)
	return err
}

// restoreCmd brings a box back.
type restoreCmd struct {
	File  string `arg:"" help:"File that parley backup wrote." type:"path"`
	Force bool   `help:"Move aside what is in the folder."`
	JSON  bool   `name:"json" help:"Print JSON."`

	Settings kong.Plugins `embed:"" settings:"data"`
}

// Help shows the command in use.
func (restoreCmd) Help() string {
	return `Example:

  parley restore /mnt/usb/parley-2030-01-31.tar.zst --data /var/lib/parley --force

Every byte is checked before anything is put in place. The box must be stopped. API keys that were revoked since the backup are good again after it: revoke them again.`
}

// Run restores the backup.
func (cmd *restoreCmd) Run(ctx context.Context, c *console, parsed *kong.Context) (err error) {
	cfg, err := c.config(parsed)
	if err != nil {
		return err
	}
	to := backup.Target{Data: cfg.Data, Force: cmd.Force, Check: func(ctx context.Context, folder string) error {
		s, err := store.Open(ctx, folder, c.quietLogger(cfg.Log))
		if err != nil {
			return err
		}
		return unlessDone(ctx, func() error { return errors.Join(s.Check(ctx), s.Close()) })
	}}
	if to.Schema, err = store.NewestSchema(); err != nil {
		return err
	}
	if _, err := os.Stat(cfg.Data); err == nil {
		release, err := store.Lock(cfg.Data)
		if err != nil {
			return fmt.Errorf("restore: %w", err)
		}
		defer release()
	}
	var m backup.Manifest
	var aside string
	err = withBars(ctx, c.err, func(p progress.Func) error {
		m, aside, err = backup.Restore(ctx, cmd.File, to, p)
		return err
	})
	if aside != "" {
		fmt.Fprintf(c.err, "What was in %s before lies in %s now.\n", cfg.Data, aside)
	}
	if err != nil {
		return brokenOff(ctx, fmt.Errorf("restore: %w", err), cfg.Data+" is as it was", "run the command again")
	}
	return c.tellBackup(cmd.JSON, cmd.File, m, aside)
}
