package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"parley/appliance/answers/sheet"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/store"
)

// answersCmd manages the approved answers of a config, on a running box.
type answersCmd struct {
	boxFlags

	Import answersImportCmd `cmd:"" help:"Replace the approved answers of a config by those of a sheet (CSV)."`
	Export answersExportCmd `cmd:"" help:"Write the approved answers of a config to a sheet (CSV)."`
	Try    answersTryCmd    `cmd:"" help:"Show which approved answer a question gets, and why."`
	Report answersReportCmd `cmd:"" help:"Show how often answers were given, and what was not answered."`

	Account string `placeholder:"NAME" predictor:"account" help:"Account of the config (default)."`
	Listen  string `hidden:"" setting:"listen"`

	// Flags has no --config, which names the config of the conversation here.
	Flags kong.Plugins `embed:"" settings:"data"`
}

// answersKeyLife is when the temporary key expires, in case the command is killed: the longest
// of the commands waits answersPatience.
const answersKeyLife = time.Hour

const configsPath = "/v0/evi/configs"

// answersBox is a box, asked about configs and their approved answers.
type answersBox struct{ apiBox }

// with calls do with the box, and closes it.
func (cmd *answersCmd) with(ctx context.Context, cfg config.Config, do func(answersBox) error) error {
	box, closeBox, err := cmd.open(ctx, cfg, temporaryKey{
		account: cmd.Account,
		label:   "parley answers",
		life:    answersKeyLife,
		role:    store.OperatorKey,
	})
	if err != nil {
		return err
	}
	return errors.Join(do(answersBox{box}), closeBox())
}

// config returns the newest version of the config with a name or an id.
func (b answersBox) config(ctx context.Context, name string) (found contract.ReturnConfig, err error) {
	all, err := b.configs(ctx, "?"+url.Values{"name": {name}}.Encode())
	if err == nil && len(all) == 0 && url.PathEscape(name) == name {
		all, err = b.configs(ctx, "/"+name+"?page_size=1")
	}
	switch {
	case isMissing(err) || err == nil && len(all) == 0:
		return found, b.noConfig(ctx, name)
	case err != nil:
		return found, err
	case len(all) > 1:
		var ids []string
		for _, c := range all {
			ids = append(ids, c.ID)
		}
		return found, misuse{fmt.Errorf("several configs have the name %q: give one of the ids %s", name,
			strings.Join(ids, ", "))}
	}
	// A page may leave out answers.
	path := fmt.Sprintf("%s/%s/version/%d", configsPath, all[0].ID, all[0].Version)
	err = b.request(ctx, http.MethodGet, path, nil, &found)
	return found, err
}

// configs returns a page of configs.
func (b answersBox) configs(ctx context.Context, query string) ([]contract.ReturnConfig, error) {
	var page contract.ReturnPagedConfigs
	err := b.request(ctx, http.MethodGet, configsPath+query, nil, &page)
	return page.ConfigsPage, err
}

// noConfig returns the error for a config that is not there. It names those that are.
func (b answersBox) noConfig(ctx context.Context, name string) error {
	all, err := b.configs(ctx, "?page_size=20")
	if err != nil {
		return err
	}
	var names []string
	for _, c := range all {
		names = append(names, c.Name)
	}
	are := "the account has none yet: the console makes one, or POST " + configsPath
	if len(names) > 0 {
		are = "there are " + strings.Join(names, ", ")
	}
	return misuse{fmt.Errorf("there is no config %.80q; %s", name, are)}
}

func noAnswers(c contract.ReturnConfig) error {
	return fmt.Errorf("the config %q has no approved answers: parley answers import gives it some", c.Name)
}

// readSheet reads a sheet from a file, or standard input for -. Warnings are printed; of several
// problems, each is printed on a line of its own.
func (c *console) readSheet(name string) ([]contract.AnswerItem, error) {
	const most = 64 << 20 // a sheet with all that is allowed has 24 MB, and twice as much in UTF-16
	in := c.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, misuse{err}
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return nil, misuse{fmt.Errorf("%s is a folder: name a CSV file in it", name)}
		}
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, most))
	if err != nil {
		return nil, err
	}
	items, warnings, err := sheet.Read(data)
	for _, w := range warnings {
		fmt.Fprintf(c.err, "%s: %s\n", name, w)
	}
	if all, ok := errors.AsType[sheet.Problems](err); ok && len(all) > 1 {
		fmt.Fprintln(c.err, all)
		return nil, misuse{fmt.Errorf("%s has %d problems, and nothing was changed", name, len(all))}
	}
	if err != nil {
		return nil, misuse{fmt.Errorf("%s: %w", name, err)}
	}
	if len(items) == 0 {
		return nil, misuse{fmt.Errorf("%s has no answers: below the columns id, ask and say, write a row for each "+
			"way to ask", name)}
	}
	return items, nil
}

type answersExportCmd struct {
	Chat string `name:"config" required:"" placeholder:"NAME" help:"Id or name of the config."`
	Out  string `short:"o" placeholder:"FILE" predictor:"file" default:"-" help:"File to write (standard output)."`
}

func (answersExportCmd) Help() string {
	return `Examples:

  parley answers export --config Museum -o museum.csv

  parley answers export --config Museum | column -s, -t

The sheet has the columns id, ask and say. parley answers import reads it again. A cell that a spreadsheet would ` +
		`take for a formula has an apostrophe in front.`
}

// Run writes the sheet.
func (cmd *answersExportCmd) Run(ctx context.Context, c *console, cfg config.Config, all *answersCmd) error {
	return all.with(ctx, cfg, func(b answersBox) error {
		config, err := b.config(ctx, cmd.Chat)
		if err != nil {
			return err
		}
		if config.Answers == nil {
			return noAnswers(config)
		}
		return c.writeFile(cmp.Or(cmd.Out, "-"), func(w io.Writer) error {
			return sheet.Write(w, config.Answers.Items)
		})
	})
}

// writeFile writes a file, or standard output for -.
func (c *console) writeFile(name string, write func(io.Writer) error) error {
	if name == "-" {
		return write(c.out)
	}
	f, err := os.Create(name)
	if err != nil {
		return misuse{err}
	}
	return errors.Join(write(f), f.Close())
}
