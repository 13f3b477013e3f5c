package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"parley/appliance/config"
	"parley/firmware/packs"
	"parley/firmware/release"
	"parley/internal/progress"
)

// packsCmd is parley packs: the models and libraries that the box needs.
type packsCmd struct {
	List   packsListCmd   `cmd:"" help:"List the packs and their state, or check every byte of them."`
	Pull   packsPullCmd   `cmd:"" help:"Fetch missing or damaged packs, or export packs to a file."`
	Add    packsAddCmd    `cmd:"" help:"Add a model of your own, or the packs of an exported file."`
	Remove packsRemoveCmd `cmd:"" help:"Remove a pack."`

	Settings kong.Plugins `embed:"" settings:"packs"`
}

// choosePacks returns the named packs, or those of the profile.
func choosePacks(cfg config.Config, names []string, profile string) ([]packs.Pack, error) {
	var chosen []packs.Pack
	var err error
	switch {
	case len(names) > 0 && profile != "":
		err = fmt.Errorf("packs (%s) and --profile %s exclude each other: give one of them",
			strings.Join(names, " "), profile)
	case len(names) > 0:
		chosen, err = packs.Find(cfg.Packs, names...)
	default:
		chosen, err = packs.Profile(cfg.Profile)
	}
	if err != nil {
		err = misuse{err}
	}
	return chosen, err
}

type packsListCmd struct {
	Names  []string `arg:"" optional:"" name:"name" predictor:"pack" help:"Only these."`
	Verify bool     `help:"Compare the sha256 of every file of these packs (the profile's and all others here)."`
	JSON   bool     `name:"json" help:"Print JSON, with each pack's manifest."`
}

func (packsListCmd) Help() string {
	return `Examples:

  parley packs list

  parley packs list --json | jq '.[] | select(.status != "ready").name'

  parley packs list --verify

With --verify it exits with 1 if a pack is missing or damaged.`
}

// Run lists the packs.
func (cmd *packsListCmd) Run(ctx context.Context, cfg config.Config, c *console) error {
	chosen := append(packs.BuiltIn(), packs.Custom(cfg.Packs)...)
	var err error
	if cmd.Verify || len(cmd.Names) > 0 {
		chosen, err = choosePacks(cfg, cmd.Names, "")
	}
	if err != nil {
		return err
	}
	if cmd.Verify && len(cmd.Names) == 0 {
		chosen = withPresent(cfg.Packs, chosen)
	}
	states, err := packs.Verify(ctx, cfg.Packs, chosen, cmd.Verify)
	if err != nil {
		return orInterrupted(ctx, err, "the packs are as they were", "")
	}
	bad := &packs.ErrNotReady{Dir: cfg.Packs}
	var all []packJSON
	for _, s := range states {
		all = append(all, packJSON{s.Pack, s.Pack.Bytes(), s.Status, s.Why, s.Mend})
		if s.Status != packs.Ready {
			bad.States = append(bad.States, s)
		}
	}
	err = list(c, cmd.JSON, all, []string{"NAME", "STATUS", "MB", "LICENCE", "WHAT IT IS"}, func(p packJSON) []string {
		return []string{p.Name, string(p.Status), fmt.Sprintf("%.1f", megabytes(p.Bytes)), p.Licence, p.Summary}
	})
	if err == nil && cmd.Verify && len(bad.States) > 0 {
		return bad
	}
	return err
}

// packJSON is a pack of a list, as --json prints it.
type packJSON struct {
	packs.Pack
	Bytes  int64        `json:"bytes"`
	Status packs.Status `json:"status"`
	Why    string       `json:"why,omitempty"`
	Mend   string       `json:"mend,omitempty"`
}

// withPresent adds to chosen all other packs that have a folder in dir.
func withPresent(dir string, chosen []packs.Pack) []packs.Pack {
	have := map[string]bool{}
	for _, p := range chosen {
		have[p.Name] = true
	}
	for _, p := range append(packs.BuiltIn(), packs.Custom(dir)...) {
		if _, err := os.Stat(filepath.Join(dir, p.Name)); err == nil && !have[p.Name] {
			chosen = append(chosen, p)
		}
	}
	return chosen
}

type packsPullCmd struct {
	Names   []string `arg:"" optional:"" name:"name" predictor:"pack" help:"Packs to fetch (those of the profile)."`
	Profile string   `help:"Fetch what this profile needs: ${profiles}." placeholder:"NAME" setting:"profile"`
	Export  string   `placeholder:"FILE" type:"path" predictor:"file" help:"Fetch nothing: write these packs to FILE."`
}

func (packsPullCmd) Help() string {
	return `It fetches only what is missing or damaged, and continues an interrupted pull.

Examples:

  parley packs pull --profile small

  parley packs pull whisper voice-jenny

  parley packs pull --export packs.tar.zst --profile default

On a machine without a network, parley packs add packs.tar.zst imports the packs of such a file.`
}

// Run fetches or exports packs.
func (cmd *packsPullCmd) Run(ctx context.Context, cfg config.Config, c *console) error {
	chosen, err := choosePacks(cfg, cmd.Names, cmd.Profile)
	if err != nil {
		return err
	}
	if cmd.Export != "" {
		err = withBars(ctx, c.err, func(p progress.Func) error {
			return packs.Export(ctx, cfg.Packs, chosen, cmd.Export, p)
		})
		return orInterrupted(ctx, err, cmd.Export+" was not written", "run the command again")
	}
	if err := c.pullAsOwner(ctx, cfg, chosen); err != nil {
		return err
	}
	err = withBars(ctx, c.err, func(p progress.Func) error { return packs.Pull(ctx, cfg.Packs, chosen, p) })
	if err != nil {
		return orInterrupted(ctx, err, readyCount(cfg.Packs, chosen), cmd.again()+" continues from there")
	}
	var names []string
	for _, p := range chosen {
		names = append(names, p.Name)
	}
	fmt.Fprintf(c.err, "ready in %s: %s\n", cfg.Packs, strings.Join(names, ", "))
	return nil
}

// again returns the command line.
func (cmd *packsPullCmd) again() string {
	command := append([]string{"parley packs pull"}, cmd.Names...)
	if cmd.Profile != "" {
		command = append(command, "--profile", cmd.Profile)
	}
	return strings.Join(command, " ")
}

// readyCount says how many of the chosen packs are ready after an interrupted pull.
func readyCount(dir string, chosen []packs.Pack) string {
	missing, err := packs.Missing(context.Background(), dir, chosen)
	if err != nil {
		return "what was fetched stays"
	}
	return fmt.Sprintf("%d of %d packs are ready, and what was fetched of the others stays", len(chosen)-len(missing),
		len(chosen))
}

// orInterrupted returns err or, after a signal, an interrupted error with the state and
// the next command.
func orInterrupted(ctx context.Context, err error, state, next string) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	return interrupted{state: state, next: next}
}

type packsAddCmd struct {
	Files []string `arg:"" name:"file" type:"path" predictor:"file" help:"Model (GGUF; ONNX and JSON), or export."`
	As    string   `placeholder:"NAME" help:"Name of the new pack: 1 to 40 of a-z, 0-9 and -."`
	Yes   bool     `short:"y" help:"Ask nothing; add a model without a chat template too."`
}

func (packsAddCmd) Help() string {
	return `Examples:

  parley packs add my-model.gguf --as my-model

  parley packs add en_GB-cori.onnx en_GB-cori.onnx.json --as voice-cori

  parley packs add packs.tar.zst

It copies a model (a GGUF file, or the ONNX file of a Piper voice and its JSON) and loads it once to check that it ` +
		`works. Then the settings can name it. A GGUF file without a chat template is a base model, which was not ` +
		`trained on conversations: parley asks before it adds one. A file of parley packs pull --export or ` +
		`parley bundle is checked as a whole before any pack of it is installed.`
}

// Run adds a model, or the packs of an export.
func (cmd *packsAddCmd) Run(ctx context.Context, cfg config.Config, c *console) error {
	if cmd.As == "" {
		if err := c.runAsOwnerWith(cfg, cmd.Files[0], os.O_RDONLY); err != nil {
			return err
		}
		return cmd.carried(ctx, cfg, c)
	}
	if err := runAsOwner(cfg, c.environ, cmd.Files...); err != nil {
		return err
	}
	fmt.Fprintf(c.err, "copying the model, and loading it once ...\n")
	check := loadCheck(cfg.Packs, func() error { return cmd.baseModel(c) })
	p, err := packs.Add(ctx, cfg.Packs, cmd.Files, cmd.As, check)
	if err != nil {
		return orInterrupted(ctx, err, "nothing was added", "run the command again")
	}
	setting := map[packs.Kind]string{packs.Voice: "engines.voice",
		packs.LanguageModel: "engines.language_model"}[p.Kind]
	_, err = fmt.Fprintf(c.out, "%s is added as a %s. To use it, set %s: %s in parley.yaml.\n", p.Name, p.Kind,
		setting, p.Name)
	return err
}

// carried imports the packs of an exported file.
func (cmd *packsAddCmd) carried(ctx context.Context, cfg config.Config, c *console) error {
	in := c.in
	if cmd.Files[0] != "-" {
		f := c.opened
		if f == nil {
			var err error
			if f, err = os.Open(cmd.Files[0]); err != nil {
				return err
			}
		}
		defer f.Close()
		in = f
	}
	exported, err := openExport(in)
	if err == nil && (exported == nil || len(cmd.Files) > 1) {
		err = misuse{errors.New("a model needs a name: pass --as NAME")}
	}
	if err != nil {
		return err
	}
	err = withBars(ctx, c.err, func(p progress.Func) error {
		_, err := packs.ImportFrom(ctx, cfg.Packs, exported, p)
		if err != nil {
			err = fmt.Errorf("%s: %w", cmd.Files[0], err)
		}
		return err
	})
	return orInterrupted(ctx, err, "the packs are as they were", "run the command again")
}

// openExport returns the exported packs of a file: the file itself, or the packs of a
// release file. It returns nil for another kind of file.
func openExport(in io.Reader) (io.Reader, error) {
	if file, ok := in.(*os.File); ok && release.Begins(file) {
		f, err := release.Read(file)
		if err != nil {
			return nil, err
		}
		if err := f.CheckEnviron(os.Environ()); err != nil {
			return nil, err
		}
		return f.Part(release.PacksName)
	}
	b := bufio.NewReader(in)
	magic, _ := b.Peek(4)                                    // a shorter file is not an export
	if !bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}) { // RFC 8878, 3.1.1
		return nil, nil
	}
	return b, nil
}

// baseModel asks whether to add a model without a chat template; nil means yes.
func (cmd *packsAddCmd) baseModel(c *console) error {
	fmt.Fprintln(c.err, "This model has no chat template: it is a base model, which continues texts and was not "+
		"trained on conversations.\n"+
		"It would get them as ChatML, and may answer badly or invent turns. "+
		"An instruct or chat version answers better.")
	if cmd.Yes {
		return nil
	}
	yes, err := c.confirm("Add it anyway?", "--yes, or a model with a chat template")
	if err == nil && !yes {
		err = errors.New("the model has no chat template, and was not added")
	}
	return err
}

type packsRemoveCmd struct {
	Name string `arg:"" predictor:"pack" help:"Pack to remove."`
}

func (packsRemoveCmd) Help() string { return "Example:\n\n  parley packs remove my-model" }

// Run removes the pack.
func (cmd *packsRemoveCmd) Run(cfg config.Config, c *console) error {
	if err := runAsOwner(cfg, c.environ); err != nil {
		return err
	}
	chosen, err := packs.Find(cfg.Packs, cmd.Name)
	if is[*packs.ErrNoPack](err) {
		return fmt.Errorf("%w; delete a folder in %s that is not a pack by hand", err, cfg.Packs)
	}
	if err != nil {
		return err
	}
	return packs.Remove(cfg.Packs, chosen[0])
}
