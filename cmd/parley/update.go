package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"parley/firmware/release"
	"parley/firmware/update"
	"parley/internal/layout"
	"parley/internal/progress"
	"parley/internal/version"
	"parley/store"
)

// updateCmd updates the installed Parley.
type updateCmd struct {
	File     string        `arg:"" optional:"" predictor:"file" type:"path" help:"File that parley bundle wrote."`
	Check    bool          `help:"Change nothing: check the file, and say what the update would do."`
	Wait     time.Duration `default:"10m" placeholder:"TIME" help:"How long to wait for the end of live chats (10m)."`
	BackupTo string        `placeholder:"DIR" type:"path" predictor:"file" help:"Folder for the backup."`
	Service  string        `placeholder:"FILE" type:"path" predictor:"file" help:"${service_help}"`
	JSON     bool          `name:"json" help:"With --check, print JSON."`
	Stage    string        `hidden:"" enum:",apply,resume,record" default:""`

	Settings kong.Plugins `embed:"" settings:"data packs"`
}

func (updateCmd) Help() string {
	return `Examples:

  sudo parley update parley-0.2.0.sh --check

  sudo parley update parley-0.2.0.sh

It checks the signature and everything else in the file, backs the box up, and waits for the end of live chats. Then ` +
		`it replaces the program and the models, starts the box, and asks it a spoken question. If no answer comes, ` +
		`the old version returns by itself, also after a power cut in the middle. The box is away for a minute or two.`
}

// Validate checks the flags.
func (cmd *updateCmd) Validate() error {
	if cmd.File == "" && cmd.Stage == "" {
		return errors.New("name the file of the new version")
	}
	if cmd.Wait < 0 || cmd.Wait > 24*time.Hour {
		return fmt.Errorf("--wait %v is not allowed: use 0 to 24h", cmd.Wait)
	}
	return nil
}

// The stages that an update runs as a process of its own.
const (
	applyStage  = "apply"  // the prepared update
	resumeStage = "resume" // after a power cut
	recordStage = "record" // how the last update ended
)

// Run updates the box, or carries out a stage.
func (cmd *updateCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	if cmd.Service == "" && !update.HasSystemd() && inContainer() {
		return errors.New("a container is updated by its image: build or pull the image of the new version, and " +
			"start a container of it with the same volumes")
	}
	if os.Geteuid() != 0 {
		return errors.New("an update installs packages: run it as root, with sudo")
	}
	switch cmd.Stage {
	case resumeStage:
		return cmd.resume(ctx, c)
	case recordStage:
		return cmd.record(ctx, c, parsed)
	}
	if cmd.Service == "" && !update.HasSystemd() {
		return errors.New("this machine has no systemd: name the program that starts and stops the box with --service")
	}
	u, err := cmd.updater(c, parsed)
	if err != nil {
		return err
	}
	if cmd.Stage == applyStage {
		signal.Ignore(syscall.SIGPIPE) // the terminal may close meanwhile
		err := cmd.locked(u, func() error { return u.Apply(ctx) })
		if is[*update.ErrReturned](err) {
			return nil // the process that waits for this one says so
		}
		return err
	}
	return withBars(ctx, c.err, func(p progress.Func) error {
		u.Progress = p
		return cmd.update(ctx, c, u)
	})
}

// updater returns the updater of this machine.
func (cmd *updateCmd) updater(c *console, parsed *kong.Context) (*update.Updater, error) {
	cfg, err := c.config(parsed)
	if err != nil {
		return nil, err
	}
	u := cmd.bareUpdater(c)
	u.Data, u.Packs = cfg.Data, cfg.Packs
	u.Box = updatedBox{cfg, c}
	u.Limits.Chats = cmd.Wait
	return u, nil
}

// bareUpdater returns an updater that knows no settings.
func (cmd *updateCmd) bareUpdater(c *console) *update.Updater {
	u := &update.Updater{
		Folder:  layout.Updates,
		Service: update.Systemd{},
		Tell:    func(line string) { fmt.Fprintln(c.err, line) },
		Limits:  update.DefaultLimits(),
	}
	if cmd.Service != "" {
		u.Service = update.Script(cmd.Service)
	}
	return u
}

// locked does work under the lock of updates.
func (cmd *updateCmd) locked(u *update.Updater, work func() error) error {
	release, err := u.Open()
	if err != nil {
		return err
	}
	defer release()
	return work()
}

// resume ends an update after a power cut. It reads no settings: those of a newer version
// may be unknown to this program.
func (cmd *updateCmd) resume(ctx context.Context, c *console) error {
	u := cmd.bareUpdater(c)
	err := cmd.locked(u, func() error { return u.Resume(ctx) })
	if errors.Is(err, update.ErrLocked) {
		return nil // an update that goes on has started the box, and so this stage
	}
	if returned, ok := errors.AsType[*update.ErrReturned](err); ok {
		fmt.Fprintln(c.err, returned) // the box is whole: the unit has done its work
		err = nil
	}
	if err == nil {
		recordUpdate(ctx, c)
	}
	return err
}

// update checks the file, prepares the update and has it applied.
func (cmd *updateCmd) update(ctx context.Context, c *console, u *update.Updater) error {
	var applied bool
	err := cmd.locked(u, func() error {
		if err := cmd.endInterrupted(ctx, c, u); err != nil {
			return err
		}
		f, err := release.Open(cmd.File)
		if err != nil {
			return err
		}
		defer f.Close()
		plan, err := u.Examine(ctx, f)
		if err != nil {
			return orInterrupted(ctx, err, "nothing was changed", "")
		}
		if cmd.Check {
			return c.printPlan(cmd.JSON, plan)
		}
		if installed := plan.From; installed != version.String() {
			return fmt.Errorf("this program is Parley %s, and %s is installed: run /usr/bin/parley update",
				version.String(), installed)
		}
		folder := cmd.BackupTo
		if folder == "" {
			folder = filepath.Join(u.Folder, "backups")
		}
		if err := u.Prepare(ctx, f, plan, folder); err != nil {
			return orInterrupted(ctx, err, "the box was not changed", "")
		}
		if !update.HasSystemd() {
			applied = true
			return u.Apply(ctx)
		}
		return nil
	})
	if err == nil && !cmd.Check && !applied {
		err = cmd.applyApart(ctx, c, u)
		applied = true
	}
	if !applied {
		return err
	}
	recordUpdate(ctx, c)
	if returned, ok := errors.AsType[*update.ErrReturned](err); ok {
		return orInterrupted(ctx, err, "the box is back at "+returned.From, "")
	}
	return err
}

// endInterrupted ends an update that was killed.
func (cmd *updateCmd) endInterrupted(ctx context.Context, c *console, u *update.Updater) error {
	interrupted, err := u.Interrupted()
	if err != nil || !interrupted {
		return err
	}
	err = u.Resume(ctx)
	if returned, ok := errors.AsType[*update.ErrReturned](err); ok {
		fmt.Fprintln(c.err, returned)
		err = nil
	}
	if err == nil {
		recordUpdate(ctx, c)
	}
	return err
}

// applyApart applies the update in a systemd unit of its own, so that it goes on if this
// terminal closes, and systemd ends it if it is killed. Ctrl-C has it go back.
func (cmd *updateCmd) applyApart(ctx context.Context, c *console, u *update.Updater) error {
	const unit = "parley-update-apply.service"
	_ = exec.Command("systemctl", "reset-failed", unit).Run() // one that was killed; an error if there was none
	run := exec.CommandContext(ctx, "systemd-run", "--quiet", "--collect", "--wait", "--pipe", "--unit", unit,
		"--property", "OnFailure=parley-update.service",
		filepath.Join(u.Folder, "parley"), "update", "--stage", applyStage, "--data", u.Data, "--packs", u.Packs,
		"--wait", cmd.Wait.String())
	run.Stdout, run.Stderr = c.out, c.err
	run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C reaches this process alone
	run.Cancel = func() error { return exec.Command("systemctl", "kill", "--signal", "INT", unit).Run() }
	begun := time.Now()
	ended := run.Run()
	if err := cmd.awaitEnd(context.WithoutCancel(ctx), u); err != nil {
		return err
	}
	last, ok, err := update.LastResult(u.Folder)
	if err != nil || ok && last.Done && last.AtMS >= begun.UnixMilli() {
		return err
	}
	if ok && last.AtMS >= begun.UnixMilli() {
		return &update.ErrReturned{From: last.From, To: last.To, Why: last.Why, Log: u.LogFile()}
	}
	return fmt.Errorf("the update did not begin: %w: see %s", ended, u.LogFile())
}

// awaitEnd returns when no update is left to be ended. After one that was killed, systemd
// or this process puts the old version back, whichever comes first.
func (cmd *updateCmd) awaitEnd(ctx context.Context, u *update.Updater) error {
	for {
		err := cmd.locked(u, func() error { return u.Resume(ctx) })
		if is[*update.ErrReturned](err) {
			return nil // the result says so too
		}
		if !errors.Is(err, update.ErrLocked) {
			return err
		}
		time.Sleep(time.Second)
	}
}

// printPlan prints what an update would do.
func (c *console) printPlan(asJSON bool, p update.Plan) error {
	database := "The database stays as it is."
	switch {
	case p.OldSchema == 0:
		database = "There is no database yet."
	case p.NewSchema > p.OldSchema:
		database = fmt.Sprintf("The database is copied, and changed from schema %d to %d.", p.OldSchema, p.NewSchema)
	}
	models := "It brings no models."
	if p.PackBytes > 0 {
		models = fmt.Sprintf("It brings %.0f MB of models.", megabytes(p.PackBytes))
	}
	return c.print(asJSON, p, "The update from %s to %s is possible.\nSigned by %s, made %s.\n%s\n%s\n", p.From, p.To,
		p.Key, time.UnixMilli(p.MadeMS).Format(time.DateTime), models, database)
}

// inContainer reports whether this is a container of Podman or Docker.
func inContainer() bool {
	for _, file := range []string{"/run/.containerenv", "/.dockerenv"} {
		if _, err := os.Stat(file); err == nil {
			return true
		}
	}
	return os.Getenv("container") != ""
}

// record records how the last update ended as an administrative act.
func (cmd *updateCmd) record(ctx context.Context, c *console, parsed *kong.Context) error {
	cfg, err := c.config(parsed)
	if err != nil {
		return err
	}
	return update.Record(layout.Updates, func(r update.Result) error {
		s, err := store.Join(ctx, cfg.Data)
		if err != nil {
			return err
		}
		act := store.Act{
			Who:  store.Actor{Kind: store.ByBox},
			What: "box.update",
			On:   store.Object{Kind: "box"},
			Text: fmt.Sprintf("updated Parley from %s to %s", r.From, r.To),
			AtMS: r.AtMS,
		}
		if r.User != "" {
			act.Who = store.Actor{Kind: store.ByUser, Name: r.User, Role: "root"}
		}
		if !r.Done {
			act.Text = fmt.Sprintf("went back from Parley %s to %s", r.To, r.From)
			act.Outcome, act.Why = store.ActFailed, r.Why
		}
		return errors.Join(s.RecordAct(ctx, act), s.Close())
	})
}
