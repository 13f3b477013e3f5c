package main

import (
	"context"
	"strings"

	"github.com/posener/complete"

	"parley/appliance/config"
	"parley/appliance/voices"
	"parley/firmware/packs"
)

// predictors complete the values of flags and arguments with the tag predictor.
func (c *console) predictors(ctx context.Context) map[string]complete.Predictor {
	all := map[string]complete.Predictor{
		"file": complete.PredictFiles("*"),
		"dir":  complete.PredictDirs("*"),
	}
	for _, kind := range []string{"pack", "voice", "plugin", "key", "account"} {
		all[kind] = complete.PredictFunc(func(a complete.Args) []string { return c.completions(ctx, a, kind) })
	}
	for _, s := range config.Settings() {
		all["setting "+s.Key] = complete.PredictSet(allowedWords(s)...)
	}
	return all
}

// completions returns the names of a kind that exist, by the settings of the flags typed
// so far. It returns none if a box or a setting is wrong: a completion cannot report
// errors.
func (c *console) completions(ctx context.Context, a complete.Args, kind string) (names []string) {
	sources := config.Sources{Flags: map[string]string{}, Environ: c.environ}
	for i, word := range a.Completed {
		for _, s := range config.Settings() {
			if s.Flag != "" && word == "--"+s.Flag && i+1 < len(a.All) {
				sources.Flags[s.Key] = a.All[i+1]
			}
		}
	}
	cfg, err := config.Load(sources)
	if err != nil {
		return nil
	}
	box := c.boxVoices(ctx, cfg)
	defer c.close()
	switch {
	case kind == "pack":
		for _, p := range append(packs.BuiltIn(), packs.Custom(cfg.Packs)...) {
			names = append(names, p.Name)
		}
	case kind == "voice":
		all, _ := voices.Account{Voices: box}.List(ctx)
		for _, v := range all {
			names = append(names, v.Name)
		}
	case box.Records == nil:
	case kind == "plugin":
		all, _ := box.Records.Plugins(ctx)
		for _, p := range all {
			names = append(names, p.Name)
		}
	default:
		keys, _ := box.Records.ListKeys(ctx, "")
		for _, k := range keys {
			if kind == "account" {
				names = append(names, k.Account)
			} else if k.RevokedMS == 0 {
				names = append(names, k.ID)
			}
		}
	}
	return names
}

// allowedWords returns the words that a setting may be.
func allowedWords(s config.Setting) []string {
	var words []string
	for i, word := range strings.Split(s.Allowed(), "`") {
		// between backquotes, and not a pattern
		if i%2 == 1 && word == strings.ToLower(word) && !strings.ContainsAny(word, ":/.") {
			words = append(words, word)
		}
	}
	return words
}
