package update

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"parley/firmware/release"
	"parley/internal/disk"
	"parley/internal/signing"
	"parley/internal/version"
)

// Plan is what an update would do.
type Plan struct {
	From      string      `json:"from"` // versions
	To        string      `json:"to"`
	Key       signing.Key `json:"key"`        // that signed the release file
	MadeMS    int64       `json:"made_ms"`    // when the package was made
	OldSchema int64       `json:"old_schema"` // of the database; 0 if there is none
	NewSchema int64       `json:"new_schema"`
	PackBytes int64       `json:"pack_bytes"` // of the packs that it brings
}

// Examine checks a release file and this machine, and returns what the update would do.
// It changes nothing. The error says why the update is refused.
func (u *Updater) Examine(ctx context.Context, f *release.File) (Plan, error) {
	keys, err := release.TrustedKeys("/")
	if err != nil {
		return Plan{}, fmt.Errorf("reading the keys that this machine trusts: %w", err)
	}
	p := Plan{To: f.Manifest.Version, MadeMS: f.Manifest.MadeMS, NewSchema: f.Manifest.Schema,
		PackBytes: f.Manifest.PacksBytes}
	if p.Key, err = f.Verify(keys); err != nil {
		return Plan{}, err
	}
	debian, arch, err := Installed(ctx)
	if err != nil {
		return Plan{}, err
	}
	suite, err := debianRelease()
	if err != nil {
		return Plan{}, err
	}
	if err := f.Manifest.Fits(arch, suite); err != nil {
		return Plan{}, err
	}
	p.From = upstream(debian)
	if err := checkVersions(p.From, p.To); err != nil {
		return Plan{}, err
	}
	if p.OldSchema, err = u.Box.Schema(ctx); err != nil {
		return Plan{}, fmt.Errorf("reading the schema of the database: %w", err)
	}
	if p.NewSchema < p.OldSchema {
		return Plan{}, fmt.Errorf("the database has schema %d, and Parley %s reads only databases up to schema %d",
			p.OldSchema, p.To, p.NewSchema)
	}
	if err := f.Check(ctx, u.Progress); err != nil {
		return Plan{}, err
	}
	return p, u.checkMachine(ctx)
}

// checkVersions returns an error unless the update is to a newer version.
func checkVersions(from, to string) error {
	switch version.Compare(to, from) {
	case 0:
		return fmt.Errorf("version %s is installed already", to)
	case -1:
		return fmt.Errorf("version %s is older than the installed %s, whose data it may not be able to read: "+
			"to go back, install it on a new machine, and restore a backup that it made", to, from)
	}
	return nil
}

// debianRelease returns the code name of this machine's Debian.
func debianRelease() (string, error) {
	text, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return "", fmt.Errorf("reading which Debian this is: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "VERSION_CODENAME="); ok {
			return strings.Trim(value, `"'`), nil
		}
	}
	return "", errors.New("/etc/os-release has no VERSION_CODENAME: which Debian this is, is unknown")
}

// checkMachine returns an error if dpkg could not work now.
func (u *Updater) checkMachine(ctx context.Context) error {
	for _, folder := range []string{"/usr/bin", "/usr/share", "/var/lib/dpkg"} {
		err := unix.Access(folder, unix.W_OK)
		if errors.Is(err, unix.EROFS) {
			return fmt.Errorf("%s is mounted read-only, so no package can be installed: mount it writable", folder)
		}
		if err != nil {
			return fmt.Errorf("%s cannot be written: %w", folder, err)
		}
	}
	pid, err := dpkgUser()
	if err != nil {
		return err
	}
	if pid != 0 {
		return fmt.Errorf("process %d (%s) is installing packages: wait until it is done", pid, processName(pid))
	}
	broken, err := u.incomplete(ctx)
	if err != nil {
		return err
	}
	if len(broken) > 0 {
		return fmt.Errorf("the packages %s are not installed completely: run: dpkg --configure -a",
			strings.Join(broken, ", "))
	}
	return nil
}

// processName returns the name of a process.
func processName(pid int32) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}

// need is how many bytes an update needs in a folder.
type need struct {
	folder string
	bytes  int64
}

// checkSpace returns an error if a disk cannot hold what its folders need.
func checkSpace(needs []need) error {
	total := map[uint64]int64{}
	for _, n := range needs {
		folder := disk.Nearest(n.folder)
		info, err := os.Stat(folder)
		if err != nil {
			return err
		}
		at, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return fmt.Errorf("the disk of %s is unknown", folder)
		}
		total[at.Dev] += n.bytes
		free, err := disk.Free(folder)
		if err != nil {
			return err
		}
		if required := total[at.Dev] + disk.Spare; free < required {
			return fmt.Errorf("the disk of %s has %d MB free, and the update needs %d MB: free some space", n.folder,
				free/1e6, required/1e6)
		}
	}
	return nil
}

// size returns the size of a file, or 0 if there is none.
func size(path string) (int64, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
