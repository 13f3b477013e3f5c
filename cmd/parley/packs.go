package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"parley/cmd/parley/terminal"
	"parley/firmware/packs"
	"parley/internal/progress"
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

	Settings kong.Plugins `embed:"" settings:"packs"`
}

// choose returns the packs that were named, else those of the profile; and
// their folder.
func (c *console) choose(k *kong.Context, names []string, profile string) (dir string, chosen []packs.Pack, err error) {
	cfg, err := c.config(k)
	if err != nil {
		return "", nil, err
	}
	if len(names) > 0 && profile != "" {
		return "", nil,
			misuse{fmt.Errorf("both packs (%s) and a profile (%s) were named: name one or the other",
				strings.Join(names, " "), profile)}
	}
	if len(names) > 0 {
		chosen, err = packs.Find(cfg.Packs, names...)
	} else {
		chosen, err = packs.Profile(cfg.Profile)
	}
	if err != nil {
		err = misuse{err}
	}
	return cfg.Packs, chosen, err
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
	states, err := packs.Verify(ctx, cfg.Packs, append(packs.BuiltIn(), packs.Own(cfg.Packs)...), false)
	if err != nil {
		return err
	}
	return console.printStates(states, c.JSON)
}

// packJSON is how list and verify print a pack with --json.
type packJSON struct {
	packs.Pack
	Bytes  int64        `json:"bytes"`
	Status packs.Status `json:"status"`
	Why    string       `json:"why,omitempty"`
	Mend   string       `json:"mend,omitempty"`
}

func (c *console) printStates(states []packs.State, asJSON bool) error {
	if asJSON {
		out := []packJSON{}
		for _, s := range states {
			out = append(out, packJSON{s.Pack, s.Pack.Bytes(), s.Status, s.Why, s.Mend})
		}
		return c.json(out)
	}
	t := &terminal.Table{Head: []string{"NAME", "STATUS", "MB", "LICENCE", "WHAT IT IS"}}
	for _, s := range states {
		t.Add(s.Pack.Name, string(s.Status), fmt.Sprintf("%.1f", float64(s.Pack.Bytes())/1e6), s.Pack.Licence,
			s.Pack.Does)
	}
	return c.table(t)
}

type packsPullCmd struct {
	Names   []string `arg:"" optional:"" name:"name" help:"Packs to fetch (default: those of the profile)."`
	Profile string   `help:"Fetch what this profile needs: ${profiles}." placeholder:"NAME" setting:"profile"`
}

func (packsPullCmd) Help() string {
	return "What is there and right is not fetched again; an interrupted pull goes on where it was.\n\nExample:\n  " +
		"parley packs pull --profile small\n  parley packs pull whisper voice-jenny"
}

func (c *packsPullCmd) Run(ctx context.Context, k *kong.Context, console *console) error {
	dir, chosen, err := console.choose(k, c.Names, c.Profile)
	if err != nil {
		return err
	}
	err = withBars(ctx, console.err, func(p progress.Func) error { return packs.Pull(ctx, dir, chosen, p) })
	if err != nil {
		return brokenOff(ctx, err, readyOf(dir, chosen), c.again()+" goes on from there")
	}
	fmt.Fprintf(console.err, "ready in %s: %s\n", dir, names(chosen))
	return nil
}

// again is the command that was given.
func (c *packsPullCmd) again() string {
	command := append([]string{"parley packs pull"}, c.Names...)
	if c.Profile != "" {
		command = append(command, "--profile", c.Profile)
	}
	return strings.Join(command, " ")
}

// readyOf says how many of the chosen packs are ready after a pull that was
// broken off.
func readyOf(dir string, chosen []packs.Pack) string {
	missing, err := packs.Missing(context.Background(), dir, chosen)
	if err != nil {
		return "what has arrived is kept"
	}
	return fmt.Sprintf("%d of %d packs are ready, and what has arrived of the others is kept", len(chosen)-len(missing),
		len(chosen))
}

// brokenOff is err; or, when a signal came, what is kept and how to go on.
func brokenOff(ctx context.Context, err error, kept, next string) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	return interrupted{kept: kept, next: next}
}

type packsVerifyCmd struct {
	Names []string `arg:"" optional:"" name:"name" help:"Packs to check (default: those of the profile, and all that are here)."`
	JSON  bool     `name:"json" help:"Print JSON."`
}

func (packsVerifyCmd) Help() string {
	return "Every file is read and its sha256 compared; exits with 1 when a pack is missing or damaged.\n\nExample:\n" +
		"  parley packs verify\n  parley packs verify llm-qwen --json"
}

func (c *packsVerifyCmd) Run(ctx context.Context, k *kong.Context, console *console) error {
	dir, chosen, err := console.choose(k, c.Names, "")
	if err != nil {
		return err
	}
	if len(c.Names) == 0 {
		chosen = withPresent(dir, chosen)
	}
	states, err := packs.Verify(ctx, dir, chosen, true)
	if err != nil {
		return brokenOff(ctx, err, "the packs are as they were", "")
	}
	if err := console.printStates(states, c.JSON); err != nil {
		return err
	}
	bad := &packs.ErrNotReady{Dir: dir}
	for _, s := range states {
		if s.Status != packs.Ready {
			bad.States = append(bad.States, s)
		}
	}
	if len(bad.States) > 0 {
		return bad
	}
	return nil
}

// withPresent adds to chosen all other packs whose folder is in dir.
func withPresent(dir string, chosen []packs.Pack) []packs.Pack {
	have := map[string]bool{}
	for _, p := range chosen {
		have[p.Name] = true
	}
	for _, p := range append(packs.BuiltIn(), packs.Own(dir)...) {
		if _, err := os.Stat(filepath.Join(dir, p.Name)); err == nil && !have[p.Name] {
			chosen = append(chosen, p)
		}
	}
	return chosen
}

type packsExportCmd struct {
	File    string   `arg:"" help:"File to write, such as packs.tar.zst." type:"path"`
	Names   []string `arg:"" optional:"" name:"name" help:"Packs to take (default: those of the profile)."`
	Profile string   `help:"Take what this profile needs: ${profiles}." placeholder:"NAME" setting:"profile"`
}

func (packsExportCmd) Help() string {
	return "Example:\n  parley packs export packs.tar.zst --profile default\n  (carry the file over)\n  parley packs " +
		"import packs.tar.zst"
}

func (c *packsExportCmd) Run(ctx context.Context, k *kong.Context, console *console) error {
	dir, chosen, err := console.choose(k, c.Names, c.Profile)
	if err != nil {
		return err
	}
	err = withBars(ctx, console.err, func(p progress.Func) error {
		return packs.Export(ctx, dir, chosen, c.File, p)
	})
	return brokenOff(ctx, err, c.File+" was not written", "run the command again")
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
	err = withBars(ctx, console.err, func(p progress.Func) error {
		_, err := packs.Import(ctx, cfg.Packs, c.File, p)
		return err
	})
	return brokenOff(ctx, err, "the packs are as they were", "run the command again")
}

type packsAddCmd struct {
	Files []string `arg:"" name:"file" help:"A GGUF file, or a Piper voice's ONNX file and its JSON." type:"path"`
	As    string   `required:"" help:"Name of the new pack: 1 to 40 of a-z, 0-9 and -." placeholder:"NAME"`
	Yes   bool     `short:"y" help:"Add a language model also where it has no chat template, and ask nothing."`
}

func (packsAddCmd) Help() string {
	return "The model is copied, loaded once to see that it works, and can then be named in the configuration. A " +
		"GGUF file without a chat template is a base model, which was taught no conversations: it is added only " +
		"where that is wanted.\n\nExample:\n  parley packs add my-model.gguf --as my-model\n  parley packs add " +
		"en_GB-cori.onnx en_GB-cori.onnx.json --as voice-cori"
}

func (c *packsAddCmd) Run(ctx context.Context, k *kong.Context, console *console) error {
	cfg, err := console.config(k)
	if err != nil {
		return err
	}
	fmt.Fprintf(console.err, "copying, and loading it once ...\n")
	p, err := packs.Add(ctx, cfg.Packs, c.Files, c.As, loadsIn(cfg.Packs, func() error { return c.baseModel(console) }))
	if err != nil {
		return brokenOff(ctx, err, "nothing was added", "run the command again")
	}
	setting := map[packs.Kind]string{packs.Voice: "engines.voice",
		packs.LanguageModel: "engines.language_model"}[p.Kind]
	_, err = fmt.Fprintf(console.out, "%s is added as a %s; set %s: %s in parley.yaml to use it\n", p.Name, p.Kind,
		setting, p.Name)
	return err
}

// baseModel asks whether to add a model without a chat template; nil: yes.
func (c *packsAddCmd) baseModel(console *console) error {
	fmt.Fprintln(console.err, "This model has no chat template: it is a base model, which goes on with texts and was "+
		"taught no conversations.\n"+
		"It would be given them as ChatML, and may answer badly or invent turns. An instruct or chat version of it "+
		"answers better.")
	if c.Yes {
		return nil
	}
	yes, err := console.confirm("Add it all the same?", "--yes, or a model with a chat template")
	if err == nil && !yes {
		err = errors.New("it has no chat template, and was not added")
	}
	return err
}

type packsRemoveCmd struct {
	Name string `arg:"" help:"Pack to remove."`
}

func (packsRemoveCmd) Help() string {
	return "Example:\n  parley packs remove my-model"
}

func (c *packsRemoveCmd) Run(k *kong.Context, console *console) error {
	dir, chosen, err := console.choose(k, []string{c.Name}, "")
	if no := (*packs.ErrNoPack)(nil); errors.As(err, &no) {
		return fmt.Errorf("%w; a folder in %s that is no pack can simply be deleted", err, dir)
	}
	if err != nil {
		return err
	}
	return packs.Remove(dir, chosen[0])
}

func names(chosen []packs.Pack) string {
	var list []string
	for _, p := range chosen {
		list = append(list, p.Name)
	}
	return strings.Join(list, ", ")
}
