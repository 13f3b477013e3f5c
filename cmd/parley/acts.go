package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"parley/store"
)

// commandAct is the administrative act of a command.
type commandAct struct {
	flag string // only with this flag; empty: always
	what string // stable name, that of the API's act if there is one
	kind string // of the object, which the first argument names
	text string // a sentence without a subject
	// once is when the act is recorded: with the first change in the database, or when the
	// command has succeeded.
	once when
}

type when int

const (
	changed   when = iota // an act without a change in the database is not recorded
	succeeded             // it changes files, or reveals a secret
)

func onChange(flag, what, kind, text string) commandAct {
	return commandAct{flag, what, kind, text, changed}
}

func onSuccess(flag, what, kind, text string) commandAct {
	return commandAct{flag, what, kind, text, succeeded}
}

// commandActs returns the administrative acts of the commands. Of the rows of a command,
// the first whose flag is set counts. A test has every command either here or in its list
// of the others.
func commandActs() map[string][]commandAct {
	return map[string][]commandAct{
		"keys create": {
			onChange("renew", "key.renew", "key", "gave a key new secrets"),
			onChange("", "key.create", "key", "created a key"),
		},
		"keys revoke": {onChange("", "key.revoke", "key", "revoked a key")},
		"keys signing-key": {
			onChange("new", "signing_key.renew", "account", "replaced the key that signs webhooks"),
			onChange("set", "signing_key.renew", "account", "replaced the key that signs webhooks"),
			onSuccess("", "signing_key.read", "account", "read the key that signs webhooks"),
		},
		"kiosk": {onChange("", "screen.code", "screen", "made a code that pairs a screen")},
		"console": {
			onChange("end", "session.end", "session", "signed browsers out of the console"),
			onChange("", "session.link", "session", "made a link to the console"),
		},
		"webhooks": {
			onChange("retry", "webhooks.retry", "webhooks", "made undelivered webhooks due again"),
			onChange("forget", "webhooks.forget", "webhooks", "deleted undelivered webhooks"),
			onSuccess("test", "webhooks.test", "webhooks", "sent an example to a receiver of webhooks"),
		},
		"plugin install": {onChange("", "plugin.install", "plugin", "installed a plugin")},
		"plugin set": {
			onChange("remove", "plugin.remove", "plugin", "removed a plugin and its data"),
			onChange("", "plugin.change", "plugin", "changed a plugin"),
		},
		"plugin call": {onSuccess("", "plugin.call", "plugin", "tried a tool of a plugin")},
		"packs pull": {
			onSuccess("export", "pack.export", "pack", "wrote packs to a file"),
			onSuccess("", "pack.pull", "pack", "fetched packs"),
		},
		"packs add":     {onSuccess("", "pack.add", "pack", "added packs")},
		"packs remove":  {onSuccess("", "pack.remove", "pack", "removed a pack")},
		"voices design": {onChange("save", "voice.save", "voice", "saved a voice")},
		"voices list":   {onChange("delete", "voice.delete", "voice", "deleted a voice")},
		"voices alias": {
			onChange("remove", "voice_alias.delete", "voice alias", "deleted the alias of a voice"),
			onChange("", "voice_alias.set", "voice alias", "set the alias of a voice"),
		},
		"hub run": {
			onSuccess("reader", "fleet.reader", "reader", "let a program read all facts of the fleet"),
			onSuccess("remove-reader", "fleet.remove_reader", "reader", "removed a program that read all facts"),
		},
		"backup":  {onSuccess("", "box.backup", "file", "backed up the box")},
		"restore": {onSuccess("", "box.restore", "file", "restored the box from a backup")},
		"setup":   {onSuccess("", "box.set_up", "box", "set the box up")},
		"import":  {onChange("", "box.import", "file", "imported records of the old service")},
	}
}

// actOf returns the act of a parsed command line, if it has one.
func (c *console) actOf(parsed *kong.Context) (one store.Act, once when, found bool) {
	set := map[string]string{}
	for _, flag := range parsed.Flags() {
		if flag.Set {
			set[flag.Name] = fmt.Sprint(parsed.FlagValue(flag))
		}
	}
	rows := commandActs()[commandPath(parsed)]
	i := slices.IndexFunc(rows, func(row commandAct) bool {
		_, is := set[row.flag]
		return row.flag == "" || is
	})
	if i < 0 {
		return one, once, false
	}
	who, from := c.actor()
	one = store.Act{
		Who:  who,
		From: from,
		What: rows[i].what,
		On:   store.Object{Kind: rows[i].kind, Name: firstArgument(parsed)},
		Text: rows[i].text,
	}
	if one.On.Kind == "key" {
		one.On.ID, one.On.Name = one.On.Name, ""
	}
	// none holds a secret
	for _, flag := range []string{"account", "renew", "end", "save", "grant", "revoke", "reader", "remove-reader"} {
		if value := set[flag]; value != "" {
			one.Text += fmt.Sprintf(", --%s %s", flag, strings.Trim(value, "[]"))
		}
	}
	return one, rows[i].once, true
}

// commandPath returns the words of a command, such as "keys create".
func commandPath(parsed *kong.Context) string {
	node := parsed.Selected()
	if node == nil {
		return ""
	}
	return strings.TrimPrefix(node.FullPath(), "parley ")
}

// firstArgument returns the first argument of a command; empty without one.
func firstArgument(parsed *kong.Context) string {
	for _, part := range parsed.Path {
		if part.Positional != nil {
			return strings.Trim(fmt.Sprint(part.Positional.Target.Interface()), "[]")
		}
	}
	return ""
}

// actor returns the user who typed the command, and from where. With sudo, that is not
// the user as whom it runs. Both names come from the system and the environment, which a
// user who can write the data folder can change.
func (c *console) actor() (who store.Actor, from string) {
	who = store.Actor{Kind: store.ByUser, ID: strconv.Itoa(os.Getuid())}
	if u, err := user.Current(); err == nil {
		who.Name = u.Username
	}
	environ := map[string]string{}
	for _, entry := range c.environ {
		name, value, _ := strings.Cut(entry, "=")
		environ[name] = value
	}
	if before := environ["SUDO_USER"]; before != "" && before != who.Name {
		who.Name, who.Role, who.ID = before, who.Name, environ["SUDO_UID"]
	}
	if terminal, err := os.Readlink("/proc/self/fd/0"); err == nil && strings.HasPrefix(terminal, "/dev/pts/") ||
		strings.HasPrefix(terminal, "/dev/tty") {
		from = terminal
	}
	if address, _, _ := strings.Cut(environ["SSH_CONNECTION"], " "); address != "" {
		from = strings.TrimSpace(from + " ssh " + address)
	}
	return who, from
}

// recordAct records the act of a command that succeeded, if it is not recorded with a
// change. A command that succeeded does not fail because of that; it says so.
func (c *console) recordAct(ctx context.Context, pending *store.PendingAct, once when) {
	one, recorded := pending.Act()
	if recorded || one.What == "" || once != succeeded || c.data == "" {
		return
	}
	s, err := store.Join(ctx, c.data)
	if errors.Is(err, store.ErrNotFound) {
		return // there is no box yet
	}
	if err == nil {
		err = errors.Join(s.RecordAct(ctx, one), s.Close())
	}
	if err != nil {
		fmt.Fprintf(c.err, "The audit log does not have this command: %v\n", err)
	}
}
