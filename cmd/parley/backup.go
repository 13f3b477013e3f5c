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
	"parley/firmware/backup"
	"parley/internal/progress"
	"parley/internal/version"
	"parley/plugins/registry"
	"parley/store"
)

// backupCmd saves a box, while it runs or not.
type backupCmd struct {
	File string `arg:"" help:"File to write, such as parley.tar.zst." type:"path" predictor:"file"`
	JSON bool   `name:"json" help:"Print JSON."`

	Settings kong.Plugins `embed:"" settings:"data"`
}

func (backupCmd) Help() string {
	return `Example:

  parley backup /mnt/usb/parley-$(date +%F).tar.zst

The box may go on: the backup is of the moment in which it began. It holds the whole data folder: what was said, ` +
		`recordings, plugins, keys and certificates. Keep it as safe as the box. Not in it is the key that opens the ` +
		`secrets of plugins (plugins.key): restored into the same folder they are good as they were, on another ` +
		`machine they are set again. Nor are the secrets of the first key (first-key.env). The models are not in it; ` +
		`parley packs pull fetches them.`
}

// Run makes the backup.
func (cmd *backupCmd) Run(ctx context.Context, c *console, cfg config.Config) error {
	box := backup.Box{
		Data: cfg.Data, Version: version.String(),
		Database: func(ctx context.Context, file string, progress func(done, total int64)) (int64, error) {
			return store.Backup(ctx, cfg.Data, file, progress)
		},
	}
	if isNoBox(cfg.Data) {
		return noBox(cfg.Data)
	}
	// What the database says of plugins has to fit their files.
	release, err := registry.Hold(ctx, cfg.Data)
	if err != nil {
		return err
	}
	defer release()
	var made backup.Manifest
	err = withBars(ctx, c.err, func(p progress.Func) error {
		made, err = backup.Make(ctx, box, cmd.File, p)
		return err
	})
	if err != nil {
		return orInterrupted(ctx, err, cmd.File+" was not written", "run the command again")
	}
	return c.printBackup(cmd.JSON, cmd.File, made, "", store.EndedAccess{})
}

// backupResult is what backup and restore print with --json.
type backupResult struct {
	File   string `json:"file"`
	Files  int    `json:"files"`
	Bytes  int64  `json:"bytes"` // before compression
	Schema int64  `json:"schema"`
	MadeMS int64  `json:"made_ms"`
	Aside  string `json:"aside,omitempty"` // where the data folder is that was there before

	SessionsEnded int64 `json:"sessions_ended,omitempty"` // of the console
	KeysRevoked   int64 `json:"keys_revoked,omitempty"`   // since the backup, and still
	KeysRenewed   int64 `json:"keys_renewed,omitempty"`   // which have their newest secrets

	SigningKeysRenewed int64    `json:"signing_keys_renewed,omitempty"` // of webhooks, since the backup, and still
	LeftOut            []string `json:"left_out,omitempty"`             // files of the backup that were not restored
}

func (c *console) printBackup(asJSON bool, file string, m backup.Manifest, aside string, over store.EndedAccess) error {
	if asJSON {
		return c.json(backupResult{
			File:               file,
			Files:              len(m.Files),
			Bytes:              m.Bytes(),
			Schema:             m.Schema,
			MadeMS:             m.MadeMS,
			Aside:              aside,
			SessionsEnded:      over.Sessions,
			KeysRevoked:        over.Revoked,
			KeysRenewed:        over.Renewed,
			SigningKeysRenewed: over.Signing,
			LeftOut:            m.LeftOut,
		})
	}
	_, err := fmt.Fprintf(c.out, "%s holds %d files, %.1f MB, of %s (Parley %s, schema %d)\n", file, len(m.Files),
		float64(m.Bytes())/1e6,
		time.UnixMilli(m.MadeMS).Format(time.DateTime), m.Parley, m.Schema)
	return err
}

// restoreCmd brings a box back.
type restoreCmd struct {
	File  string `arg:"" help:"File that parley backup wrote." type:"path" predictor:"file"`
	Force bool   `help:"Move aside what is in the folder."`
	JSON  bool   `name:"json" help:"Print JSON."`

	Settings kong.Plugins `embed:"" settings:"data"`
}

func (restoreCmd) Help() string {
	return `Example:

  parley restore /mnt/usb/parley-2030-01-31.tar.zst --data /var/lib/parley --force

Every byte is checked before anything is put in place. The box must be stopped. Browsers that were signed in to the ` +
		`console are signed out. With --force, API keys and screens that were revoked since the backup stay revoked, ` +
		`and keys that were given new secrets and signing keys of webhooks that were replaced keep the new ones; ` +
		`into an empty folder all of them come back as they were, so revoke and replace them again. A file that ` +
		`holds anything which parley backup leaves out is refused.`
}

// Run restores the backup.
func (cmd *restoreCmd) Run(ctx context.Context, c *console, cfg config.Config) (err error) {
	var over store.EndedAccess
	to := backup.Target{Data: cfg.Data, Force: cmd.Force, Check: func(ctx context.Context, folder string) error {
		return runCancellable(ctx, func() (err error) {
			over, err = c.endRestoredAccess(ctx, cfg, folder)
			return err
		})
	}}
	if to.Schema, err = store.NewestSchema(); err != nil {
		return err
	}
	if _, err := os.Stat(cfg.Data); err == nil {
		release, err := store.Lock(cfg.Data)
		if err != nil {
			return err
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
		return orInterrupted(ctx, err, cfg.Data+" is as it was", "run the command again")
	}
	c.printEndedAccess(cfg.Data, m, over)
	return c.printBackup(cmd.JSON, cmd.File, m, aside, over)
}

// printEndedAccess says what is not as it was when the backup was made.
func (c *console) printEndedAccess(data string, m backup.Manifest, over store.EndedAccess) {
	if over.Sessions > 0 {
		fmt.Fprintf(c.err,
			"Browsers that were signed in to the console are not any more: %d. parley console signs in anew.\n",
			over.Sessions)
	}
	if over.Revoked+over.Renewed > 0 {
		fmt.Fprintf(c.err, "Of the keys, what was done in %s since the backup holds: %d stay revoked, %d have their "+
			"newest secrets.\n", data, over.Revoked, over.Renewed)
	}
	if over.Signing > 0 {
		fmt.Fprintf(c.err, "Signing keys of webhooks that were replaced in %s since the backup stay replaced: %d.\n",
			data, over.Signing)
	}
	if len(m.LeftOut) > 0 {
		fmt.Fprintf(c.err, "Not restored, for no backup has it any more: %s. "+
			"Whoever has the backup can read it: parley keys create --renew makes its key useless.\n",
			strings.Join(m.LeftOut, ", "))
	}
}

// endRestoredAccess opens what was restored into folder, looks at it, and ends what is over
// since the backup: sessions, and what was revoked in the data folder that it is to
// replace. One whose database cannot be read says nothing of that.
func (c *console) endRestoredAccess(ctx context.Context, cfg config.Config, folder string) (
	over store.EndedAccess, err error,
) {
	s, err := store.Open(ctx, folder, c.quietLogger(cfg.Log))
	if err != nil {
		return over, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Check(ctx); err != nil {
		return over, err
	}
	before, err := store.Join(ctx, cfg.Data)
	switch {
	case err == nil:
		defer func() { err = errors.Join(err, before.Close()) }()
	case errors.Is(err, store.ErrNotFound):
		fmt.Fprintln(c.err,
			"API keys, screens and signing keys of webhooks are as they were when the backup was made, "+
				"for there was no database here that knows what became of them. "+
				"parley keys list shows the keys; revoke, create --renew and signing-key --new end those that were "+
				"ended "+
				"since.")
	case ctx.Err() == nil:
		fmt.Fprintf(c.err, "Keys that were revoked since the backup are good again, and signing keys that were "+
			"replaced sign again, "+
			"for the database that is replaced cannot be read: %v. "+
			"parley keys list shows the keys; revoke, create --renew and signing-key --new end them.\n", err)
	}
	return s.EndRestoredAccess(ctx, before)
}
