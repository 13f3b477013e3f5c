package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"parley/store"
)

// The contents of the database: a busy box after some weeks.
const (
	filledPrompts = 500
	filledConfigs = 100
	filledChats   = 2000
	filledEvents  = 20 // of each chat
)

const apiTool = `{"type":"object","properties":{"day":{"type":"string","description":"A day of the ` +
	`week"}},"required":["day"]}`

// fill creates an account with prompts, tools, configs and chats.
func (s *apiServer) fill(ctx context.Context) error {
	made, err := s.records.CreateKey(ctx, store.NewKey{Account: "default", Label: "parley-bench"})
	if err != nil {
		return err
	}
	g, err := s.records.OpenKey(ctx, made.APIKey)
	if err != nil {
		return err
	}
	s.key, s.account = made.APIKey, g.AccountID
	if s.plain, err = openPlainSQL(s.dir, s.account); err != nil {
		return err
	}
	for i := range filledPrompts {
		added, err := s.records.AddVersions(ctx, s.account, newPrompt(fmt.Sprint("prompt ", i)))
		if err != nil {
			return err
		}
		s.prompt = added[0]
	}
	text, err := json.Marshal(map[string]string{"parameters": apiTool})
	if err != nil {
		return err
	}
	added, err := s.records.AddVersions(ctx, s.account, store.NewVersion{
		Kind:    store.KindTool,
		ID:      uuid.NewString(),
		Name:    "opening_hours",
		Content: string(text),
	})
	if err != nil {
		return err
	}
	s.tool = added[0]
	s.resolved = []store.Ref{{Kind: store.KindTool, ID: s.tool.ID, Version: store.Newest},
		{Kind: store.KindPrompt, ID: s.prompt.ID, Version: 0}}
	for i := range filledConfigs {
		added, err := s.records.AddVersions(ctx, s.account, s.newConfig(fmt.Sprint("config ", i)))
		if err != nil {
			return err
		}
		s.config = added[0]
	}
	return s.fillChats(ctx)
}

func (s *apiServer) fillChats(ctx context.Context) error {
	var all errgroup.Group
	all.SetLimit(64) // many share a commit
	for i := range filledChats {
		chat := store.NewChat{
			ID:        uuid.NewString(),
			GroupID:   uuid.NewString(),
			AccountID: s.account,
			StartedMS: int64(1e12) + int64(i),
			RequestID: uuid.NewString(),
		}
		s.chat = chat.ID
		all.Go(func() error {
			events := make([]store.Event, filledEvents)
			for n := range events {
				events[n] = store.Event{
					ID:          uuid.NewString(),
					AtMS:        chat.StartedMS + int64(n),
					Type:        store.UserMessage,
					Role:        store.User,
					MessageText: "When do you open on Sunday?",
				}
			}
			if err := s.records.StartChat(ctx, chat, events...); err != nil {
				return err
			}
			return s.records.EndChat(ctx, chat.ID, store.UserEnded, chat.StartedMS+1000)
		})
	}
	return all.Wait()
}

func promptContent() string {
	text, _ := json.Marshal(map[string]string{"text": hotel}) // strings cannot fail
	return string(text)
}

func newPrompt(name string) store.NewVersion {
	return store.NewVersion{
		Kind:    store.KindPrompt,
		ID:      uuid.NewString(),
		Name:    name,
		Content: promptContent(),
	}
}

// configBody returns a config as it is posted; without a name it is a version.
func (s *apiServer) configBody(name string) string {
	if name != "" {
		name = fmt.Sprintf(`"name":%q,`, name)
	}
	return fmt.Sprintf(`{%s"evi_version":"4-mini","prompt":{"id":%q,"version":0},"tools":[{"id":%q}],`+
		`"event_messages":{"on_new_chat":{"enabled":true,"text":"Good `+
		`morning."}},"timeouts":{"inactivity":{"enabled":true,"duration_secs":60}}}`,
		name, s.prompt.ID, s.tool.ID)
}

func (s *apiServer) newConfig(name string) store.NewVersion {
	return store.NewVersion{
		Kind:    store.KindConfig,
		ID:      uuid.NewString(),
		Name:    name,
		Content: s.configBody(""),
		Uses:    s.resolved,
	}
}

// reads returns the kinds of reads. Each plain one includes the lookup of the key.
func (s *apiServer) reads() []apiRow {
	read := func(name, path string, ask func(ctx context.Context) error) apiRow {
		return apiRow{
			name:    name,
			note:    "calls per second; the same SQL directly",
			request: func() (string, string, string) { return "GET", path, "" },
			plain:   s.withKey(ask),
		}
	}
	versionPath := func(v store.Version) string {
		return fmt.Sprintf("/v0/evi/%ss/%s/version/%d", v.Kind, v.ID, v.Number)
	}
	page := store.Page{Number: 5, Size: 10}
	const query = "?page_number=5&page_size=10"
	return []apiRow{
		read("get_prompt", versionPath(s.prompt), func(ctx context.Context) error {
			return s.plain.version(ctx, s.prompt)
		}),
		read("get_tool", versionPath(s.tool), func(ctx context.Context) error {
			return s.plain.version(ctx, s.tool)
		}),
		read("get_config", versionPath(s.config), func(ctx context.Context) error {
			if err := s.plain.version(ctx, s.config); err != nil {
				return err
			}
			return s.plain.resolve(ctx, s.resolved)
		}),
		read("list_prompts", "/v0/evi/prompts"+query, s.list(store.KindPrompt, page, nil)),
		read("list_configs", "/v0/evi/configs"+query, s.list(store.KindConfig, page, s.resolved)),
		read("list_chats", "/v0/evi/chats"+query, func(ctx context.Context) error {
			return s.plain.chats(ctx, page)
		}),
		read("list_chat_groups", "/v0/evi/chat_groups"+query, func(ctx context.Context) error {
			return s.plain.groups(ctx, page)
		}),
		read("list_chat_events", "/v0/evi/chats/"+s.chat+"?page_size=10", func(ctx context.Context) error {
			return s.plain.events(ctx, s.chat, page.Size)
		}),
	}
}

// writes returns the kinds of writes. The last one makes no list longer.
func (s *apiServer) writes() []apiRow {
	write := func(name, method, path string, body func() string, change func(ctx context.Context) error) apiRow {
		return apiRow{
			name:    name,
			note:    "durable, calls per second; the same SQL directly, a transaction each",
			request: func() (string, string, string) { return method, path, body() },
			plain:   s.withKey(change),
		}
	}
	keep := func(draft func() store.NewVersion) func(context.Context) error {
		return func(ctx context.Context) error { return s.plain.addVersion(ctx, draft()) }
	}
	always := func(body string) func() string { return func() string { return body } }
	// A new text each time, since SQLite does not write unchanged values.
	var changes atomic.Int64
	described := func() string { return fmt.Sprintf("change %d", changes.Add(1)) }
	return []apiRow{
		write("create_prompt", "POST", "/v0/evi/prompts",
			always(strings.Replace(promptContent(), "{", `{"name":"bench",`, 1)),
			keep(func() store.NewVersion { return newPrompt("bench") })),
		write("create_config", "POST", "/v0/evi/configs", always(s.configBody("bench")),
			func(ctx context.Context) error {
				// whether its tools have names of their own
				if err := s.plain.resolve(ctx, s.resolved[:1]); err != nil {
					return err
				}
				if err := keep(func() store.NewVersion { return s.newConfig("bench") })(ctx); err != nil {
					return err
				}
				return s.plain.resolve(ctx, s.resolved)
			}),
		write("describe_prompt", "PATCH", fmt.Sprintf("/v0/evi/prompts/%s/version/0", s.prompt.ID), func() string {
			return fmt.Sprintf(`{"version_description":%q}`, described())
		}, func(ctx context.Context) error {
			return s.plain.describe(ctx, s.prompt, described())
		}),
		write("add_prompt_version", "POST", "/v0/evi/prompts/"+s.prompt.ID, always(promptContent()),
			keep(func() store.NewVersion {
				return store.NewVersion{Kind: store.KindPrompt, ID: s.prompt.ID, Content: promptContent()}
			})),
	}
}

// withKey looks the key up first, as every call of the API does.
func (s *apiServer) withKey(ask func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := s.plain.openKey(ctx, s.key); err != nil {
			return err
		}
		return ask(ctx)
	}
}

func (s *apiServer) list(kind store.Kind, page store.Page, refs []store.Ref) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := s.plain.list(ctx, kind, page); err != nil || refs == nil {
			return err
		}
		return s.plain.resolve(ctx, refs)
	}
}
