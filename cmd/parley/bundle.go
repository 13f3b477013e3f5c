package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"parley/appliance/config"
	"parley/appliance/engines"
	"parley/firmware/packs"
	"parley/firmware/release"
	"parley/firmware/release/debian"
	"parley/firmware/update"
	"parley/internal/durable"
	"parley/internal/progress"
	"parley/internal/signing"
	"parley/internal/version"
	"parley/store"
)

// bundleCmd is parley bundle: a file that turns a machine without a network into a box.
type bundleCmd struct {
	Create  bundleCreateCmd  `cmd:"" default:"withargs" help:"Write package, models and Debian packages into FILE."`
	Install bundleInstallCmd `cmd:"" help:"Install from such a file."`
}

type bundleCreateCmd struct {
	File     string `arg:"" type:"path" predictor:"file" help:"File to write, such as parley.sh."`
	Package  string `placeholder:"DEB" type:"path" predictor:"file" help:"Package of Parley (the installed one)."`
	Profile  string `help:"Include the models of this profile: ${profiles}." placeholder:"NAME" setting:"profile"`
	Suite    string `placeholder:"NAME" help:"Debian of the other machine: bookworm or trixie (this machine's)."`
	Key      string `placeholder:"FILE" type:"path" predictor:"file" help:"Sign with this private key (PEM, PKCS #8)."`
	NoPacks  bool   `help:"Leave the models out, for a machine that has them."`
	NoDebian bool   `help:"Leave Debian's packages out, for a machine that has them."`

	Settings kong.Plugins `embed:"" settings:"packs"`
}

func (bundleCreateCmd) Help() string {
	return `Examples:

  sudo parley bundle parley.sh

  parley bundle parley.sh --package dist/parley-box_0.1.0_amd64.deb --key ~/.config/parley/release.key

  parley bundle create parley.sh --package parley-box_0.1.0_amd64.deb --profile small --suite trixie

On the other machine, sudo sh parley.sh installs it. The file has the models of the profile, those that the settings ` +
		`name and those of your own, and every Debian package that a minimal Debian lacks. apt-get downloads those ` +
		`from the sources of this machine, which must be a Debian. parley update installs a signed file on a box ` +
		`that runs.`
}

// Run writes the release file.
func (cmd *bundleCreateCmd) Run(ctx context.Context, cfg config.Config, c *console) error {
	cache, err := cacheFolder()
	if err == nil {
		err = os.MkdirAll(cache, 0o755)
	}
	if err != nil {
		return err
	}
	stage, err := durable.NewStage(cache, "bundle-")
	if err != nil {
		return err
	}
	defer func() { _ = stage.Remove() }() // or the next run does
	if cmd.Package == "" {
		if cmd.Package, err = update.Repack(ctx, stage.Path); err != nil {
			return fmt.Errorf("%w: pass --package FILE; make deb makes the package", err)
		}
	}
	m, err := cmd.manifest(ctx)
	if err != nil {
		return err
	}
	var key ed25519.PrivateKey
	if cmd.Key != "" {
		if key, err = signing.ReadPrivate(cmd.Key); err != nil {
			return err
		}
	}
	err = withBars(ctx, c.err, func(p progress.Func) error { return cmd.write(ctx, cfg, stage.Path, &m, key, p) })
	if err != nil {
		return orInterrupted(ctx, err, cmd.File+" was not written", "run the command again")
	}
	return c.printBundle(cmd.File)
}

// manifest describes the file, from its package and this program, which must be of one
// version: a program knows only the models and the database of its own.
func (cmd *bundleCreateCmd) manifest(ctx context.Context) (release.Manifest, error) {
	here, err := debian.ThisMachine(ctx)
	if err != nil {
		return release.Manifest{}, err
	}
	control, err := debian.ReadControl(ctx, cmd.Package)
	if err != nil {
		return release.Manifest{}, err
	}
	if cmd.Suite == "" {
		cmd.Suite = here.Suite
	}
	schema, err := store.NewestSchema()
	m := release.Manifest{
		Version: version.String(),
		Arch:    control.Architecture,
		Suite:   cmd.Suite,
		Schema:  schema,
		MadeMS:  control.Made.UnixMilli(),
		Commit:  version.Commit(),
	}
	debianVersion := strings.Replace(m.Version, "-", "~", 1)
	switch {
	case control.Package != "parley-box" || control.Version != debianVersion:
		err = fmt.Errorf("%s is the package %s %s, and this Parley makes files of parley-box %s: use the program "+
			"in the package", cmd.Package, control.Package, control.Version, debianVersion)
	case m.Arch != here.Arch && !cmd.NoPacks:
		err = misuse{fmt.Errorf("the package is for %s, and this machine has only models for %s: pass --no-packs, and "+
			"make a file of the models on such a machine with parley packs pull --export", m.Arch, here.Arch)}
	case m.Suite == "":
		err = misuse{errors.New("this machine has no Debian: pass --suite bookworm or --suite trixie, and --no-debian")}
	}
	return m, err
}

// write gathers the parts in a temporary folder of the cache and writes the file.
func (cmd *bundleCreateCmd) write(ctx context.Context, cfg config.Config, stage string, m *release.Manifest,
	key ed25519.PrivateKey, tell progress.Func) (err error) {
	sources := []release.Source{{Name: release.PackageName(m.Version, m.Arch), Path: cmd.Package}}
	if !cmd.NoPacks {
		m.Profile = cfg.Profile
		file := filepath.Join(stage, release.PacksName)
		if m.PacksBytes, err = cmd.exportPacks(ctx, cfg, file, tell); err != nil {
			return err
		}
		sources = append(sources, release.Source{Name: release.PacksName, Path: file})
	}
	var debs []debian.Deb
	if !cmd.NoDebian {
		to := debian.Machine{Suite: m.Suite, Arch: m.Arch}
		cache := filepath.Join(filepath.Dir(stage), "debian")
		if debs, err = debian.Fetch(ctx, cmd.Package, to, cache, tell); err != nil {
			return err
		}
	}
	index := filepath.Join(stage, "Packages")
	if err := writeIndex(ctx, index, sources[0], debs); err != nil {
		return err
	}
	sources = append(sources, release.Source{Name: release.IndexName, Path: index})
	if len(debs) > 0 {
		text, err := debian.Sources(ctx, m.Suite, debs)
		if err != nil {
			return err
		}
		note := filepath.Join(stage, "SOURCES.txt")
		if err := os.WriteFile(note, text, 0o644); err != nil {
			return err
		}
		sources = append(sources, release.Source{Name: release.SourcesName, Path: note})
	}
	for _, d := range debs {
		sources = append(sources, release.Source{Name: "debian/" + d.Name, Path: d.Path})
	}
	return release.Write(ctx, cmd.File, *m, sources, key, tell)
}

// cacheFolder returns the folder of all that can be fetched again.
func cacheFolder() (string, error) {
	if folder := os.Getenv("PARLEY_CACHE"); folder != "" {
		return folder, nil
	}
	folder, err := os.UserCacheDir()
	return filepath.Join(folder, "parley"), err
}

// exportPacks writes the packs of the profile, those that the settings name and those that
// the operator added into one file. It returns their size when installed.
func (cmd *bundleCreateCmd) exportPacks(ctx context.Context, cfg config.Config, file string,
	tell progress.Func) (bytes int64, err error) {
	chosen, err := packs.Profile(cfg.Profile)
	if err != nil {
		return 0, misuse{err}
	}
	needed, err := packs.Find(cfg.Packs, engines.Needs(cfg)...)
	if err != nil {
		return 0, err
	}
	var carried []packs.Pack
	seen := map[string]bool{}
	for _, p := range append(append(chosen, needed...), packs.Custom(cfg.Packs)...) {
		if !seen[p.Name] && p.System == nil {
			carried = append(carried, p)
			bytes += p.Bytes()
		}
		seen[p.Name] = true
	}
	return bytes, packs.Export(ctx, cfg.Packs, carried, file, tell)
}

// writeIndex writes the index of the apt repository that the file is.
func writeIndex(ctx context.Context, file string, box release.Source, debs []debian.Deb) error {
	all := []debian.Deb{{Name: box.Name, Path: box.Path}}
	for _, d := range debs {
		all = append(all, debian.Deb{Name: "debian/" + d.Name, Path: d.Path})
	}
	text, err := debian.Index(ctx, all)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

func (c *console) printBundle(file string) error {
	f, err := release.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	m := f.Manifest
	signed := "not signed, so parley update refuses it: --key FILE signs it"
	if s, ok := f.Signer(); ok {
		signed = "signed by " + string(s)
	}
	debs := len(m.Files) - 2
	if _, has := m.Part(release.PacksName); has {
		debs--
	}
	_, err = fmt.Fprintf(c.out, "%s: Parley %s for %s (%s), %.1f MB, with %.1f MB of models and %d Debian packages; "+
		"%s\n", file, m.Version, m.Suite, m.Arch, megabytes(m.Bytes()), megabytes(m.PacksBytes), debs, signed)
	return err
}

type bundleInstallCmd struct {
	File string `arg:"" type:"path" predictor:"file" help:"File of parley bundle."`
}

func (bundleInstallCmd) Help() string {
	return `Example:

  sudo parley bundle install parley.sh

It does what sudo sh parley.sh does, and before that checks the signature, if this machine has a key of who makes ` +
		`the files: in ` + release.KeyFile + `, or in ` + release.OperatorKeys + `.`
}

// Run checks the signature and runs the file's script.
func (cmd *bundleInstallCmd) Run(ctx context.Context, c *console) error {
	f, err := release.Open(cmd.File)
	if err != nil {
		return err
	}
	defer f.Close()
	keys, err := release.TrustedKeys("/")
	if err != nil {
		return err
	}
	if len(keys) > 0 {
		if _, err := f.Verify(keys); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(c.err, "The signature was not checked: there is no key in %s or %s.\n", release.KeyFile,
			release.OperatorKeys)
	}
	// The script and the manifest that were read and checked, not what the file has by now.
	sh := exec.CommandContext(ctx, "sh", "-c", f.Script(), cmd.File)
	sh.Env = append(os.Environ(), f.Environ())
	sh.Stdin, sh.Stdout, sh.Stderr = c.in, c.out, c.err
	sh.Cancel = func() error { return sh.Process.Signal(syscall.SIGTERM) } // it ends when apt-get has
	if err := sh.Run(); err != nil {
		err = fmt.Errorf("%s was not installed: %w", cmd.File, err)
		return orInterrupted(ctx, err, "the installation is incomplete", "run the command again")
	}
	return nil
}
