package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/alecthomas/kong"

	"parley/firmware"
)

// packsCmd is parley packs: the models and libraries that the box runs on.
type packsCmd struct {
	List   packsListCmd   `cmd:"" help:"List the packs and how they stand."`
	Pull   packsPullCmd   `cmd:"" help:"Fetch what is missing or damaged."`
	Verify packsVerifyCmd `cmd:"" help:"Check every byte of the packs that are here."`
	Export packsExportCmd `cmd:"" help:"Write packs into one file, for a machine without a network."`
	Import packsImportCmd `cmd:"" help:"Take the packs out of such a file."`
	Add    packsAddCmd    `cmd:"" help:"Add a model of your own: a GGUF file, or a Piper voice with its JSON."`
	Remove packsRemoveCmd `cmd:"" help:"Remove a pack."`

	Packs string `help:"Folder of the packs (default: $PARLEY_PACKS, or packs in $PARLEY_CACHE, or ~/.cache/parley/packs)." placeholder:"DIR" type:"path"`
}

// choose returns the packs that were named, else those of the profile; and
// their folder.
func (c *console) choose(k *kong.Context, names []string, profile string) (dir string, packs []firmware.Pack, err error) {
	cfg, err := c.config(k)
	if err != nil {
		return "", nil, err
	}
	if len(names) > 0 && profile != "" {
		return "", nil, misuse{fmt.Errorf("both packs (%s) and a profile (%s) were named: name one or the other", strings.Join(names, " "), profile)}
	}
	if len(names) > 0 {
		packs, err = firmware.Find(cfg.Packs, names...)
	} else {
		packs, err = firmware.Profile(cfg.Profile)
	}
	if err != nil {
		err = misuse{err}
	}
	return cfg.Packs, packs, err
}

type packsListCmd struct {
	JSON bool `name:"json" help:"Print JSON, with each pack's manifest."`
}

func (packsListCmd) Help() string {
	return "Example:\n  parley packs list\n  parley packs list --json | jq '.[] | select(.status != \"ready\").name'"
}

func (c *packsListCmd) Run(ctx context.Context, k *kong.Context, console *console) error {
	cfg, err := console.config(k)
	if err != nil {
		return err
	}
	states, err := firmware.Verify(ctx, cfg.Packs, append(firmware.Packs(), firmware.Own(cfg.Packs)...), false)
	if err != nil {
		return err
	}
	return console.printStates(states, c.JSON)
}

// packJSON is how list and verify print a pack with --json.
type packJSON struct {
	firmware.Pack
	Bytes  int64           `json:"bytes"`
	Status firmware.Status `json:"status"`
	Why    string          `json:"why,omitempty"`
	Mend   string          `json:"mend,omitempty"`
}

func (c *console) printStates(states []firmware.State, asJSON bool) error {
	if asJSON {
		out := []packJSON{}
		for _, s := range states {
			out = append(out, packJSON{s.Pack, s.Pack.Bytes(), s.Status, s.Why, s.Mend})
		}
		return c.json(out)
	}
	t := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tSTATUS\tMB\tLICENCE\tWHAT IT IS")
	for _, s := range states {
		fmt.Fprintf(t, "%s\t%s\t%.1f\t%s\t%s\n", s.Pack.Name, s.Status, float64(s.Pack.Bytes())/1e6, s.Pack.Licence, s.Pack.Does)
	}
	return t.Flush()
}

type packsPullCmd struct {
	Names   []string `arg:"" optional:"" name:"name" help:"Packs to fetch (default: those of the profile)."`
	Profile string   `help:"Fetch what this profile needs: default, small, test or full." placeholder:"NAME"`
}

func (packsPullCmd) Help() string {
	return "What is there and right is not fetched again; an interrupted pull goes on where it was.\n\nExample:\n  parley packs pull --profile small\n  parley packs pull whisper voice-jenny"
}

func (c *packsPullCmd) Run(ctx context.Context, k *kong.Context, console *console) error {
	dir, packs, err := console.choose(k, c.Names, c.Profile)
	if err != nil {
		return err
	}
	err = withBars(ctx, console.err, func(p firmware.Progress) error { return firmware.Pull(ctx, dir, packs, p) })
	if err == nil {
		fmt.Fprintf(console.err, "ready in %s: %s\n", dir, names(packs))
	}
	return err
}

type packsVerifyCmd struct {
	Names []string `arg:"" optional:"" name:"name" help:"Packs to check (default: those of the profile, and all that are here)."`
	JSON  bool     `name:"json" help:"Print JSON."`
}

func (packsVerifyCmd) Help() string {
	return "Every file is read and its sha256 compared; exits with 1 when a pack is missing or damaged.\n\nExample:\n  parley packs verify\n  parley packs verify llm-qwen --json"
}

func (c *packsVerifyCmd) Run(ctx context.Context, k *kong.Context, console *console) error {
	dir, packs, err := console.choose(k, c.Names, "")
	if err != nil {
		return err
	}
	if len(c.Names) == 0 {
		packs = withPresent(dir, packs)
	}
	states, err := firmware.Verify(ctx, dir, packs, true)
	if err != nil {
		return err
	}
	if err := console.printStates(states, c.JSON); err != nil {
		return err
	}
	bad := &firmware.ErrNotReady{}
	for _, s := range states {
		if s.Status != firmware.Ready {
			bad.States = append(bad.States, s)
		}
	}
	if len(bad.States) > 0 {
		return bad
	}
	return nil
}

// withPresent adds to packs all others whose folder is in dir.
func withPresent(dir string, packs []firmware.Pack) []firmware.Pack {
	have := map[string]bool{}
	for _, p := range packs {
		have[p.Name] = true
	}
	for _, p := range append(firmware.Packs(), firmware.Own(dir)...) {
		if _, err := os.Stat(filepath.Join(dir, p.Name)); err == nil && !have[p.Name] {
			packs = append(packs, p)
		}
	}
	return packs
}

type packsExportCmd struct {
	File    string   `arg:"" help:"File to write, such as packs.tar.zst." type:"path"`
	Names   []string `arg:"" optional:"" name:"name" help:"Packs to take (default: those of the profile)."`
	Profile string   `help:"Take what this profile needs: default, small, test or full." placeholder:"NAME"`
}

func (packsExportCmd) Help() string {
	return "Example:\n  parley packs export packs.tar.zst --profile default\n  (carry the file over)\n  parley packs import packs.tar.zst"
}

func (c *packsExportCmd) Run(ctx context.Context, k *kong.Context, console *console) error {
	dir, packs, err := console.choose(k, c.Names, c.Profile)
	if err != nil {
		return err
	}
	return withBars(ctx, console.err, func(p firmware.Progress) error {
		return firmware.Export(ctx, dir, packs, c.File, p)
	})
}

type packsImportCmd struct {
	File string `arg:"" help:"File that parley packs export wrote." type:"path"`
}

func (packsImportCmd) Help() string {
	return "Every file in it is checked before any is put in place.\n\nExample:\n  parley packs import packs.tar.zst"
}

func (c *packsImportCmd) Run(ctx context.Context, k *kong.Context, console *console) error {
	cfg, err := console.config(k)
	if err != nil {
		return err
	}
	return withBars(ctx, console.err, func(p firmware.Progress) error {
		_, err := firmware.Import(ctx, cfg.Packs, c.File, p)
		return err
	})
}

type packsAddCmd struct {
	Files []string `arg:"" name:"file" help:"A GGUF file, or a Piper voice's ONNX file and its JSON." type:"path"`
	As    string   `required:"" help:"Name of the new pack: 1 to 40 of a-z, 0-9 and -." placeholder:"NAME"`
}

func (packsAddCmd) Help() string {
	return "The model is copied, loaded once to see that it works, and can then be named in the configuration.\n\nExample:\n  parley packs add my-model.gguf --as my-model\n  parley packs add en_GB-cori.onnx en_GB-cori.onnx.json --as voice-cori"
}

func (c *packsAddCmd) Run(ctx context.Context, k *kong.Context, console *console) error {
	cfg, err := console.config(k)
	if err != nil {
		return err
	}
	fmt.Fprintf(console.err, "copying, and loading it once ...\n")
	p, err := firmware.Add(ctx, cfg.Packs, c.Files, c.As, loadsIn(cfg.Packs))
	if err != nil {
		return err
	}
	setting := map[firmware.Kind]string{firmware.Voice: "engines.voice", firmware.LanguageModel: "engines.language_model"}[p.Kind]
	_, err = fmt.Fprintf(console.out, "%s is added as a %s; set %s: %s in parley.yaml to use it\n", p.Name, p.Kind, setting, p.Name)
	return err
}

type packsRemoveCmd struct {
	Name string `arg:"" help:"Pack to remove."`
}

func (packsRemoveCmd) Help() string {
	return "Example:\n  parley packs remove my-model"
}

func (c *packsRemoveCmd) Run(k *kong.Context, console *console) error {
	dir, packs, err := console.choose(k, []string{c.Name}, "")
	if no := (*firmware.ErrNoPack)(nil); errors.As(err, &no) {
		return fmt.Errorf("%w; a folder in %s that is no pack can simply be deleted", err, dir)
	}
	if err != nil {
		return err
	}
	return firmware.Remove(dir, packs[0])
}

func names(packs []firmware.Pack) string {
	var list []string
	for _, p := range packs {
		list = append(list, p.Name)
	}
	return strings.Join(list, ", ")
}
