package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/alecthomas/kong"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/voices"
	"parley/cmd/parley/terminal"
	"parley/store"
)

type voicesAliasCmd struct {
	Old    string `arg:"" optional:"" help:"Name or id that programs ask for; without it, all are listed."`
	New    string `arg:"" optional:"" help:"Voice that stands in for it: of the library, or one that accounts have saved."`
	Remove bool   `help:"Forget the alias of OLD."`
}

// Help shows the command in use.
func (voicesAliasCmd) Help() string {
	return `Examples:

  parley voices alias

  parley voices alias "Gazza" joe

  parley voices alias 8115ee9a-2d6d-4204-b60b-72e67c3d1b3e "Old sailor"

  parley voices alias "Gazza" --remove

It holds at once, also in a box that runs, and for all accounts. The voices of the cloud library (Ava Song, Ito …) ` +
		`have a stand-in that is built in; an alias of the same name goes before it.`
}

// Run lists the aliases, or changes one.
func (cmd *voicesAliasCmd) Run(ctx context.Context, c *console, parsed *kong.Context, v *voicesCmd) error {
	if cmd.Remove != (cmd.Old != "" && cmd.New == "") {
		return misuse{errors.New("voices: which voice is to stand in? " +
			"Give OLD and NEW, or OLD and --remove; parley voices alias lists all")}
	}
	cfg, err := c.config(parsed)
	if err != nil {
		return err
	}
	if cmd.Old == "" && isNoBox(cfg.Data) {
		return listAliases(ctx, c, v, voices.Voices{Config: cfg})
	}
	s, err := boxRecords(ctx, cfg)
	if err != nil {
		return fmt.Errorf("voices: %w", err)
	}
	defer s.Close()
	return v.told(cmd.do(ctx, c, v, voices.Voices{Config: cfg, Records: s}))
}

func (cmd *voicesAliasCmd) do(ctx context.Context, c *console, v *voicesCmd, box voices.Voices) error {
	switch {
	case cmd.Old == "":
		return listAliases(ctx, c, v, box)
	case cmd.Remove:
		if err := box.DeleteAlias(ctx, cmd.Old); err != nil {
			return err
		}
		if v.JSON {
			return c.json(map[string]string{"removed": cmd.Old})
		}
		_, err := fmt.Fprintf(c.out, "%s has no alias any more.\n", cmd.Old)
		return err
	}
	made, err := box.SetAlias(ctx, cmd.Old, cmd.New)
	if err != nil {
		return err
	}
	if v.JSON {
		return c.json(made)
	}
	_, err = fmt.Fprintf(c.out, "%s stands in for %s.\n", made.Voice, made.Name)
	return err
}

func listAliases(ctx context.Context, c *console, v *voicesCmd, box voices.Voices) error {
	all, err := box.ListAliases(ctx)
	if err != nil {
		return err
	}
	if v.JSON {
		return c.json(append([]contract.ReturnVoiceAlias{}, all...))
	}
	t := &terminal.Table{Head: []string{"NAME", "ID", "VOICE", "FROM"}}
	for _, a := range all {
		stands := a.Voice
		if a.Missing {
			stands += " (not here)"
		}
		t.Add(a.Name, a.ID, stands, strings.ReplaceAll(string(a.From), "_", " "))
	}
	return c.table(t)
}

// withBoxAliases adds the aliases of the box on the data folder to those of the
// settings, for a program that speaks beside it. Where there is no box, or it cannot be
// read, there are none.
func withBoxAliases(ctx context.Context, cfg config.Config) config.Config {
	s, err := store.Join(ctx, cfg.Data)
	if err != nil {
		return cfg
	}
	defer s.Close()
	own, _ := s.VoiceAliases(ctx) // none where they cannot be read
	both := map[string]string{}
	for _, a := range own {
		both[a.Name] = a.Voice
	}
	maps.Copy(both, cfg.VoiceAliases)
	cfg.VoiceAliases = both
	return cfg
}
