package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"parley/appliance/config"
	"parley/firmware/packs"
	"parley/internal/progress"
)

// pullAsOwner has the rest of a pull run as the owner of the box, if root runs it: the programs
// that fetch packs write into a folder that the owner can change under them. Only the packs of
// the operating system need root. They are installed first.
func (c *console) pullAsOwner(ctx context.Context, cfg config.Config, chosen []packs.Pack) error {
	if who, err := ownerAsUser(cfg); err != nil || who == nil {
		return err
	}
	if err := c.pullSystem(ctx, chosen); err != nil {
		return err
	}
	return runAsOwner(cfg, c.environ)
}

func (c *console) pullSystem(ctx context.Context, chosen []packs.Pack) error {
	return withBars(ctx, c.err, func(p progress.Func) error { return packs.PullSystem(ctx, chosen, p) })
}

// pull fetches packs, as the owner of the box if root sets it up.
func (c *console) pull(ctx context.Context, cfg config.Config, chosen []packs.Pack) error {
	who, err := ownerAsUser(cfg)
	if err != nil {
		return err
	}
	if who == nil {
		return withBars(ctx, c.err, func(p progress.Func) error { return packs.Pull(ctx, cfg.Packs, chosen, p) })
	}
	if err := c.pullSystem(ctx, chosen); err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"packs", "pull", "--packs", cfg.Packs}
	for _, p := range chosen {
		args = append(args, p.Name)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = c.out, c.err
	cmd.Env = who.environ(c.environ)
	cmd.Dir = "/"
	// In a group of its own: a Ctrl-C would reach it twice, and the second one kills it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &who.Credential, Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute // clients of registries end between two files
	if err := cmd.Run(); err != nil {
		return errors.New("parley packs pull failed, see above")
	}
	return nil
}
