package appliance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"parley/appliance/contract"
	"parley/firmware/importer"
	"parley/store"
)

// What the published clients save of one box, another box imports: it then answers as the
// first one does. A second import changes nothing.
func TestWhatPublishedClientsSaveIsImported(t *testing.T) {
	t.Parallel()
	from := startFakeBox(t)
	fillBox(t, from)
	js, py := clientFolder(t, "js-client"), clientFolder(t, "py-client")
	for _, client := range []struct{ name, command, script string }{
		{"npm", "node", "saved.cjs"},
		{"PyPI", filepath.Join(py, "bin", "python"), "saved.py"},
	} {
		t.Run(client.name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			runScript(t, client.command, filepath.Join("testdata", client.script),
				"BOX_URL="+from.url, "API_KEY="+from.key, "CLIENT="+js, "FOLDER="+folder)
			to := startFakeBox(t)
			first := importInto(t, to, folder)
			if n := first.New(); n < 100 || len(first.LeftOut)+len(first.Mended)+len(first.Differs) > 0 {
				t.Errorf("%d new records; left out: %v, mended: %v, differs: %v", n, first.LeftOut, first.Mended,
					first.Differs)
			}
			for _, path := range answersOf(t, from) {
				_, want := from.ask(t, from.key, http.MethodGet, path, "")
				if status, got := to.ask(t, to.key, http.MethodGet, path, ""); status != 200 || got != want {
					t.Errorf("%s: status %d, and\n%s\nwant\n%s", path, status, got, want)
				}
			}
			if again := importInto(t, to, folder); again.New() != 0 {
				t.Errorf("the second import has %d new records", again.New())
			}
		})
	}
}

// importInto imports a folder into a box.
func importInto(t *testing.T, b *runningBox, folder string) *importer.Report {
	t.Helper()
	account, err := b.records.Account(t.Context(), "first")
	if err != nil {
		t.Fatal(err)
	}
	im, err := importer.Read(t.Context(), importer.Options{
		From:    folder,
		Account: account,
		Store:   b.records,
		Answers: func(contract.LanguageModel) (string, bool) { return "", true },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := im.Close(); err != nil {
			t.Error(err)
		}
	}()
	report, err := im.Run(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// answersOf returns paths of what a box answers about its records.
func answersOf(t *testing.T, b *runningBox) []string {
	t.Helper()
	paths := []string{"/v0/evi/chats?page_size=100", "/v0/evi/chats?page_size=100&status=USER_TIMEOUT",
		"/v0/evi/chat_groups?page_size=100"}
	for _, kind := range []string{"configs", "prompts", "tools"} {
		paths = append(paths, "/v0/evi/"+kind+"?page_size=100&restrict_to_most_recent=false", "/v0/evi/"+kind)
	}
	for list, page := range map[string]string{"chats": "chats_page", "chat_groups": "chat_groups_page"} {
		var all map[string][]struct{ ID string }
		_, text := b.ask(t, b.key, http.MethodGet, "/v0/evi/"+list+"?page_size=100", "")
		_ = json.Unmarshal([]byte(text), &all) // the other fields are not lists
		for _, one := range all[page] {
			paths = append(paths, "/v0/evi/"+list+"/"+one.ID+"?page_size=100")
			if list == "chat_groups" {
				paths = append(paths, "/v0/evi/"+list+"/"+one.ID+"/events?page_size=100")
			}
		}
	}
	if len(paths) < 20 {
		t.Fatalf("the box has few records: %v", paths)
	}
	return paths
}

// fillBox gives a box versions of configs, prompts and tools, and chats with all types of
// events.
func fillBox(t *testing.T, b *runningBox) {
	t.Helper()
	post := func(path, body string) (made struct{ ID string }) {
		status, text := b.ask(t, b.key, http.MethodPost, "/v0/evi/"+path, body)
		if err := json.Unmarshal([]byte(text), &made); err != nil || status != http.StatusCreated {
			t.Fatalf("%s: %d %s", path, status, text)
		}
		return made
	}
	prompt := post("prompts", `{"name":"Guide – früh","text":"You are {{who}}.","version_description":"first\nday"}`)
	post("prompts/"+prompt.ID, `{"text":"You are {{who}}, and kind.","prompt_expansion":{"enabled":false}}`)
	tool := post("tools", `{"name":"find_room","description":"Finds","parameters":"{\"type\":\"object\"}"}`)
	config := post("configs", `{"name":"Museum","evi_version":"4-mini","prompt":{"id":"`+prompt.ID+`","version":0}}`)
	post("configs/"+config.ID, `{"evi_version":"4-mini","prompt":{"id":"`+prompt.ID+`"},"tools":[{"id":"`+tool.ID+
		`","version":0}],"builtin_tools":[{"name":"hang_up","fallback_content":"Bye"}],"version_description":"two",
		"language_model":{"model_provider":"OPEN_AI","model_resource":"gpt-4o","temperature":0.5},
		"event_messages":{"on_new_chat":{"enabled":true,"text":"Hi"}},"timeouts":{"inactivity":{"enabled":false}},
		"webhooks":[{"url":"https://example.org/x","events":["chat_ended"]}],"nudges":{"enabled":true}}`)
	post("configs", `{"name":"With a text","evi_version":"4-mini","prompt":{"text":"Be brief."}}`)
	for i := range 9 {
		holdChat(t, b, i, config.ID)
	}
}

// holdChat stores a chat that has ended. Every third one resumes the group of the one
// before it.
func holdChat(t *testing.T, b *runningBox, i int, config string) {
	t.Helper()
	account, err := b.records.Account(t.Context(), "first")
	if err != nil {
		t.Fatal(err)
	}
	id := func(n int) string { return fmt.Sprintf("0193c0de-0000-4000-8000-%012d", n) }
	began := int64(1_760_000_000_000 + 100_000*i)
	chat := store.NewChat{
		ID:        id(i),
		GroupID:   id(1000 + i - i%3/2),
		Resume:    i%3 == 2,
		AccountID: account.ID,
		StartedMS: began,
		RequestID: "r",
	}
	if i%2 == 0 {
		chat.Config, chat.Metadata = store.ConfigRef{ID: config, Version: 1}, `{"twilio":{"caller_number":"+4930"}}`
	}
	if err := b.records.StartChat(context.Background(), chat); err != nil {
		t.Fatal(err)
	}
	var events []store.Event
	for n, kind := range []store.EventType{
		store.ChatStart, store.SystemPrompt, store.SessionSettings, store.UserMessage, store.AgentMessage,
		store.AssistantProsody, store.FunctionCall, store.FunctionCallResponse, store.UserInterruption,
		store.PauseOnset, store.ResumeOnset, store.UserRecordingStart, store.UserMessage, store.ChatEnd,
	} {
		events = append(events, store.Event{
			ID:          id(10_000 + 100*i + (n*7)%20), // not in the order of time
			AtMS:        began + int64(n/2),            // several at once
			Type:        kind,
			Role:        []store.Role{store.User, store.Agent, store.System, store.Tool}[n%4],
			MessageText: []string{"", "{}", "“Grüße” – 5 €\nline two"}[n%3],
			Metadata:    []string{"", `{"from_text":true}`}[n%2],
		})
	}
	events[3].EmotionFeatures, events[5].RelatedEventID = `{"Joy": 0.25, "Surprise (negative)": 1e-05}`, events[4].ID
	status := []store.Status{store.UserEnded, store.UserTimeout, store.Failed}[i%3]
	if err := b.records.EndChat(t.Context(), chat.ID, status, began+5000, events...); err != nil {
		t.Fatal(err)
	}
}
