package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"parley/internal/durable"
)

// Change is a new value of a setting. A list is written with commas.
type Change struct{ Key, Value string }

// Revision is a changed settings file that was checked, and is not written yet.
type Revision struct {
	File string
	// Config is what the sources load once the file is written.
	Config Config
	// Overridden are the changed settings that a flag or the environment overrides.
	Overridden []Effective

	before, after []byte
	isNew         bool
}

// newFileMode is the mode of a new settings file: it names variables and files with secrets,
// but contains no secrets.
const newFileMode = 0o644

// Edit changes settings in the file at path, or in a new file that begins as Sample. All
// comments, the order, and all other settings stay. A commented line such as
// "#listen: 127.0.0.1:8080" is replaced in place. Edit writes nothing; its errors say what is
// wrong with the changes.
func Edit(path string, s Sources, changes []Change) (*Revision, error) {
	r := &Revision{File: path}
	var err error
	if r.before, err = readLimited(path); errors.Is(err, fs.ErrNotExist) {
		r.before, r.isNew = []byte(Sample("", "")), true
	} else if err != nil {
		return nil, fmt.Errorf("config file %s: %w", path, cause(err))
	}
	text := strings.ReplaceAll(string(r.before), "\r\n", "\n")
	for _, c := range changes {
		if text, err = setInText(text, c); err != nil {
			return nil, fmt.Errorf("%s: %w: change it with a text editor", path, err)
		}
	}
	if bytes.Contains(r.before, []byte("\r\n")) {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	r.after = []byte(text)
	if err := r.checkUnchanged(changes); err != nil {
		return nil, err
	}
	return r, r.load(s, changes)
}

// Edit is Edit for the file that c was loaded from, or else for a new one in the data folder. The
// sources are those of c.
func (c Config) Edit(changes []Change) (*Revision, error) {
	return Edit(c.SettingsFile(), c.sources, changes)
}

// SettingsFile returns the file that c was loaded from, or else the one that Edit would make.
func (c Config) SettingsFile() string { return cmp.Or(c.File, filepath.Join(c.Data, FileName)) }

// Reload loads the settings again, from the sources of c.
func (c Config) Reload() (Config, error) { return Load(c.sources) }

// Value returns the value of a setting as it was written, and where: default, parley.yaml:3,
// PARLEY_DATA or --data.
func (c Config) Value(key string) (value, from string) {
	g := c.assigned[key]
	return g.value, g.source
}

// Overridden returns where a setting is set that a change of the file would not change: --listen
// or PARLEY_LISTEN. It returns "" if the file decides.
func (c Config) Overridden(key string) string {
	if g, ok := c.assigned[key]; ok && !g.inFile && g.source != fromDefault {
		return g.source
	}
	return ""
}

// load loads the changed text as the file at its path.
func (r *Revision) load(s Sources, changes []Change) error {
	l, err := newLoader(s)
	if err != nil {
		return err
	}
	if r.Config, err = l.load(r.File, r.after); err != nil {
		return err
	}
	for _, e := range r.Config.Effective() {
		changed := slices.ContainsFunc(changes, func(c Change) bool { return c.Key == e.Key })
		if changed && !r.Config.assigned[e.Key].inFile {
			r.Overridden = append(r.Overridden, e)
		}
	}
	return nil
}

// checkUnchanged returns an error if the new text does not hold exactly the old settings with
// the changes, and all old comments.
func (r *Revision) checkUnchanged(changes []Change) error {
	wrong := func(what string) error {
		return fmt.Errorf("%s has a form that cannot be changed safely (%s): change it with a text editor", r.File,
			what)
	}
	old, err := parseSettings(r.File, "", r.before)
	if err != nil {
		return err
	}
	got, err := parseSettings(r.File, "", r.after)
	if err != nil {
		return wrong(err.Error())
	}
	want := valuesOf(old)
	for _, c := range changes {
		s, _ := findSetting(c.Key)
		want[c.Key] = normalValue(s, c.Value)
		maps.DeleteFunc(want, func(key string, _ any) bool {
			return strings.HasPrefix(key, c.Key+".") && isPartOf(key, c.Key)
		})
	}
	have := valuesOf(got)
	for _, s := range allSettings() {
		if !reflect.DeepEqual(want[s.Key], have[s.Key]) {
			return wrong(s.Key)
		}
	}
	if lost := lostComment(string(r.before), string(r.after), changes); lost != "" {
		return wrong("the comment " + lost)
	}
	return nil
}

// isPartOf reports whether key is an old name for a part of the setting whole.
func isPartOf(key, whole string) bool {
	s, ok := findSetting(key)
	return ok && s.PartOf == whole
}

// valuesOf returns the values of a file by key, without where they are set.
func valuesOf(list []assignment) map[string]any {
	values := map[string]any{}
	for _, g := range list {
		if !g.FileOnly() {
			values[g.Key] = normalValue(g.Setting, g.value)
			continue
		}
		var all [][][2]string
		for _, m := range g.maps {
			var one [][2]string
			for _, v := range m.values {
				one = append(one, [2]string{v.Key, v.value})
			}
			all = append(all, one)
		}
		values[g.Key] = all
	}
	return values
}

// normalValue returns a value as the file's reader would return it.
func normalValue(s Setting, value string) any {
	if s.isList {
		return strings.Join(slices.Collect(splitList(value)), ",")
	}
	return value
}

// Write writes the file, whole or not at all. The file keeps its mode and owner; a new one gets
// the owner of its folder when root creates it. The error is ErrChanged if the file has changed
// since Edit read it.
func (r *Revision) Write() error {
	path := r.File
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // the link stays a link
	}
	mode, owner := fs.FileMode(newFileMode), filepath.Dir(path)
	if info, err := os.Stat(path); err == nil {
		mode, owner = info.Mode().Perm(), path
	}
	now, err := readLimited(path)
	if r.isNew != errors.Is(err, fs.ErrNotExist) || !r.isNew && (err != nil || !bytes.Equal(now, r.before)) {
		return fmt.Errorf("%s: %w", r.File, ErrChanged)
	}
	f, err := durable.Create(path, mode)
	if err != nil {
		return fmt.Errorf("writing %s: %w", r.File, err)
	}
	defer f.Discard()
	if err := chownLike(f.Name(), owner); err != nil {
		return fmt.Errorf("writing %s: %w", r.File, err)
	}
	if _, err := f.Write(r.after); err != nil {
		return fmt.Errorf("writing %s: %w", r.File, err)
	}
	if err := f.Commit(); err != nil {
		return fmt.Errorf("writing %s: %w", r.File, err)
	}
	return nil
}

// ErrChanged means that somebody else changed the file in the meantime.
var ErrChanged = errors.New("the file was changed in the meantime: try again")

// chownLike gives a file the owner and group of another one. Only root can give files away; for
// another user the owner must be the same already, while the group may differ.
func chownLike(path, like string) error {
	info, err := os.Stat(like)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(owner.Uid) == os.Geteuid() && int(owner.Gid) == os.Getegid() {
		return nil
	}
	err = os.Lchown(path, int(owner.Uid), int(owner.Gid))
	if err != nil && like == filepath.Dir(path) {
		return nil // a new file in a folder of somebody else belongs to its writer
	}
	return err
}

// Check returns what is wrong with a value of a setting, and what is allowed. It does not check
// settings together.
func Check(key, value string) error {
	s, ok := findSetting(key)
	if !ok || s.FileOnly() {
		return fmt.Errorf("%s is not a setting with a plain value", key)
	}
	return s.set(&Config{}, assignment{Setting: s, value: value, dir: "/", home: "/"})
}
