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

// backupCmd backs up a box, running or not.
type backupCmd struct {
	File string `arg:"" help:"File to write, such as parley.tar.zst." type:"path" predictor:"file"`
	JSON bool   `name:"json" help:"Print JSON."`

	Settings kong.Plugins `embed:"" settings:"data"`
}

func (backupCmd) Help() string {
	return `Example:

  parley backup /mnt/usb/parley-$(date +%F).tar.zst

The box may keep running: the backup has its state at the start of the command. It contains the whole data folder: ` +
		`chats, recordings, plugins, keys and certificates. Keep it as safe as the box. It does not contain the ` +
		`key that decrypts the secrets of plugins (plugins.key): after a restore into the same folder they work as ` +
		`before, on another machine they must be set again. Nor does it contain the secrets of the first key ` +
		`(first-key.env), or the models; parley packs pull fetches those. Of a hub it contains the keys of the ` +
		`fleet, so that its boxes need not join again, and not what its NATS server stores: a restore into the ` +
		`same folder leaves that, and the hub stores again what came since the backup.`
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
	// The plugins' records in the database must match their files.
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
	Aside  string `json:"aside,omitempty"` // where the previous data folder is now

	SessionsEnded int64 `json:"sessions_ended,omitempty"` // of the console
	KeysRevoked   int64 `json:"keys_revoked,omitempty"`   // since the backup, and still revoked
	KeysRenewed   int64 `json:"keys_renewed,omitempty"`   // since the backup; they have their newest secrets

	SigningKeysRenewed int64    `json:"signing_keys_renewed,omitempty"` // of webhooks, since the backup
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
	_, err := fmt.Fprintf(c.out, "%s: %d files, %.1f MB, made %s (Parley %s, schema %d)\n", file, len(m.Files),
		float64(m.Bytes())/1e6,
		time.UnixMilli(m.MadeMS).Format(time.DateTime), m.Parley, m.Schema)
	return err
}

// restoreCmd restores a box.
type restoreCmd struct {
	File  string `arg:"" help:"File that parley backup wrote." type:"path" predictor:"file"`
	Force bool   `help:"Move the present folder aside."`
	JSON  bool   `name:"json" help:"Print JSON."`

	Settings kong.Plugins `embed:"" settings:"data"`
}

func (restoreCmd) Help() string {
	return `Example:

  parley restore /mnt/usb/parley-2030-01-31.tar.zst --data /var/lib/parley --force

Stop the box first. The whole file is checked before anything changes. Browsers are signed out of the console. With ` +
		`--force, API keys and screens that were revoked since the backup stay revoked, and renewed keys and ` +
		`replaced signing keys of webhooks keep their new secrets. In an empty folder all keys come back as they ` +
		`were: revoke and replace them again. A file with contents that parley backup never writes is refused.`
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
		fmt.Fprintf(c.err, "The previous contents of %s are now in %s.\n", cfg.Data, aside)
	}
	if err != nil {
		return orInterrupted(ctx, err, cfg.Data+" is as it was", "run the command again")
	}
	c.printEndedAccess(cfg.Data, m, over)
	return c.printBackup(cmd.JSON, cmd.File, m, aside, over)
}

// printEndedAccess reports what differs from the time of the backup.
func (c *console) printEndedAccess(data string, m backup.Manifest, over store.EndedAccess) {
	if over.Sessions > 0 {
		fmt.Fprintf(c.err,
			"Browsers signed out of the console: %d. Sign in again with parley console.\n",
			over.Sessions)
	}
	if over.Revoked+over.Renewed > 0 {
		fmt.Fprintf(c.err, "Changes to keys in %s since the backup stay: %d are revoked, %d have their newest "+
			"secrets.\n", data, over.Revoked, over.Renewed)
	}
	if over.Signing > 0 {
		fmt.Fprintf(c.err, "Signing keys of webhooks replaced in %s since the backup, which stay replaced: %d.\n",
			data, over.Signing)
	}
	if len(m.LeftOut) > 0 {
		fmt.Fprintf(c.err, "Not restored, since backups no longer contain it: %s. "+
			"The backup reveals it: parley keys create --renew invalidates its key.\n",
			strings.Join(m.LeftOut, ", "))
	}
}

// endRestoredAccess opens and checks the database that was restored into folder, and ends
// access that was ended after the backup: sessions, and what was revoked in the data
// folder that it will replace. If the replaced database cannot be read, it prints what to
// do.
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
			"API keys, screens and signing keys of webhooks are as they were at the time of the backup, "+
				"since there is no database here with later changes. "+
				"parley keys list shows the keys; end those that were ended since with revoke, create --renew and "+
				"signing-key --new.")
	case ctx.Err() == nil:
		fmt.Fprintf(c.err, "Keys revoked since the backup are valid again, and replaced signing keys sign again, "+
			"since the replaced database cannot be read: %v. "+
			"parley keys list shows the keys; end them with revoke, create --renew and signing-key --new.\n", err)
	}
	return s.EndRestoredAccess(ctx, before)
}
