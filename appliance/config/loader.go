package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"parley/internal/layout"
)

// loader holds the sources of Load, with the defaults filled in.
type loader struct {
	Sources
	env  map[string]string
	home string
	dir  string
	data string // the data folder before any file is read

	defaultData string

	hub *map[string]string // the settings of the hub; nil: those in the data folder
}

func newLoader(s Sources) (*loader, error) {
	l := &loader{
		Sources: s,
		env:     map[string]string{},
		home:    s.Home,
		dir:     s.Dir,
	}
	for _, e := range s.Environ {
		if name, value, ok := strings.Cut(e, "="); ok && value != "" {
			l.env[name] = value // an empty variable counts as not set
		}
	}
	var err error
	if l.home == "" {
		if l.home, err = homeFolder(); err != nil {
			return nil, fmt.Errorf("cannot find the home folder: %w: set HOME", err)
		}
	}
	if l.dir == "" {
		if l.dir, err = os.Getwd(); err != nil {
			return nil, fmt.Errorf("cannot find the working folder: %w", err)
		}
	}
	l.System = cmp.Or(l.System, layout.SystemSettings)
	l.defaultData = layout.InHome(l.home, layout.DefaultData)
	l.data = l.defaultData
	for _, given := range []string{l.env["PARLEY_DATA"], s.Flags["data"]} {
		if given != "" {
			l.data = absolute(given, l.dir, l.home)
		}
	}
	return l, nil
}

// homeFolder returns HOME, or else the home folder in the user database: a service manager
// starts root's services without HOME.
func homeFolder() (string, error) {
	home, err := os.UserHomeDir()
	if err == nil {
		return home, nil
	}
	if u, lookErr := user.Current(); lookErr == nil && u.HomeDir != "" {
		return u.HomeDir, nil
	}
	return "", err
}

// fromDefault is the source of a default.
const fromDefault = "default"

// defaults returns the defaults of the settings' table, and the packs folder from
// PARLEY_CACHE.
func (l *loader) defaults() []assignment {
	return l.collect(func(s Setting) (string, string, bool) {
		if cache := l.env[cacheVariable]; s.Key == "packs" && cache != "" {
			s.Default = filepath.Join(cache, filepath.Base(layout.DefaultPacks))
		}
		return s.Default, fromDefault, s.Default != ""
	})
}

// findFile returns the path of the configuration file, and "" if there is none. A file that
// was named explicitly must exist.
func (l *loader) findFile() (string, error) {
	named := l.File
	if named == "" {
		named = l.env[fileVariable]
	}
	if named != "" {
		path := absolute(named, l.dir, l.home)
		if _, err := os.Stat(path); err != nil {
			return "", fmt.Errorf("config file %s: %w: name a file that exists, or leave --config out", path,
				cause(err))
		}
		return path, nil
	}
	folders := []string{l.dir, l.data}
	// Another data folder has another box, whose settings are not those of the system.
	if l.data == l.defaultData || l.data == layout.SystemData {
		folders = append(folders, l.System)
	}
	for _, folder := range folders {
		path := filepath.Join(folder, FileName)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			if folder == l.dir && folder != l.data {
				err = l.checkOwner(path, info)
			}
			return path, err
		}
	}
	return "", nil
}

// checkOwner returns an error if root would follow settings that another user has put into
// the working folder, other than the one who called sudo: they choose the libraries and the
// data folder.
func (l *loader) checkOwner(path string, info os.FileInfo) error {
	of, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 || of.Uid == 0 || l.env["SUDO_UID"] == strconv.Itoa(int(of.Uid)) {
		return nil
	}
	return fmt.Errorf("config file %s belongs to user %d, and root does not follow it unasked: name it with --config, "+
		"or run this in another folder", path, of.Uid)
}

func (l *loader) fromEnvironment() []assignment {
	return l.collect(func(s Setting) (string, string, bool) {
		value, ok := l.env[s.Env()]
		return value, s.Env(), ok && s.Flag != ""
	})
}

func (l *loader) fromFlags() []assignment {
	return l.collect(func(s Setting) (string, string, bool) {
		value, ok := l.Flags[s.Key]
		return value, "--" + s.Flag, ok
	})
}

// collect returns the assignments of a source other than the file, by current and old
// names.
func (l *loader) collect(by func(Setting) (value, where string, ok bool)) []assignment {
	var list []assignment
	for _, s := range allSettings() {
		if value, where, ok := by(s); ok {
			list = append(list, assignment{
				Setting: s,
				value:   value,
				source:  where,
				dir:     l.dir,
				home:    l.home,
			})
		}
	}
	return list
}

// misspelled returns warnings about variables that are similar to a setting, or are named as one that only a
// file can hold. Others are ignored: container platforms set other PARLEY_… variables.
func (l *loader) misspelled() []string {
	known := []string{fileVariable, cacheVariable, "PARLEY_API_KEY"}
	var warnings []string
	for _, s := range allSettings() {
		known = append(known, s.Env())
		name := "PARLEY_" + strings.ToUpper(strings.ReplaceAll(s.Key, ".", "_"))
		if _, given := l.env[name]; given && s.FileOnly() {
			known = append(known, name)
			warnings = append(warnings,
				fmt.Sprintf("the environment variable %s was ignored: only a file can hold %s", name, s.Key))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.env)) {
		if !strings.HasPrefix(name, "PARLEY_") || slices.Contains(known, name) {
			continue
		}
		if near := Nearest(name, known); near != "" {
			warnings = append(warnings,
				fmt.Sprintf("the environment variable %s is not a setting and was ignored: did you mean %s?", name,
					near))
		}
	}
	return warnings
}

// absolute makes a path absolute: ~/ is the home folder, and a relative path starts at dir.
func absolute(path, dir, home string) string {
	switch {
	case path == "~":
		return home
	case strings.HasPrefix(path, "~/"):
		return filepath.Join(home, path[2:])
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// cause returns the bare cause of a file error, whose message repeats the path.
func cause(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}
