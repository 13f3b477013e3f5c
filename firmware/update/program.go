package update

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"parley/firmware/release"
)

// unpackProgram unpacks the new package and the libraries that would be installed with it,
// so that the new program can run before it is installed. It returns the program after it
// has run once.
func (u *Updater) unpackProgram(ctx context.Context, deb string, m release.Manifest) (program string, err error) {
	libraries, err := u.newLibraries(ctx, deb)
	if err != nil {
		return "", err
	}
	for _, file := range append(libraries, deb) {
		if _, err := u.run(ctx, "dpkg-deb", "--extract", file, u.work(runFolder)); err != nil {
			return "", err
		}
	}
	program = u.work(runFolder, "usr/bin/parley")
	printed, err := u.runNew(ctx, program, nil, "version", "--json")
	if err != nil {
		return "", fmt.Errorf("the new program does not run on this machine: %w", err)
	}
	// The way back relies on the schema.
	var is struct {
		Version string `json:"version"`
		Schema  int64  `json:"schema"`
	}
	if err := json.Unmarshal(printed, &is); err != nil {
		return "", fmt.Errorf("the new program does not say its version: %w", err)
	}
	if is.Version != m.Version || is.Schema != m.Schema {
		return "", fmt.Errorf("the release file has the version %s with schema %d, and its program is version %s with "+
			"schema %d: make the file again", m.Version, m.Schema, is.Version, is.Schema)
	}
	return program, nil
}

// newLibraries returns the packages of the release file that apt would install, without
// Parley's and without the C library, which must match the loader of this machine.
func (u *Updater) newLibraries(ctx context.Context, deb string) (files []string, err error) {
	out, err := u.aptGet(ctx, "--simulate", "install", deb)
	if err != nil {
		return nil, fmt.Errorf("the new package cannot be installed on this machine: %w", err)
	}
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "Inst" || words[1] == Package || words[1] == "libc6" {
			continue
		}
		debs, err := filepath.Glob(u.work(newFolder, debianFolder, words[1]+"_*.deb"))
		if err != nil {
			return nil, err
		}
		files = append(files, debs...)
	}
	return files, nil
}

// stagePacks has the new program unpack its packs, which it knows and the old one does
// not, into the staging folder of the packs folder.
func (u *Updater) stagePacks(ctx context.Context, f *release.File, program string, j *journal) error {
	if _, ok := f.Manifest.Part(release.PacksName); !ok {
		return nil
	}
	u.say("unpacking the packs of %s", j.To)
	root, err := os.OpenRoot(u.Packs)
	if err != nil {
		return err
	}
	err = root.MkdirAll(newPacks, 0o755)
	root.Close()
	if err != nil {
		return err
	}
	part, err := f.Part(release.PacksName)
	if err != nil {
		return err
	}
	if _, _, err := stagedNames(u.Packs); err != nil { // gives the folder to its owner
		return err
	}
	if _, err := u.runNew(ctx, program, part, "packs", "add", "-"); err != nil {
		return fmt.Errorf("unpacking the packs: %w", err)
	}
	// The program stops where the packs end; the rest of the part is only its checksum.
	if _, err := io.Copy(io.Discard, part); err != nil {
		return err
	}
	j.Replace, j.Add, err = stagedNames(u.Packs)
	return err
}

// runNew runs the new program before it is installed, as the owner of the packs folder, and
// returns its output.
func (u *Updater) runNew(ctx context.Context, program string, stdin io.Reader, args ...string) ([]byte, error) {
	owner, err := ownerOf(u.Packs)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(u.log, "$ %s %s\n", program, strings.Join(args, " "))
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = "/"
	c.Stdin = stdin
	var printed, complaints bytes.Buffer
	c.Stdout, c.Stderr = io.MultiWriter(u.log, &printed), io.MultiWriter(u.log, &complaints)
	libraries := slices.Concat(glob(u.work(runFolder, "usr/lib/*-linux-*")), glob(u.work(runFolder, "lib/*-linux-*")))
	c.Env = append(os.Environ(),
		"PARLEY_PACKS="+filepath.Join(u.Packs, newPacks),
		"PARLEY_DATA="+u.Data,
		"LD_LIBRARY_PATH="+strings.Join(libraries, ":"))
	c.SysProcAttr = &syscall.SysProcAttr{
		Setpgid:    true,
		Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid},
	}
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, lastLine(complaints.Bytes()))
	}
	return printed.Bytes(), nil
}

// ownerOf returns the owner of a folder, or root if there is none.
func ownerOf(folder string) (*syscall.Stat_t, error) {
	info, err := os.Stat(folder)
	if errors.Is(err, os.ErrNotExist) {
		return &syscall.Stat_t{}, nil
	}
	if err != nil {
		return nil, err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, fmt.Errorf("the owner of %s is unknown", folder)
	}
	return owner, nil
}

func glob(pattern string) []string {
	found, _ := filepath.Glob(pattern) // the only error is a malformed pattern
	return found
}
