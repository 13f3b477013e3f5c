package update

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// Service starts and stops the box.
type Service interface {
	// Runs reports whether the box runs or starts.
	Runs(ctx context.Context) (bool, error)
	// Start has the box started; it need not wait until the box runs.
	Start(ctx context.Context) error
	// Stop returns when the box has ended. It does nothing if the box does not run.
	Stop(ctx context.Context) error
	// Fault returns why the box has ended since Start, and nil while it starts or runs.
	Fault(ctx context.Context) error
}

// unit is the systemd unit of the box.
const unit = "parley.service"

// HasSystemd reports whether systemd runs this machine, as sd_booted(3) does.
func HasSystemd() bool {
	info, err := os.Stat("/run/systemd/system")
	return err == nil && info.IsDir()
}

// Systemd is the service parley.service of systemd.
type Systemd struct{}

// Runs reports whether the unit is active, starts, or is about to start again.
func (s Systemd) Runs(ctx context.Context) (bool, error) {
	p, err := s.properties(ctx)
	return p["ActiveState"] != "inactive" && p["ActiveState"] != "failed", err
}

// Start begins the start of the unit. It does not wait: at the start of the machine the
// unit waits for the one that ends an update.
func (Systemd) Start(ctx context.Context) error {
	// Without this, systemd goes on with the unit file that it read before dpkg replaced it.
	if err := systemctl(ctx, "daemon-reload"); err != nil {
		return err
	}
	_ = systemctl(ctx, "reset-failed", unit) // too many starts in a short time; an error if there were none
	return systemctl(ctx, "start", "--no-block", unit)
}

// Stop stops the unit. One that does not run is left alone, since stopping would also
// cancel its start at the start of the machine.
func (s Systemd) Stop(ctx context.Context) error {
	if runs, err := s.Runs(ctx); err != nil || !runs {
		return err
	}
	return systemctl(ctx, "stop", unit)
}

// Fault returns an error if the unit has failed or was started again by systemd.
func (s Systemd) Fault(ctx context.Context) error {
	p, err := s.properties(ctx)
	if err != nil {
		return err
	}
	restarts, _ := strconv.Atoi(p["NRestarts"])
	if restarts == 0 && p["ActiveState"] != "failed" {
		return nil
	}
	return fmt.Errorf("it ended (%s, exit code %s): see journalctl -u parley", p["Result"], p["ExecMainStatus"])
}

func (Systemd) properties(ctx context.Context) (map[string]string, error) {
	out, err := exec.CommandContext(ctx, "systemctl", "show", "--property",
		"ActiveState,NRestarts,Result,ExecMainStatus", unit).Output()
	if err != nil {
		return nil, fmt.Errorf("systemctl show %s: %w", unit, err)
	}
	p := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		p[name] = value
	}
	return p, nil
}

func systemctl(ctx context.Context, args ...string) error {
	out, err := exec.CommandContext(ctx, "systemctl", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("systemctl %s: %w: %s", strings.Join(args, " "), err, lastLine(out))
	}
	return nil
}

// Script is a program that starts and stops the box on a machine without systemd, as the
// scripts in /etc/init.d do: it is called with start, stop or status. Status exits with 0
// if the box runs.
type Script string

// Runs calls the program with status.
func (s Script) Runs(ctx context.Context) (bool, error) {
	err := s.call(ctx, "status")
	if _, exited := errors.AsType[*exec.ExitError](err); exited {
		return false, nil
	}
	return err == nil, err
}

// Start calls the program with start.
func (s Script) Start(ctx context.Context) error { return s.call(ctx, "start") }

// Stop calls the program with stop.
func (s Script) Stop(ctx context.Context) error { return s.call(ctx, "stop") }

// Fault returns an error if the box does not run.
func (s Script) Fault(ctx context.Context) error {
	runs, err := s.Runs(ctx)
	if err == nil && !runs {
		err = errors.New("it ended")
	}
	return err
}

// call runs the program. Its output is not read, since a box that it starts in the
// background would keep the pipe open.
func (s Script) call(ctx context.Context, verb string) error {
	if err := exec.CommandContext(ctx, string(s), verb).Run(); err != nil {
		return fmt.Errorf("%s %s: %w", s, verb, err)
	}
	return nil
}

// lastLine returns the last line of a program's output that is not empty.
func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
