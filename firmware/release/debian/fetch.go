package debian

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"parley/internal/bundle"
	"parley/internal/disk"
	"parley/internal/progress"
)

// A Deb is a fetched Debian package. Name is its file name in an archive, without the
// epoch of its version.
type Deb struct{ Name, Path string }

// wanted is a package to fetch, as apt-get lists it.
type wanted struct {
	name   string // in the archive
	file   string // in apt's folder
	bytes  int64
	sha256 string
}

// Fetch returns the packages that deb, a package file, depends on, and those that they
// depend on, for a machine on which nothing is installed, sorted by name. It downloads
// what is not in the folder cache yet, for which another Fetch waits.
func Fetch(ctx context.Context, deb string, m Machine, cache string, tell progress.Func) ([]Deb, error) {
	a, err := newApt(m, filepath.Join(cache, m.Suite+"-"+m.Arch))
	if err != nil {
		return nil, err
	}
	defer a.lock.Close()
	debs, err := a.fetch(ctx, deb, tell.Serial())
	if err != nil {
		return nil, fmt.Errorf("fetching the Debian packages for %s: %w", m.Suite, err)
	}
	return debs, nil
}

// apt runs apt-get with a state of its own.
type apt struct {
	machine Machine
	dir     string
	lock    *os.File
}

// newApt prepares and locks the folder of an apt:
//
//	sources/          the sources of this machine for the suite
//	lists/            what apt-get update fetched
//	archives/         packages
//	empty/, status    stand for a machine without packages
func newApt(m Machine, dir string) (*apt, error) {
	for _, folder := range []string{"sources", "lists/partial", "archives/partial", "empty/partial"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			return nil, err
		}
	}
	lock, err := os.Create(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	a := &apt{m, dir, lock}
	err = unix.Flock(int(lock.Fd()), unix.LOCK_EX)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "status"), nil, 0o644)
	}
	if err == nil {
		err = writeSources("/etc", m.Suite, filepath.Join(dir, "sources"))
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return a, nil
}

// writeSources writes the Debian sources of the machine whose settings are in etc into a
// folder, with suite in place of its own release. Sources of others are left out.
func writeSources(etc, suite, folder string) error {
	own := suiteOf(filepath.Join(etc, "os-release"))
	if own == "" {
		return errors.New("only a Debian knows where Debian packages come from: run this on one, or pass " +
			"--no-debian")
	}
	release := regexp.MustCompile(`\b` + regexp.QuoteMeta(own) + `\b`)
	found := false
	for _, name := range []string{"apt/sources.list", "apt/sources.list.d/debian.sources"} {
		text, err := os.ReadFile(filepath.Join(etc, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		found = found || release.Match(text)
		text = release.ReplaceAllLiteral(text, []byte(suite))
		if err := os.WriteFile(filepath.Join(folder, path.Base(name)), text, 0o644); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("neither %[1]s/apt/sources.list nor %[1]s/apt/sources.list.d/debian.sources names a source "+
			"of %[2]s: add one, or pass --no-debian", etc, own)
	}
	return nil
}

// command returns an apt-get command that does not touch this machine.
func (a *apt) command(ctx context.Context, archives string, args ...string) *exec.Cmd {
	var options []string
	for _, o := range []string{
		"Dir::State::status=" + filepath.Join(a.dir, "status"),
		"Dir::State::Lists=" + filepath.Join(a.dir, "lists"),
		"Dir::Cache::archives=" + filepath.Join(a.dir, archives),
		"Dir::Cache::pkgcache=", "Dir::Cache::srcpkgcache=",
		"Dir::Etc::SourceList=/dev/null", "Dir::Etc::SourceParts=" + filepath.Join(a.dir, "sources"),
		"Dir::Etc::Preferences=/dev/null", "Dir::Etc::PreferencesParts=/dev/null",
		"APT::Architecture=" + a.machine.Arch, "APT::Architectures=" + a.machine.Arch, "APT::Default-Release=",
		"APT::Install-Recommends=false", "APT::Install-Suggests=false", "APT::Update::Error-Mode=any",
		"Acquire::Languages=none", "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false",
		"Acquire::ForceHash=SHA256", "Debug::NoLocking=true",
	} {
		options = append(options, "-o", o)
	}
	return exec.CommandContext(ctx, "apt-get", slices.Concat(options, []string{"-q", "-y"}, args)...)
}

func (a *apt) fetch(ctx context.Context, deb string, tell progress.Func) ([]Deb, error) {
	e := progress.Event{Name: "Debian's lists", Step: progress.Downloading}
	tell(e)
	if _, err := output(a.command(ctx, "archives", "update")); err != nil {
		return nil, err
	}
	e.Step = progress.Done
	tell(e)
	deb, err := filepath.Abs(deb)
	if err != nil {
		return nil, err
	}
	// With an empty folder for packages, it lists those in the cache too.
	text, err := output(a.command(ctx, "empty", "--print-uris", "install", deb))
	if err != nil {
		return nil, err
	}
	list, err := parseURIs(text)
	if err != nil {
		return nil, err
	}
	if err := a.download(ctx, deb, list, tell); err != nil {
		return nil, err
	}
	return a.checked(ctx, list)
}

// parseURIs parses the output of apt-get --print-uris: 'URI' FILE BYTES SHA256:HASH.
func parseURIs(text string) (list []wanted, err error) {
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) != 4 || !strings.HasPrefix(words[0], "'") {
			continue // says what it does
		}
		u, err := url.Parse(strings.Trim(words[0], "'"))
		if err != nil || u.Scheme == "file" {
			continue // the package itself
		}
		w := wanted{name: path.Base(u.Path), file: words[1]}
		w.bytes, err = strconv.ParseInt(words[2], 10, 64)
		sum, ok := strings.CutPrefix(words[3], "SHA256:")
		if err != nil || !ok || !filepath.IsLocal(w.file) {
			return nil, fmt.Errorf("apt-get lists a package without a SHA-256: %s", lines.Text())
		}
		w.sha256 = sum
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b wanted) int { return strings.Compare(a.name, b.name) })
	return list, lines.Err()
}

// pollInterval is how often the progress of a download is looked at.
const pollInterval = 250 * time.Millisecond

// download has apt-get fetch what is missing, and deletes other packages from the cache.
func (a *apt) download(ctx context.Context, deb string, list []wanted, tell progress.Func) error {
	if err := a.tidy(list); err != nil {
		return err
	}
	e := progress.Event{Name: "Debian packages", Step: progress.Downloading}
	for _, w := range list {
		e.Total += w.bytes
	}
	e.Done = a.present(list)
	if err := disk.Require(a.dir, e.Total-e.Done); err != nil {
		return err
	}
	over := make(chan error, 1)
	go func() {
		_, err := output(a.command(ctx, "archives", "--download-only", "install", deb))
		over <- err
	}()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		tell(e)
		select {
		case err := <-over:
			if err == nil {
				e.Step, e.Done = progress.Done, e.Total
				tell(e)
			}
			return errors.Join(context.Cause(ctx), err)
		case <-tick.C:
			e.Done = a.present(list)
		}
	}
}

// present returns how many bytes of the packages have arrived.
func (a *apt) present(list []wanted) (bytes int64) {
	for _, w := range list {
		for _, folder := range []string{"archives", "archives/partial"} {
			if info, err := os.Stat(filepath.Join(a.dir, folder, w.file)); err == nil {
				bytes += info.Size()
				break
			}
		}
	}
	return bytes
}

// tidy deletes packages that are not in the list.
func (a *apt) tidy(list []wanted) error {
	archives := filepath.Join(a.dir, "archives")
	entries, err := os.ReadDir(archives)
	if err != nil {
		return err
	}
	for _, e := range entries {
		needed := slices.ContainsFunc(list, func(w wanted) bool { return w.file == e.Name() })
		if strings.HasSuffix(e.Name(), ".deb") && !needed {
			if err := os.Remove(filepath.Join(archives, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// checked checks every package, since apt-get trusts those that it finds in its folder.
func (a *apt) checked(ctx context.Context, list []wanted) ([]Deb, error) {
	var debs []Deb
	for _, w := range list {
		file := filepath.Join(a.dir, "archives", w.file)
		sum, err := bundle.Hash(ctx, file)
		if err != nil {
			return nil, err
		}
		if sum != w.sha256 {
			return nil, errors.Join(fmt.Errorf("%s is damaged and was deleted: run the command again", w.file),
				os.Remove(file))
		}
		debs = append(debs, Deb{w.name, file})
	}
	return debs, nil
}
