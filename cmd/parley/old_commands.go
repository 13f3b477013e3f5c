package main

import (
	"fmt"
	"slices"
	"strings"
)

// oldCommand is a command of an earlier version.
type oldCommand struct {
	old, now string
	changed  bool // its arguments changed too, so that it cannot be translated
}

// oldCommands returns the commands that operators' scripts may still use.
func oldCommands() []oldCommand {
	return []oldCommand{
		{old: "keys regenerate", now: "keys create --renew"},
		{old: "kiosk pair", now: "kiosk"},
		{old: "kiosk list", now: "keys list --screens"},
		{old: "kiosk revoke", now: "keys revoke"},
		{old: "console link", now: "console"},
		{old: "console sessions", now: "console --sessions"},
		{old: "console end --all", now: "console --end all"},
		{old: "console end", now: "console --end"},
		{old: "devices --test", now: "doctor --sound"},
		{old: "devices", now: "doctor --devices"},
		{old: "webhooks list", now: "webhooks"},
		{old: "webhooks retry", now: "webhooks --retry"},
		{old: "webhooks forget", now: "webhooks --forget"},
		{old: "webhooks test", now: "webhooks --test"},
		{old: "plugin show", now: "plugin list"},
		{old: "plugin logs", now: "plugin list --logs"},
		{old: "plugin upgrade", now: "plugin install"},
		{old: "plugin dev", now: "plugin build --watch"},
		{old: "plugin grant", now: "plugin set NAME --grant WHAT", changed: true},
		{old: "plugin revoke", now: "plugin set NAME --revoke WHAT", changed: true},
		{old: "plugin remove", now: "plugin set --remove"},
		{old: "packs verify", now: "packs list --verify"},
		{old: "packs export", now: "packs pull --export"},
		{old: "packs import", now: "packs add"},
		{old: "voices play", now: "say --voice"},
		{old: "voices delete", now: "voices list --delete"},
		{old: "voices save", now: "voices design DESCRIPTION --save NAME", changed: true},
		{old: "config show", now: "config"},
		{old: "config init", now: "config --init"},
		{old: "completion", now: "help --completion"},
		{old: "man", now: "help --man"},
	}
}

// translateOldCommand translates a command line of an earlier version. Flags may precede
// the second word, as in keys --data DIR list.
func translateOldCommand(args []string) ([]string, error) {
	for _, s := range oldCommands() {
		old, now := strings.Fields(s.old), strings.Fields(s.now)
		from := 0
		if len(old) > 1 {
			from = secondWord(args, old[1])
		}
		last := from + max(len(old)-1, 1) // behind the words
		switch {
		case len(args) < last || args[0] != old[0] || len(old) > 1 && !slices.Equal(args[from:last], old[1:]):
		case s.changed:
			return nil, misuse{fmt.Errorf("parley %s is now parley %s", s.old, s.now)}
		case len(old) == 1:
			return append(now, args[1:]...), nil
		default:
			return slices.Concat(now[:1], args[1:from], now[1:], args[last:]), nil
		}
	}
	return args, nil
}

// secondWord returns the index of word if only flags and their values precede it.
func secondWord(args []string, word string) int {
	for i := 1; i < len(args); i++ {
		if args[i] == word {
			return i
		}
		if !strings.HasPrefix(args[i], "-") && !strings.HasPrefix(args[i-1], "-") {
			break
		}
	}
	return len(args)
}
