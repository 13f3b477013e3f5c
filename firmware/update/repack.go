package update

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrNotInstalled means that dpkg has not installed the package of Parley.
var ErrNotInstalled = errors.New("no package " + Package + " is installed on this machine")

// admin is where dpkg keeps the maintainer scripts and lists of packages.
const admin = "/var/lib/dpkg/info"

// controlFiles are the files of a package's control archive, besides control, that dpkg
// keeps.
var controlFiles = []string{
	"preinst",
	"postinst",
	"prerm",
	"postrm",
	"config",
	"templates",
	"conffiles",
	"md5sums",
	"shlibs",
	"symbols",
	"triggers",
}

// Installed returns the version of the installed package and its architecture, as dpkg
// has them.
func Installed(ctx context.Context) (version, arch string, err error) {
	status, err := query(ctx, "${db:Status-Status} ${Version} ${Architecture}")
	if err != nil {
		return "", "", err
	}
	fields := strings.Fields(status)
	if len(fields) != 3 || fields[0] != "installed" {
		return "", "", fmt.Errorf("the package %s is not installed completely (%s): run: dpkg --configure -a", Package,
			strings.TrimSpace(status))
	}
	return fields[1], fields[2], nil
}

// query asks dpkg for fields of the package.
func query(ctx context.Context, format string) (string, error) {
	out, err := exec.CommandContext(ctx, "dpkg-query", "--show", "--showformat", format, Package).Output()
	if _, exited := errors.AsType[*exec.ExitError](err); exited || errors.Is(err, exec.ErrNotFound) {
		return "", ErrNotInstalled
	}
	return string(out), err
}

// Repack writes the installed package into the folder again, as a file that dpkg
// installs, from the files that dpkg lists. It returns the path of the file.
func Repack(ctx context.Context, folder string) (deb string, err error) {
	version, arch, err := Installed(ctx)
	if err != nil {
		return "", err
	}
	tree, err := os.MkdirTemp(folder, "repack-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tree)) }()
	if err := os.Chmod(tree, 0o755); err != nil { // becomes / of the package
		return "", err
	}
	if err := writeControl(ctx, filepath.Join(tree, "DEBIAN"), arch); err != nil {
		return "", err
	}
	if err := copyFiles(ctx, tree); err != nil {
		return "", err
	}
	deb = filepath.Join(folder, fmt.Sprintf("%s_%s_%s.deb", Package, version, arch))
	// Fast compression: the file serves this machine for an hour.
	build := exec.CommandContext(ctx, "dpkg-deb", "-Zgzip", "-z1", "--build", tree, deb)
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("dpkg-deb --build: %w: %s", err, lastLine(out))
	}
	return deb, nil
}

// copyFiles copies the files of the installed package into the tree.
func copyFiles(ctx context.Context, tree string) error {
	out, err := exec.CommandContext(ctx, "dpkg-query", "--listfiles", Package).Output()
	if err != nil {
		return fmt.Errorf("asking dpkg for the files of %s: %w", Package, err)
	}
	var paths []string
	folders := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		path := strings.TrimSuffix(line, "\n")
		if path == "/." || !strings.HasPrefix(path, "/") { // dpkg also says what is diverted, in words
			continue
		}
		paths = append(paths, path)
		folders[filepath.Dir(path)] = true
	}
	for _, path := range paths {
		if err := copyEntry(path, filepath.Join(tree, path), folders[path]); err != nil {
			return fmt.Errorf("packing %s: %w", path, err)
		}
	}
	return nil
}

// writeControl writes the folder of control files.
func writeControl(ctx context.Context, folder, arch string) error {
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, "dpkg-query", "--status", Package).Output()
	if err != nil {
		return fmt.Errorf("asking dpkg for the control file of %s: %w", Package, err)
	}
	if err := os.WriteFile(filepath.Join(folder, "control"), []byte(controlOf(string(out))), 0o644); err != nil {
		return err
	}
	for _, name := range controlFiles {
		from := filepath.Join(admin, Package+"."+name)
		if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) { // Multi-Arch: same
			from = filepath.Join(admin, Package+":"+arch+"."+name)
		}
		err := copyFile(from, filepath.Join(folder, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("packing %s: %w", from, err)
		}
	}
	return nil
}

// controlOf returns the control file of a package from dpkg's record of it: without the
// fields that dpkg adds.
func controlOf(status string) string {
	var control strings.Builder
	skipping := false
	for line := range strings.Lines(status) {
		if !strings.HasPrefix(line, " ") {
			name, _, _ := strings.Cut(line, ":")
			skipping = name == "Status" || name == "Conffiles" || name == "Config-Version"
		}
		if !skipping {
			control.WriteString(line)
		}
	}
	return control.String()
}

// copyEntry copies a file, link or folder of the installed package with its mode and time,
// and a file with its owner too. A file that is not there is left out: dpkg can be set up
// to leave documentation out. What has files below it is a folder of the package, even if
// it is a link on this machine, such as /lib.
func copyEntry(from, to string, folder bool) error {
	info, err := os.Lstat(from)
	if folder {
		info, err = os.Stat(from)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	case info.IsDir():
		// dpkg sets neither owner nor mode of a folder that exists.
		return errors.Join(os.MkdirAll(to, 0o755), os.Chmod(to, info.Mode().Perm()))
	}
	return copyFile(from, to)
}

// copyFile copies a regular file with its mode, owner and time.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && err == nil {
		err = out.Chown(int(owner.Uid), int(owner.Gid))
	}
	if err == nil { // after the change of owner, which clears the bits for other users' rights
		err = out.Chmod(info.Mode())
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}
