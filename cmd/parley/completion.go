package main

import (
	"context"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"parley/appliance/config"
	"parley/cmd/parley/completion"
	"parley/firmware/packs"
	"parley/store"
)

// completionCmd prints what makes a shell complete command lines.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help shows the command in use.
func (completionCmd) Help() string {
	return `It completes commands, flags, the values that a flag may have, packs, and the keys and accounts of the box.

Examples:

  source <(parley completion bash)

  parley completion bash > ~/.local/share/bash-completion/completions/parley

  parley completion zsh > /usr/local/share/zsh/site-functions/_parley

  parley completion fish > ~/.config/fish/completions/parley.fish

The first is for the shell that runs, the others for every new one. The second wants Debian's package ` +
		`bash-completion, the third root and a .zshrc with compinit.`
}

// Run prints the script.
func (cmd *completionCmd) Run(c *console) error {
	script, err := completion.Script(cmd.Shell)
	if err != nil {
		return err
	}
	_, err = io.WriteString(c.out, script)
	return err
}

// completeLineCmd is what the shells' scripts ask.
type completeLineCmd struct {
	Words []string `arg:"" optional:""`
}

// Run prints what may stand at the end of the words.
func (cmd *completeLineCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	values := func(v *kong.Value, command *kong.Node, given map[string]string) completion.Answer {
		return c.completeValue(ctx, v, command, given)
	}
	words := cmd.Words
	if len(words) > 1 && words[0] == "help" { // behind it stands what may stand without it
		words = words[1:]
	}
	_, err := io.WriteString(c.out, completion.At(parsed.Model, values, words...).String())
	return err
}

// completeValue says what the value of a flag or argument may be.
func (c *console) completeValue(ctx context.Context, v *kong.Value, command *kong.Node,
	given map[string]string) completion.Answer {
	switch {
	case v.Enum != "":
		return completion.Answer{Candidates: plainly(v.EnumSlice())}
	case v.Flag == nil && v.Name == "name" && commandWords(command)[0] == "packs":
		return completion.Answer{Candidates: c.completePack(given)}
	case v.Name == "key-id":
		return completion.Answer{Candidates: c.completeKey(ctx, given)}
	case v.Name == "webhook-id":
		return completion.Answer{Candidates: c.completeWebhook(ctx, given)}
	case v.Name == "account":
		return completion.Answer{Candidates: c.completeAccount(ctx, given)}
	case v.Name == "voice":
		return completion.Answer{Candidates: c.completePack(given, packs.Voice)}
	case v.Name == "language-model":
		return completion.Answer{Candidates: c.completePack(given, packs.LanguageModel)}
	case v.Flag != nil && v.Flag.PlaceHolder == "DIR":
		return completion.Answer{Files: completion.Folders}
	case v.Flag != nil && v.Flag.PlaceHolder == "FILE" || v.Flag == nil && strings.HasPrefix(v.Name, "file"):
		return completion.Answer{Files: completion.AnyFile}
	}
	return completion.Answer{Candidates: plainly(settingWords(v.Name))}
}

// settingWords are the words that the setting with this flag may be.
func settingWords(flag string) []string {
	var words []string
	for _, s := range config.Settings() {
		if s.Flag != flag {
			continue
		}
		for i, word := range strings.Split(s.Allowed(), "`") {
			// between backquotes, and no pattern
			if i%2 == 1 && word == strings.ToLower(word) && !strings.ContainsAny(word, ":/.") {
				words = append(words, word)
			}
		}
	}
	return words
}

func plainly(words []string) []completion.Candidate {
	var all []completion.Candidate
	for _, w := range words {
		if w != "" {
			all = append(all, completion.Candidate{Word: w})
		}
	}
	return all
}

// completeConfig is the configuration as far as the flags say that were given.
func (c *console) completeConfig(given map[string]string) (config.Config, error) {
	sources := config.Sources{Flags: map[string]string{}, Environ: c.environ, File: given["config"]}
	for _, s := range config.Settings() {
		if value, ok := given[s.Flag]; ok {
			sources.Flags[s.Key] = value
		}
	}
	return config.Load(sources)
}

// completePack lists the packs of some kinds, or all.
func (c *console) completePack(given map[string]string, kinds ...packs.Kind) []completion.Candidate {
	all := packs.BuiltIn()
	if cfg, err := c.completeConfig(given); err == nil {
		all = append(all, packs.Own(cfg.Packs)...)
	}
	var found []completion.Candidate
	for _, p := range all {
		for _, k := range kinds {
			if p.Kind == k {
				found = append(found, completion.Candidate{Word: p.Name, About: p.Does})
			}
		}
		if len(kinds) == 0 {
			found = append(found, completion.Candidate{Word: p.Name, About: p.Does})
		}
	}
	return found
}

// completeKey lists the keys that can be revoked.
func (c *console) completeKey(ctx context.Context, given map[string]string) []completion.Candidate {
	var found []completion.Candidate
	for _, k := range c.completeKeys(ctx, given) {
		if k.RevokedMS == 0 {
			found = append(found, completion.Candidate{Word: k.ID, About: k.Account + " …" + k.Hint + " " + k.Label})
		}
	}
	return found
}

func (c *console) completeAccount(ctx context.Context, given map[string]string) []completion.Candidate {
	seen := map[string]bool{}
	var found []completion.Candidate
	for _, k := range c.completeKeys(ctx, given) {
		if !seen[k.Account] {
			seen[k.Account] = true
			found = append(found, completion.Candidate{Word: k.Account})
		}
	}
	return found
}

// completeWebhook lists the webhooks that were given up.
func (c *console) completeWebhook(ctx context.Context, given map[string]string) []completion.Candidate {
	const most = 50 // more than anybody reads in a list
	s := c.completeRecords(ctx, given)
	if s == nil {
		return nil
	}
	defer s.Close()
	dead, err := s.Webhooks(ctx, store.WebhookFilter{States: []store.WebhookState{store.WebhookWasAbandoned}}, most)
	if err != nil {
		return nil
	}
	var found []completion.Candidate
	for _, w := range dead {
		found = append(found, completion.Candidate{Word: w.ID, About: w.Event + " " + w.LastError})
	}
	return found
}

// completeRecords opens the database of the box whose data lies here; nil where
// there is none, since nobody can be told so in the middle of a command line.
func (c *console) completeRecords(ctx context.Context, given map[string]string) *store.Store {
	cfg, err := c.completeConfig(given)
	if err != nil {
		return nil
	}
	s, err := store.Join(ctx, cfg.Data)
	if err != nil {
		return nil
	}
	return s
}

// completeKeys are the keys of the box whose data lies here.
func (c *console) completeKeys(ctx context.Context, given map[string]string) []store.Key {
	s := c.completeRecords(ctx, given)
	if s == nil {
		return nil
	}
	defer s.Close()
	keys, err := s.ListKeys(ctx, "")
	if err != nil {
		return nil
	}
	return keys
}
