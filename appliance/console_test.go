package appliance

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/appliance/box"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/internal/packtest"
	"parley/plugins/manifest"
	"parley/store"
)

// Each page of the console is used in a real browser with a recording for a microphone. The
// language model follows a script. testdata/console has a file for each page;
// ONLY=20-keys.cjs in the environment runs one of them.
func TestConsolePagesWorkInABrowser(t *testing.T) {
	if !inOwnProcess(t) { // linkedPacks changes PATH
		return
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("%v: install it, as make test does", err)
	}
	model := config.LanguageModel{OpenAI: scriptedModel(t), Model: "script"}
	b := startBox(t, func(c *config.Config) {
		c.Engines.LanguageModel = model
		c.Packs = linkedPacks(t, c.Packs)
	})
	addUndelivered(t, b)
	if err := box.FinishSetUp(t.Context(), b.cfg.Data); err != nil { // else the console sets the box up
		t.Fatal(err)
	}
	script := filepath.Join("testdata", "console.cjs")
	common := []string{"BOX_URL=" + b.url, "CLIENT=" + clientFolder(t, "react-client"), "CHROMIUM=" + chromium,
		"SHOTS=" + screenshotFolder(t)}
	runScript(t, "node", script, append(common, "LINK="+signIn(t, b), "LINKS_AGAIN="+signIn(t, b)+" "+signIn(t, b),
		"MICROPHONE="+packtest.Recording(t, question), "PLUGIN="+quietPlugin(t),
		"FACE="+filepath.Join("expression", "face", "testdata", "collins.jpg"))...)

	addManaged(t, b)
	runScript(t, "node", script, append(common, "LINK="+signIn(t, b), "STEPS=managed_console")...)
}

// screenshotFolder returns the folder for screenshots, and "" unless they were requested
// (go test -artifacts): they take a third of the time of a test.
func screenshotFolder(t *testing.T) string {
	t.Helper()
	if f := flag.Lookup("test.artifacts"); f == nil || f.Value.String() != "true" {
		return ""
	}
	return t.ArtifactDir()
}

// linkedPacks returns a folder with links to the packs of the machine, except one that is
// missing. Removing a pack deletes only its link, and fetching one hangs.
func linkedPacks(t *testing.T, packs string) string {
	t.Helper()
	bin, dir := t.TempDir(), t.TempDir()
	entries, err := os.ReadDir(packs)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == "voice-alan" || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if err := os.Symlink(filepath.Join(packs, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(bin, "pip3"), []byte("#!/bin/sh\nexec sleep 600\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return dir
}

// addUndelivered adds two webhooks for forbidden receivers to the outbox, one of which is
// given up.
func addUndelivered(t *testing.T, b *runningBox) {
	t.Helper()
	records, err := store.Join(t.Context(), b.cfg.Data)
	if err != nil {
		t.Fatal(err)
	}
	owner, err := records.Account(t.Context(), box.DefaultAccount)
	if err == nil {
		chat := store.NewChat{
			ID:        contract.NewID(),
			GroupID:   contract.NewID(),
			AccountID: owner.ID,
			StartedMS: time.Now().UnixMilli(),
			RequestID: "r",
		}
		events := []string{"chat_started"}
		chat.Webhooks = store.Webhooks{Hooks: []store.Webhook{{URL: "https://127.0.0.1:9/hook", Events: events},
			{URL: "https://127.0.0.1:9/gone", Events: events}}, Started: `{"event_name":"chat_started"}`,
			Ended: `{"event_name":"chat_ended"}`}
		err = records.StartWebhooks(t.Context(), chat)
	}
	// Wait until the box has tried each once.
	for tried := 0; err == nil && tried < 2; <-time.After(20 * time.Millisecond) {
		var all []store.SentWebhook
		all, err = records.Webhooks(t.Context(), store.WebhookFilter{}, 10)
		tried = 0
		for _, w := range all {
			tried += min(w.Attempts, 1)
		}
	}
	receivers, waitErr := records.WaitingReceivers(t.Context())
	for _, r := range receivers {
		due, _, dueErr := records.DueWebhooks(t.Context(), r.Num, time.Now().Add(time.Hour).UnixMilli(), 10)
		for _, d := range due {
			if strings.HasSuffix(d.URL, "/gone") {
				dueErr = errors.Join(dueErr,
					records.WebhookDead(t.Context(), d.Num, time.Now().UnixMilli(), "answered 410 Gone"))
			}
		}
		waitErr = errors.Join(waitErr, dueErr)
	}
	err = errors.Join(err, waitErr)
	if err := errors.Join(err, records.Close()); err != nil {
		t.Fatal(err)
	}
}

// quietPlugin returns a plugin that answers nothing, requests storage, and requires a
// secret.
func quietPlugin(t *testing.T) string {
	t.Helper()
	command := []byte(
		"\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00" +
			"\x03\x02\x01\x00\x07\x0a\x01\x06_start\x00\x00\x0a\x04\x01\x02\x00\x0b")
	wasm, err := manifest.Embed(command, []byte(`name: quiet
version: 1.0.0
description: Says nothing.
tools: [{name: hush, description: Say nothing.}]
settings: [{name: key, type: secret, required: true}]
permissions: {storage: 1MiB}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "quiet.wasm")
	if err := os.WriteFile(file, wasm, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// signIn returns a link that signs in to the console of the box.
func signIn(t *testing.T, b *runningBox) string {
	t.Helper()
	records, err := store.Join(t.Context(), b.cfg.Data)
	if err != nil {
		t.Fatal(err)
	}
	link, err := records.StartSignIn(t.Context(), "", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := records.Close(); err != nil {
		t.Fatal(err)
	}
	return b.url + "/#signin=" + link
}
