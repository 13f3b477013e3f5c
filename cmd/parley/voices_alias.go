package main

import (
	"context"
	"errors"
	"strings"

	"parley/appliance/config"
	"parley/appliance/contract"
)

type voicesAliasCmd struct {
	Old    string `arg:"" optional:"" help:"Name or id that programs ask for; without it, list all."`
	New    string `arg:"" optional:"" predictor:"voice" help:"Voice that stands in for it."`
	Remove bool   `help:"Delete the alias of OLD."`
}

func (voicesAliasCmd) Help() string {
	return `Examples:

  parley voices alias

  parley voices alias "Gazza" joe

  parley voices alias 8115ee9a-2d6d-4204-b60b-72e67c3d1b3e "Old sailor"

  parley voices alias "Gazza" --remove

It takes effect at once, also in a running box, and for all accounts. The voices of the cloud library (Ava Song, ` +
		`Ito …) have built-in stand-ins; an alias with the same name overrides them.`
}

// Validate refuses half an alias.
func (cmd *voicesAliasCmd) Validate() error {
	if cmd.Remove != (cmd.Old != "" && cmd.New == "") {
		return errors.New("give OLD and NEW, or OLD and --remove; parley voices alias lists all")
	}
	return nil
}

// Run lists the aliases, or changes one.
func (cmd *voicesAliasCmd) Run(ctx context.Context, c *console, cfg config.Config, v *voicesCmd) error {
	box := c.boxVoices(ctx, cfg)
	if box.Records == nil && !(cmd.Old == "" && isNoBox(cfg.Data)) {
		var err error
		if box.Records, err = c.openStore(ctx, cfg); err != nil {
			return err
		}
	}
	switch {
	case cmd.Remove:
		if err := box.DeleteAlias(ctx, cmd.Old); err != nil {
			return err
		}
		return c.print(v.JSON, map[string]string{"removed": cmd.Old}, "%s has no alias any more.\n", cmd.Old)
	case cmd.Old != "":
		made, err := box.SetAlias(ctx, cmd.Old, cmd.New)
		if err != nil {
			return err
		}
		return c.print(v.JSON, made, "%s stands in for %s.\n", made.Voice, made.Name)
	}
	all, err := box.ListAliases(ctx)
	if err != nil {
		return err
	}
	head := []string{"NAME", "ID", "VOICE", "FROM"}
	return list(c, v.JSON, all, head, func(a contract.ReturnVoiceAlias) []string {
		stands := a.Voice
		if a.Missing {
			stands += " (not here)"
		}
		return []string{a.Name, a.ID, stands, strings.ReplaceAll(string(a.From), "_", " ")}
	})
}
