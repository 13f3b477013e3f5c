package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// The ids of what fullWant wants.
const (
	wantedConfig = "c0000000-0000-4000-8000-000000000001"
	wantedPrompt = "c0000000-0000-4000-8000-000000000002"
	wantedTool   = "c0000000-0000-4000-8000-000000000003"
	wantedVoice  = "c0000000-0000-4000-8000-000000000004"
)

// fullWant has one of each kind.
func fullWant(revision int64) Want {
	version := func(kind Kind, id, name, content string) Version {
		return Version{
			Kind:       kind,
			ID:         id,
			Number:     3,
			Name:       name,
			Content:    content,
			CreatedMS:  1000,
			ModifiedMS: 2000,
		}
	}
	tools := `"tools":[{"id":"` + wantedTool + `","version":3}]`
	return Want{
		Revision: revision,
		Hub:      "museum",
		Accounts: []WantedAccount{{
			Name: "home",
			Keys: []WantedKey{{
				ID:         "abc",
				Label:      "kiosks",
				Hint:       "wxyz",
				APIHash:    hash("api"),
				SecretHash: hash("secret"),
			}},
			Resources: []Version{
				version(KindPrompt, wantedPrompt, "guide", `{"text":"Be brief."}`),
				version(KindTool, wantedTool, "opening_hours", `{}`),
				version(KindConfig, wantedConfig, "desk", `{`+tools+`}`),
			},
			Voices:  []Voice{{ID: wantedVoice, Name: "Ada", Recipe: `{"a":1}`}},
			Lexicon: []Pronunciation{{Key: "nguyen", Word: "Nguyen", Spoken: "/wɪn/"}},
		}},
		Plugins: []WantedPlugin{{
			PluginFiles: PluginFiles{
				Name:     "hours",
				Version:  "1.0.0",
				Digest:   strings.Repeat("ab", 32),
				Manifest: `{"tools":[{"name":"hours_of"}],"settings":[{"name":"city","type":"text"}]}`,
				Granted:  `{}`,
			},
			Settings: []PluginSetting{{Name: "city", Value: "Trier"}},
		}},
		Settings: map[string]string{"tools.timeout": "20"},
	}
}

// dump returns all rows of all tables as text, without the audit log.
func dump(t testing.TB, s *Store) string {
	t.Helper()
	tables, err := query(t.Context(), s.read, scanText,
		`SELECT name FROM sqlite_schema
		  WHERE type = 'table' AND name <> 'act' AND name NOT LIKE 'sqlite_%' ORDER BY name`)
	must(t, err)
	var all []string
	for _, table := range tables {
		rows, err := s.read.QueryContext(t.Context(), `SELECT * FROM `+table)
		must(t, err)
		columns, err := rows.Columns()
		must(t, err)
		var lines []string
		for rows.Next() {
			values, into := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			must(t, rows.Scan(into...))
			lines = append(lines, fmt.Sprintf("%s %v", table, values))
		}
		must(t, errors.Join(rows.Err(), rows.Close()))
		slices.Sort(lines)
		all = append(all, lines...)
	}
	return strings.Join(all, "\n")
}

func joined(t testing.TB) *Store {
	s := openStore(t, t.TempDir())
	must(t, s.JoinFleet(t.Context(), Fleet{Box: "kiosk", Hub: "museum", Chats: true}))
	return s
}

func TestWantIsAppliedAndTakenBackWhole(t *testing.T) {
	s := joined(t)
	empty := dump(t, s)
	must(t, s.ApplyWant(t.Context(), fullWant(1)))
	account, err := s.Account(t.Context(), "home")
	must(t, err)
	v, err := s.VersionOf(t.Context(), account.ID, Ref{KindConfig, wantedConfig, Newest})
	must(t, err)
	if v.Number != 3 || v.Name != "desk" {
		t.Errorf("the config is %+v", v)
	}
	if g, err := s.OpenKey(t.Context(), "api"); err != nil || g.AccountID != account.ID {
		t.Errorf("the hub's key opens %+v, %v", g, err)
	}
	if f, err := s.Fleet(t.Context()); err != nil || f.Running != 1 {
		t.Errorf("the fleet is %+v, %v", f, err)
	}
	before := dump(t, s)
	must(t, s.ApplyWant(t.Context(), fullWant(1)))
	if again := dump(t, s); withoutRevision(again) != withoutRevision(before) {
		t.Errorf("applying the same again changed\n%s\nto\n%s", before, again)
	}
	must(t, s.ApplyWant(t.Context(), Want{Hub: "museum"}))
	for _, line := range strings.Split(dump(t, s), "\n") {
		table, _, _ := strings.Cut(line, " ")
		if !strings.Contains(empty, line) && !slices.Contains([]string{"account", "fleet_note", "plugin_revision",
			"signing_key_replaced"}, table) {
			t.Errorf("the hub wants nothing any more, and the box still has %s", line)
		}
	}
}

// withoutRevision leaves out what counts how often something was applied.
func withoutRevision(dump string) string {
	lines := strings.Split(dump, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool {
		return strings.HasPrefix(line, "plugin_revision ") || strings.HasPrefix(line, "fleet_note ")
	}), "\n")
}

func TestOneVersionReplacesAnotherAndTwoMayBeThere(t *testing.T) {
	s := joined(t)
	must(t, s.ApplyWant(t.Context(), fullWant(1)))
	w := fullWant(2)
	older := w.Accounts[0].Resources[0]
	older.Number = 1
	newer := older
	newer.Number = 7
	w.Accounts[0].Resources = append(w.Accounts[0].Resources[1:], older, newer)
	must(t, s.ApplyWant(t.Context(), w))
	account, err := s.Account(t.Context(), "home")
	must(t, err)
	all, _, err := s.Versions(t.Context(), account.ID, KindPrompt, wantedPrompt, true, Page{Size: 10})
	must(t, err)
	if len(all) != 2 || all[0].Number != 1 || all[1].Number != 7 {
		t.Errorf("the box has the versions %+v", all)
	}
}

func TestVoicesMayExchangeTheirNames(t *testing.T) {
	s := joined(t)
	w := fullWant(1)
	other := Voice{ID: uuid.NewString(), Name: "Bea", Recipe: `{"b":1}`}
	w.Accounts[0].Voices = append(w.Accounts[0].Voices, other)
	must(t, s.ApplyWant(t.Context(), w))
	voices := w.Accounts[0].Voices
	voices[0].Name, voices[1].Name = voices[1].Name, voices[0].Name
	must(t, s.ApplyWant(t.Context(), w))
}

// TestWhatTheBoxHasOfItsOwnStopsAWant has for each kind something of the box in the way.
func TestWhatTheBoxHasOfItsOwnStopsAWant(t *testing.T) {
	made := func(kind Kind, id string) func(*testing.T, *Store, string) {
		return func(t *testing.T, s *Store, account string) {
			_, err := s.AddVersions(t.Context(), account, NewVersion{Kind: kind, ID: id, Name: "mine", Content: `{}`})
			must(t, err)
		}
	}
	for name, one := range map[string]struct {
		local func(*testing.T, *Store, string)
		kind  error
		says  string
	}{
		"config": {made(KindConfig, wantedConfig), ErrConflict, "config"},
		"prompt": {made(KindPrompt, wantedPrompt), ErrConflict, "prompt"},
		"tool":   {made(KindTool, wantedTool), ErrConflict, "tool"},
		"voice": {func(t *testing.T, s *Store, account string) {
			must(t, s.SaveVoice(t.Context(), account, Voice{ID: uuid.NewString(), Name: "ADA", Recipe: `{}`}))
		}, ErrConflict, `voice "Ada"`},
		"pronunciation": {func(t *testing.T, s *Store, account string) {
			_, err := s.SetPronunciation(t.Context(), account, Pronunciation{"nguyen", "Nguyen", "win"}, 10)
			must(t, err)
		}, ErrConflict, `pronunciation "Nguyen"`},
		"plugin": {func(t *testing.T, s *Store, _ string) {
			must(t, s.InstallPlugin(t.Context(),
				PluginFiles{Name: "hours", Digest: "x", Manifest: `{}`, Granted: `{}`}))
		}, ErrConflict, `plugin "hours"`},
		"tool of a plugin": {func(t *testing.T, s *Store, _ string) {
			must(t, s.InstallPlugin(t.Context(), PluginFiles{
				Name:     "clock",
				Digest:   "x",
				Manifest: `{"tools":[{"name":"hours_of"}]}`,
				Granted:  `{}`,
			}))
		}, nil, "the plugin clock already has a tool hours_of"},
		"name of a tool": {func(t *testing.T, s *Store, account string) {
			_, err := s.AddVersions(t.Context(), account,
				NewVersion{Kind: KindTool, ID: uuid.NewString(), Name: "opening_hours", Content: `{}`},
				NewVersion{Kind: KindConfig, ID: uuid.NewString(), Name: "mine",
					Content: `{"tools":[{"id":"` + wantedTool + `"}],"builtin_tools":[{"name":"opening_hours"}]}`})
			must(t, err)
		}, ErrConflict, `the config "mine" has another tool named "opening_hours"`},
		"no fleet": {func(t *testing.T, s *Store, _ string) {
			must(t, s.LeaveFleet(t.Context()))
		}, ErrNotFound, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := joined(t)
			one.local(t, s, newAccount(t, s, "home"))
			before := dump(t, s)
			err := s.ApplyWant(t.Context(), fullWant(1))
			if err == nil || one.kind != nil && !errors.Is(err, one.kind) || !strings.Contains(err.Error(), one.says) {
				t.Errorf("the error is %v", err)
			}
			if after := dump(t, s); after != before {
				t.Errorf("a want that failed changed\n%s\nto\n%s", before, after)
			}
		})
	}
}

// TestWhatTheHubManagesIsNotChangedOnTheBox tries every function that changes such things.
func TestWhatTheHubManagesIsNotChangedOnTheBox(t *testing.T) {
	s := joined(t)
	must(t, s.ApplyWant(t.Context(), fullWant(1)))
	a, err := s.Account(t.Context(), "home")
	must(t, err)
	digest := strings.Repeat("ab", 32)
	changes := map[string]func(context.Context) error{
		"a next version": func(ctx context.Context) error {
			_, err := s.AddVersions(ctx, a.ID, NewVersion{Kind: KindConfig, ID: wantedConfig, Content: `{}`})
			return err
		},
		"a name": func(ctx context.Context) error { return s.Rename(ctx, a.ID, KindTool, wantedTool, "hours") },
		"a description": func(ctx context.Context) error {
			_, err := s.Describe(ctx, a.ID, Ref{KindPrompt, wantedPrompt, 3}, "mine")
			return err
		},
		"an imported version": func(ctx context.Context) error {
			return s.ImportVersions(ctx, a.ID, Version{Kind: KindConfig, ID: wantedConfig, Number: 9, Content: `{}`})
		},
		"a deleted config": func(ctx context.Context) error { return s.Delete(ctx, a.ID, KindConfig, wantedConfig) },
		"a deleted version": func(ctx context.Context) error {
			return s.DeleteVersion(ctx, a.ID, Ref{KindPrompt, wantedPrompt, 3})
		},
		"a deleted voice":   func(ctx context.Context) error { return s.DeleteVoice(ctx, a.ID, "Ada") },
		"a revoked key":     func(ctx context.Context) error { return s.RevokeKey(ctx, "abc") },
		"a regenerated key": func(ctx context.Context) error { _, err := s.RegenerateKey(ctx, "abc"); return err },
		"an upgraded plugin": func(ctx context.Context) error {
			return s.UpgradePlugin(ctx, PluginFiles{Name: "hours", Digest: "y", Manifest: `{}`, Granted: `{}`}, digest)
		},
		"permissions":      func(ctx context.Context) error { return s.GrantPlugin(ctx, "hours", digest, `{}`) },
		"a removed plugin": func(ctx context.Context) error { return s.RemovePlugin(ctx, "hours") },
		"a plugin's setting": func(ctx context.Context) error {
			return s.SetPlugin(ctx, "hours", digest, []PluginSetting{{Name: "city", Value: "Bonn"}}, nil)
		},
		"a plugin's setting taken away": func(ctx context.Context) error {
			return s.SetPlugin(ctx, "hours", digest, nil, []string{"city"})
		},
		"a word": func(ctx context.Context) error {
			_, err := s.SetPronunciation(ctx, a.ID, Pronunciation{"nguyen", "Nguyen", "win"}, 10)
			return err
		},
		"a deleted word": func(ctx context.Context) error { return s.DeletePronunciation(ctx, a.ID, "nguyen") },
		"the lexicon":    func(ctx context.Context) error { return s.SetLexicon(ctx, a.ID, nil) },
	}
	before := dump(t, s)
	for name, change := range changes {
		managed, is := errors.AsType[ErrManaged](change(t.Context()))
		if !is || managed.Hub != "museum" {
			t.Errorf("%s: the error is %v, %v", name, is, managed)
		}
	}
	must(t, s.SetPlugin(t.Context(), "hours", digest, []PluginSetting{{Name: "token", Sealed: []byte("x")}}, nil))
	must(t, s.SetPlugin(t.Context(), "hours", digest, nil, []string{"token"}))
	must(t, s.SetLexicon(t.Context(), a.ID, []Pronunciation{{"nguyen", "Nguyen", "/wɪn/"}}))
	if after := dump(t, s); withoutChanges(after) != withoutChanges(before) {
		t.Errorf("refused changes changed\n%s\nto\n%s", before, after)
	}
	must(t, s.LeaveFleet(t.Context()))
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		if _, is := errors.AsType[ErrManaged](changes[name](t.Context())); is {
			t.Errorf("%s: it is still managed after the box has left the fleet", name)
		}
	}
	if left, err := s.FleetSettings(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("the box has left the fleet, and has the settings %v, %v", left, err)
	}
}

func withoutChanges(dump string) string {
	lines := strings.Split(dump, "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "plugin") })
	return strings.Join(lines, "\n")
}

func TestABoxThatLeftTheFleetMayComeBack(t *testing.T) {
	s := joined(t)
	must(t, s.ApplyWant(t.Context(), fullWant(1)))
	managed := func() string {
		lines := slices.DeleteFunc(strings.Split(dump(t, s), "\n"), func(line string) bool {
			table, _, _ := strings.Cut(line, " ")
			return !slices.Contains([]string{"resource", "resource_version", "voice", "key", "plugin", "plugin_setting",
				"lexicon", "fleet_setting"}, table)
		})
		return strings.Join(lines, "\n")
	}
	before := managed()
	back := func() {
		t.Helper()
		f, err := s.Fleet(t.Context())
		must(t, err)
		must(t, s.LeaveFleet(t.Context()))
		must(t, s.JoinFleet(t.Context(), f))
	}
	back()
	must(t, s.ApplyWant(t.Context(), fullWant(1)))
	if after := managed(); after != before {
		t.Errorf("leaving and coming back changed\n%s\nto\n%s", before, after)
	}
	a, err := s.Account(t.Context(), "home")
	must(t, err)
	if err := s.Delete(t.Context(), a.ID, KindConfig, wantedConfig); !errors.As(err, new(ErrManaged)) {
		t.Errorf("deleting a config of the hub: %v", err)
	}
	back()
	must(t, s.ApplyWant(t.Context(), fullWant(1)))
	must(t, s.LeaveFleet(t.Context()))
	_, err = s.AddVersions(t.Context(), a.ID, NewVersion{Kind: KindConfig, ID: wantedConfig, Content: `{"mine":1}`})
	must(t, err)
	must(t, s.JoinFleet(t.Context(), Fleet{Box: "kiosk", Hub: "museum", Chats: true}))
	if err := s.ApplyWant(t.Context(), fullWant(1)); !errors.As(err, new(ErrTaken)) {
		t.Errorf("a config that was changed on the box: %v", err)
	}
}

// A hub may be renamed, and one in a container has another name after each start.
func TestABoxStaysInItsFleetWhenTheHubIsRenamed(t *testing.T) {
	s := openStore(t, t.TempDir())
	joined := Fleet{Box: "kiosk", Hub: "museum", Chats: true}
	must(t, s.JoinFleet(t.Context(), joined))
	must(t, s.ApplyWant(t.Context(), Want{Revision: 7, Hub: "renamed"}))
	waiting, _, err := s.FleetWaiting(t.Context())
	must(t, err)
	must(t, s.JoinFleet(t.Context(), joined)) // as at the next start
	f, err := s.Fleet(t.Context())
	must(t, err)
	if f.Running != 7 {
		t.Errorf("the box runs revision %d, want 7", f.Running)
	}
	if after, _, err := s.FleetWaiting(t.Context()); err != nil || waiting == 0 || after != waiting {
		t.Errorf("%d facts wait, and %d did before, %v", after, waiting, err)
	}
}
