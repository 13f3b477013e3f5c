package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Want is all that the hub of the fleet wants on this box.
type Want struct {
	Revision int64
	Hub      string // its name
	Accounts []WantedAccount
	Plugins  []WantedPlugin
	Settings map[string]string
}

// WantedAccount is what the hub wants of one account, which is created if it does not exist.
type WantedAccount struct {
	Name      string
	Keys      []WantedKey
	Resources []Version // the wanted versions; a resource has these and no others
	Voices    []Voice
	Lexicon   []Pronunciation
}

// WantedKey is a client's key.
type WantedKey struct {
	ID, Label, Hint     string
	APIHash, SecretHash []byte // SHA-256
	ExpiresMS           int64  // Unix milliseconds; 0: never
}

// WantedPlugin is a plugin whose files are there, and its settings without secrets.
type WantedPlugin struct {
	PluginFiles
	Settings []PluginSetting
}

// ErrTaken means that the box has something of its own under an id or a name that the hub
// uses. It is an ErrConflict.
type ErrTaken struct {
	What    string // such as "voice"
	Name    string // or id
	Account string // its name; empty for a plugin
}

func (e ErrTaken) Error() string {
	of := ""
	if e.Account != "" {
		of = fmt.Sprintf(" of the account %q", e.Account)
	}
	return fmt.Sprintf("the %s %q%s was made on the box, and the hub wants one of its own there; delete it on the "+
		"box, or give the hub's another name", e.What, e.Name, of)
}

// Unwrap makes it an ErrConflict.
func (e ErrTaken) Unwrap() error { return ErrConflict }

// ApplyWant makes the box what the hub wants, in one transaction: whole or not at all. What the
// hub managed before and does not want any more is deleted. The caller has checked the
// contents, and the files of the plugins are there.
//
// The error is ErrTaken if something of the box is in the way, ErrToolTaken or ErrNameTaken if
// two tools would have one name, ErrNotFound if the box is in no fleet.
func (s *Store) ApplyWant(ctx context.Context, w Want) error {
	err := s.change(ctx, fmt.Sprintf("applying revision %d of the hub", w.Revision),
		func(ctx context.Context, c conn) error {
			// The name of the hub stays that with which the box joined: JoinFleet tells hubs apart by it.
			if err := changeOne(ctx, c, `UPDATE fleet SET running = ?`, w.Revision); err != nil {
				return err
			}
			if err := takeBack(ctx, c, w); err != nil {
				return err
			}
			if err := dropUnwanted(ctx, c, w); err != nil {
				return err
			}
			for _, a := range w.Accounts {
				if err := applyAccount(ctx, c, a); err != nil {
					return err
				}
			}
			if err := applyPlugins(ctx, c, w.Plugins); err != nil {
				return err
			}
			if err := applySettings(ctx, c, w.Settings); err != nil {
				return err
			}
			return insertAct(ctx, c, Act{
				Who:  Actor{Kind: ByBox},
				What: "fleet.apply",
				On:   Object{Kind: "fleet", Name: w.Hub},
				Text: fmt.Sprintf("applied revision %d of the hub", w.Revision),
			})
		})
	if err == nil {
		s.keyNotifier.notify()
		s.pluginNotifier.notify()
		s.fleetNotifier.notify()
	}
	return err
}

// FleetSettings returns the settings that the hub has set.
func (s *Store) FleetSettings(ctx context.Context) (map[string]string, error) {
	type setting struct{ name, value string }
	all, err := query(ctx, s.read, func(row scanner) (t setting, err error) { return t, row.Scan(&t.name, &t.value) },
		`SELECT name, value FROM fleet_setting`)
	settings := make(map[string]string, len(all))
	for _, t := range all {
		settings[t.name] = t.value
	}
	return settings, explain("reading the settings of the hub", err)
}

func applySettings(ctx context.Context, c conn, settings map[string]string) error {
	if err := execute(ctx, c, `DELETE FROM fleet_setting`); err != nil {
		return err
	}
	for name, value := range settings {
		if err := execute(ctx, c, `INSERT INTO fleet_setting (name, value) VALUES (?, ?)`, name, value); err != nil {
			return err
		}
	}
	return nil
}

// dropUnwanted deletes what the hub managed and does not want any more. Voices and keys that it
// wants otherwise are deleted too, and made again: two may have exchanged their names.
func dropUnwanted(ctx context.Context, c conn, w Want) error {
	var resources, plugins []string
	var voices, keys, words [][]string
	for _, a := range w.Accounts {
		for _, v := range a.Resources {
			resources = append(resources, a.Name+"/"+string(v.Kind)+"/"+v.ID)
		}
		for _, v := range a.Voices {
			voices = append(voices, []string{v.ID, a.Name, v.Name, v.Recipe})
		}
		for _, k := range a.Keys {
			keys = append(keys, []string{k.ID, a.Name, fmt.Sprintf("%X", k.APIHash), fmt.Sprintf("%X", k.SecretHash)})
		}
		for _, p := range a.Lexicon {
			words = append(words, []string{a.Name, p.Key})
		}
	}
	for _, p := range w.Plugins {
		plugins = append(plugins, p.Name)
	}
	for _, d := range []struct {
		statement string
		keep      any
	}{
		{`DELETE FROM resource WHERE managed = 1 AND (SELECT name FROM account WHERE num = resource.account) || '/' ||
		   resource.kind || '/' || resource.id NOT IN (SELECT value FROM json_each(?))`, resources},
		{`DELETE FROM voice WHERE managed = 1 AND NOT EXISTS (SELECT 1 FROM json_each(?) w
		   WHERE w.value ->> 0 = voice.id AND w.value ->> 1 = (SELECT name FROM account WHERE num = voice.account)
		     AND w.value ->> 2 = voice.name AND w.value ->> 3 = voice.recipe)`, voices},
		{`DELETE FROM key WHERE managed = 1 AND NOT EXISTS (SELECT 1 FROM json_each(?) w
		   WHERE w.value ->> 0 = key.id AND w.value ->> 1 = (SELECT name FROM account WHERE num = key.account)
		     AND w.value ->> 2 = hex(api_hash) AND w.value ->> 3 = hex(secret_hash))`, keys},
		{`DELETE FROM lexicon WHERE managed = 1 AND NOT EXISTS (SELECT 1 FROM json_each(?) w
		   WHERE w.value ->> 0 = (SELECT name FROM account WHERE num = lexicon.account)
		     AND w.value ->> 1 = lexicon.key)`, words},
		{`DELETE FROM plugin WHERE managed = 1 AND name NOT IN (SELECT value FROM json_each(?))`, plugins},
	} {
		keep, err := json.Marshal(d.keep)
		if string(keep) == "null" {
			keep = []byte("[]") // in SQL, nothing is known not to be in a list with a null
		}
		if err != nil {
			return err
		}
		if err := execute(ctx, c, d.statement, string(keep)); err != nil {
			return err
		}
	}
	return nil
}

func applyAccount(ctx context.Context, c conn, a WantedAccount) error {
	num, _, err := accountNamed(ctx, c, a.Name)
	if err != nil {
		return err
	}
	for _, k := range a.Keys {
		if err := applyKey(ctx, c, num, a.Name, k); err != nil {
			return err
		}
	}
	if err := applyResources(ctx, c, num, a); err != nil {
		return err
	}
	for _, v := range a.Voices {
		if err := applyVoice(ctx, c, num, a.Name, v); err != nil {
			return err
		}
	}
	for _, p := range a.Lexicon {
		if err := applyWord(ctx, c, num, a.Name, p); err != nil {
			return err
		}
	}
	return nil
}

func applyKey(ctx context.Context, c conn, account int64, of string, k WantedKey) error {
	taken, err := value[bool](ctx, c,
		`SELECT EXISTS (SELECT 1 FROM key WHERE (id = ?1 OR api_hash = ?2) AND NOT (managed = 1 AND id = ?1))`,
		k.ID, k.APIHash)
	if err != nil {
		return err
	}
	if taken {
		return ErrTaken{"key", k.ID, of}
	}
	return execute(ctx, c, `
		INSERT INTO key (id, account, label, role, api_hash, secret_hash, hint, created_ms, expires_ms, managed)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0), 1)
		    ON CONFLICT (id) DO UPDATE SET label = excluded.label, hint = excluded.hint,
		       expires_ms = excluded.expires_ms`,
		k.ID, account, k.Label, ClientKey, k.APIHash, k.SecretHash, k.Hint, time.Now().UnixMilli(), k.ExpiresMS)
}

func applyVoice(ctx context.Context, c conn, account int64, of string, v Voice) error {
	there, err := query(ctx, c, func(row scanner) (managed bool, err error) { return managed, row.Scan(&managed) },
		`SELECT managed AND id = ?1 FROM voice WHERE id = ?1 OR account = ?2 AND folded = ?3`,
		v.ID, account, FoldedName(v.Name))
	if err != nil {
		return err
	}
	for _, managed := range there {
		if !managed {
			return ErrTaken{"voice", v.Name, of}
		}
	}
	if len(there) > 0 {
		return nil // it is as the hub wants it
	}
	return execute(ctx, c, `
		INSERT INTO voice (id, account, name, folded, recipe, created_ms, managed) VALUES (?, ?, ?, ?, ?, ?, 1)`,
		v.ID, account, v.Name, FoldedName(v.Name), v.Recipe, time.Now().UnixMilli())
}

func applyWord(ctx context.Context, c conn, account int64, of string, p Pronunciation) error {
	taken, err := value[bool](ctx, c, `
		SELECT EXISTS (SELECT 1 FROM lexicon WHERE account = ? AND key = ? AND managed = 0 AND said <> ?)`,
		account, p.Key, p.Spoken)
	if err != nil {
		return err
	}
	if taken {
		return ErrTaken{"pronunciation", p.Word, of}
	}
	return execute(ctx, c, `
		INSERT INTO lexicon (account, key, word, said, managed) VALUES (?, ?, ?, ?, 1)
		    ON CONFLICT (account, key) DO UPDATE SET word = excluded.word, said = excluded.said, managed = 1`,
		account, p.Key, p.Word, p.Spoken)
}

// applyResources makes the versions of an account's configs, prompts and tools. Names come
// after all versions, since they are checked against the tools of configs.
func applyResources(ctx context.Context, c conn, account int64, a WantedAccount) error {
	wanted := map[string][]int{}
	for _, v := range a.Resources {
		num, err := wantedResource(ctx, c, account, a.Name, v)
		if err != nil {
			return err
		}
		wanted[v.ID] = append(wanted[v.ID], v.Number)
		if err := execute(ctx, c, `
			INSERT INTO resource_version (resource, version, description, content, created_ms, modified_ms, answers)
			VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (resource, version) DO UPDATE SET
			       description = excluded.description, content = excluded.content, created_ms = excluded.created_ms,
			       modified_ms = excluded.modified_ms, answers = excluded.answers
			 WHERE description <> excluded.description OR content <> excluded.content
			    OR answers IS NOT excluded.answers OR modified_ms <> excluded.modified_ms`,
			num, v.Number, v.Description, v.Content, v.CreatedMS, v.ModifiedMS, orNull(v.Answers)); err != nil {
			return err
		}
	}
	for id, numbers := range wanted {
		if err := keepVersions(ctx, c, id, numbers); err != nil {
			return err
		}
	}
	accountID, err := value[string](ctx, c, `SELECT id FROM account WHERE num = ?`, account)
	if err != nil {
		return err
	}
	for _, v := range a.Resources {
		if v.Kind == KindTool {
			if err := checkNameFree(ctx, c, accountID, v.ID, v.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// wantedResource returns the number of a resource of the hub, which it creates or renames.
func wantedResource(ctx context.Context, c conn, account int64, of string, v Version) (int64, error) {
	managed, err := value[bool](ctx, c, `SELECT managed FROM resource WHERE id = ?`, v.ID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return 0, err
	}
	if err == nil && !managed {
		return 0, ErrTaken{string(v.Kind), v.ID, of}
	}
	return value[int64](ctx, c, `
		INSERT INTO resource (num, id, account, kind, name, created_ms, renamed_ms, managed)
		VALUES (`+nextNum("resource")+`, ?, ?, ?, ?, ?5, ?5, 1)
		    ON CONFLICT (id) DO UPDATE SET name = excluded.name, created_ms = excluded.created_ms RETURNING num`,
		v.ID, account, v.Kind, v.Name, v.CreatedMS)
}

// keepVersions deletes all versions of a resource but these.
func keepVersions(ctx context.Context, c conn, id string, numbers []int) error {
	keep, err := json.Marshal(numbers)
	if err != nil {
		return err
	}
	if err := execute(ctx, c, `
		DELETE FROM resource_version WHERE resource = (SELECT num FROM resource WHERE id = ?)
		   AND version NOT IN (SELECT value FROM json_each(?))`, id, string(keep)); err != nil {
		return err
	}
	return execute(ctx, c, `
		UPDATE resource SET newest = v.newest, next_version = max(next_version, v.newest + 1), bytes = v.bytes
		  FROM (SELECT max(version) AS newest, sum(octet_length(description) + octet_length(content) +
		               coalesce(octet_length(answers), 0) + ?2) AS bytes
		          FROM resource_version WHERE resource = (SELECT num FROM resource WHERE id = ?1)) AS v
		 WHERE id = ?1`, id, versionBytes)
}
