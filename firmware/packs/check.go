package packs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"parley/internal/bundle"
	"parley/internal/disk"
)

// Status is the status of a pack.
type Status string

// How a pack may stand.
const (
	Ready   Status = "ready"
	Absent  Status = "missing"
	Damaged Status = "damaged"
)

// A State is the state of a pack in a folder.
type State struct {
	Pack   Pack
	Status Status
	Why    string // what is missing or wrong; empty if ready
	Mend   string // the command that fixes it; empty if ready

	valid map[string]recordFile // valid files, by name
}

func (s State) String() string {
	return fmt.Sprintf("pack %s is %s (%s): run: %s", s.Pack.Name, s.Status, s.Why, s.Mend)
}

// Verify returns the state of each of packs in dir. A file with the size and time of its
// last check is trusted, unless deep is set: then every file is hashed. The only error is
// ctx's.
func Verify(ctx context.Context, dir string, packs []Pack, deep bool) ([]State, error) {
	states := make([]State, 0, len(packs))
	for _, p := range packs {
		if p.System != nil {
			states = append(states, inspectSystem(p, systemRoot))
			continue
		}
		s, err := inspect(ctx, filepath.Join(dir, p.Name), p, deep)
		if err != nil {
			return nil, err
		}
		states = append(states, s)
	}
	return states, nil
}

// Missing returns the states of those of packs that are not ready in dir.
func Missing(ctx context.Context, dir string, packs []Pack) ([]State, error) {
	states, err := Verify(ctx, dir, packs, false)
	var missing []State
	for _, s := range states {
		if s.Status != Ready {
			missing = append(missing, s)
		}
	}
	return missing, err
}

// ErrNotReady lists packs that are missing or damaged, and how to fix that.
type ErrNotReady struct {
	States []State
	Dir    string // their folder
}

// Error names one command for all packs that can be fetched.
func (e *ErrNotReady) Error() string {
	var lines, fetch []string
	for _, s := range e.States {
		if s.Mend == mendCommand(s.Pack) && !s.Pack.Custom {
			fetch = append(fetch, s.Pack.Name)
		}
	}
	for _, s := range e.States {
		if len(fetch) < 2 || !slices.Contains(fetch, s.Pack.Name) {
			lines = append(lines, s.String())
		}
	}
	if len(fetch) > 1 {
		names := strings.Join(fetch, " ")
		lines = append(lines, fmt.Sprintf("%d packs are missing or damaged in %s: run: parley packs pull %s --packs %s",
			len(fetch), e.Dir, names, e.Dir))
	}
	return strings.Join(lines, "; ")
}

// Require returns nil if all packs are ready in dir, else an *ErrNotReady.
func Require(ctx context.Context, dir string, packs []Pack) error {
	missing, err := Missing(ctx, dir, packs)
	if err == nil && len(missing) > 0 {
		err = &ErrNotReady{missing, dir}
	}
	return err
}

// inspect checks a pack's folder. If the files are right but the record does not say so,
// it writes the record, so that the next check is quick; if the folder is read-only,
// checks stay slow.
func inspect(ctx context.Context, folder string, p Pack, deep bool) (State, error) {
	build, ok := p.Build()
	if !ok {
		return State{
			Pack:   p,
			Status: Absent,
			Why:    "it is not available for " + runtime.GOARCH + " processors",
			Mend:   "parley on " + strings.Join(builtFor(p), " or "),
		}, nil
	}
	known := readRecord(folder)
	fresh := newRecord(p)
	s := State{Pack: p, Status: Ready, valid: map[string]recordFile{}}
	hashed, damaged := false, false
	var whys []string
	for _, f := range build.Files {
		info, why, bad := inspectFile(ctx, folder, f, known, deep, &hashed)
		if err := ctx.Err(); err != nil {
			return State{}, err
		}
		if why != "" {
			whys = append(whys, why)
			damaged = damaged || bad
			continue
		}
		r := recordFile{f, info.ModTime().UnixNano()}
		s.valid[f.Name] = r
		fresh.Files = append(fresh.Files, r)
	}
	switch {
	case len(whys) > 0:
		s.Status, s.Why, s.Mend = Absent, summary(whys, len(build.Files)), mendCommand(p)
		if damaged || len(s.valid) > 0 {
			s.Status = Damaged
		}
	case hashed:
		_ = fresh.write(folder)
	}
	return s, nil
}

// summary is the first reason and the number of others: enough to know what to do.
func summary(whys []string, files int) string {
	switch {
	case len(whys) == files && strings.HasSuffix(whys[0], " is not there"):
		return "its files are not there"
	case len(whys) > 1:
		return fmt.Sprintf("%s, and %d more", whys[0], len(whys)-1)
	}
	return whys[0]
}

// inspectFile says why f is not valid in folder; why is empty if it is.
func inspectFile(ctx context.Context, folder string, f bundle.File, known record, deep bool,
	hashed *bool) (info os.FileInfo, why string, damaged bool) {
	path := filepath.Join(folder, filepath.FromSlash(f.Name))
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, f.Name + " is not there", false
	case err != nil:
		return nil, f.Name + " cannot be read: " + disk.Reason(err), true
	case !info.Mode().IsRegular():
		return nil, f.Name + " is not a file", true
	case info.Size() != f.Bytes:
		return nil, fmt.Sprintf("%s has %d bytes, not %d", f.Name, info.Size(), f.Bytes), true
	case !deep && known.verified(f, info):
		return info, "", false
	}
	sum, err := bundle.Hash(ctx, path)
	if err != nil {
		return nil, f.Name + " cannot be read: " + disk.Reason(err), true
	}
	if sum != f.SHA256 {
		return nil, fmt.Sprintf("%s has sha256 %.12s…, not %.12s…", f.Name, sum, f.SHA256), true
	}
	*hashed = *hashed || !known.verified(f, info)
	return info, "", false
}

func mendCommand(p Pack) string {
	if p.Custom {
		return fmt.Sprintf("parley packs remove %[1]s, then parley packs add FILE… --as %[1]s", p.Name)
	}
	return "parley packs pull " + p.Name
}

func builtFor(p Pack) []string {
	var archs []string
	for a := range p.Builds {
		archs = append(archs, a)
	}
	return archs
}
