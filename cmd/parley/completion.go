package main

import (
	"context"
	"strings"

	"github.com/posener/complete"

	"parley/appliance/config"
	"parley/appliance/voices"
	"parley/firmware/packs"
	"parley/store"
)

// predictors say what may stand where a flag or an argument has the tag
// predictor. Nobody can be told in the middle of a command line that a box or
// a setting is wrong: then there is nothing to choose.
func (c *console) predictors(ctx context.Context) map[string]complete.Predictor {
	named := map[string]func(cfg config.Config, s *store.Store) []string{
		"pack": func(cfg config.Config, _ *store.Store) (names []string) {
			for _, p := range append(packs.BuiltIn(), packs.Own(cfg.Packs)...) {
				names = append(names, p.Name)
			}
			return names
		},
		"voice": func(cfg config.Config, s *store.Store) (names []string) {
			all, _ := voices.Account{Voices: voices.Voices{Config: cfg, Records: s}}.List(ctx)
			for _, v := range all {
				names = append(names, v.Name)
			}
			return names
		},
		"plugin": func(_ config.Config, s *store.Store) (names []string) {
			all, _ := s.Plugins(ctx)
			for _, p := range all {
				names = append(names, p.Name)
			}
			return names
		},
		"key": func(_ config.Config, s *store.Store) (ids []string) {
			all, _ := s.ListKeys(ctx, "")
			for _, k := range all {
				if k.RevokedMS == 0 {
					ids = append(ids, k.ID)
				}
			}
			return ids
		},
		"account": func(_ config.Config, s *store.Store) (names []string) {
			all, _ := s.ListKeys(ctx, "")
			for _, k := range all {
				names = append(names, k.Account)
			}
			return names
		},
	}
	all := map[string]complete.Predictor{
		"file": complete.PredictFiles("*"),
		"dir":  complete.PredictDirs("*"),
	}
	for name, list := range named {
		all[name] = complete.PredictFunc(func(a complete.Args) []string { return c.atCursor(ctx, a, name, list) })
	}
	for _, s := range config.Settings() {
		all["setting "+s.Key] = complete.PredictSet(settingWords(s)...)
	}
	return all
}

// atCursor opens what the names are read from: the settings, as far as the flags
// say that were typed, and the database of the box.
func (c *console) atCursor(ctx context.Context, a complete.Args, name string,
	list func(config.Config, *store.Store) []string) []string {
	sources := config.Sources{Flags: map[string]string{}, Environ: c.environ}
	for i, word := range a.All {
		for _, s := range config.Settings() {
			if word == "--"+s.Flag && i+1 < len(a.All) {
				sources.Flags[s.Key] = a.All[i+1]
			}
		}
	}
	cfg, err := config.Load(sources)
	if err != nil {
		return nil
	}
	s, err := store.Join(ctx, cfg.Data)
	if err != nil {
		if name == "pack" || name == "voice" {
			return list(cfg, nil)
		}
		return nil
	}
	defer s.Close()
	return list(cfg, s)
}

// settingWords are the words that a setting may be.
func settingWords(s config.Setting) []string {
	var words []string
	for i, word := range strings.Split(s.Allowed(), "`") {
		// between backquotes, and no pattern
		if i%2 == 1 && word == strings.ToLower(word) && !strings.ContainsAny(word, ":/.") {
			words = append(words, word)
		}
	}
	return words
}
