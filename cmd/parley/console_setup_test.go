package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/appliance/config"
	"parley/appliance/contract"
)

// post sends a body to a box and decodes its answer into reply.
func post(t *testing.T, client *http.Client, url, body string, cookies []*http.Cookie, reply any) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for _, c := range cookies {
		r.AddCookie(c)
	}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode/100 != 2 {
		t.Fatalf("%s: %d %s", url, res.StatusCode, text)
	}
	if err := json.Unmarshal(text, reply); err != nil {
		t.Fatal(err)
	}
	return res
}

// A service without models serves its console, whose first visitor sets it up. The restart keeps the
// process, so that a service manager sees none.
func TestAServiceWithoutModelsIsSetUpAtItsConsoleAndRestartsInPlace(t *testing.T) {
	data, before, after := filepath.Join(t.TempDir(), "data"), freeAddress(t), freeAddress(t)
	cmd := program(t, []string{"INVOCATION_ID=1"}, "serve", "--data", data, "--packs",
		filepath.Join(t.TempDir(), "packs"))
	cmd.Dir = t.TempDir()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	text := []byte("listen: " + before + " # where it began\n")
	if err := errors.Join(os.Mkdir(data, 0o711), os.WriteFile(filepath.Join(data, config.FileName), text, 0o644),
		cmd.Start()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }() // if a step fails
	answers(t, "http://"+before+"/healthz")

	var done contract.ReturnSetUpDone
	res := post(t, http.DefaultClient, "http://"+before+"/v0/box/setup",
		`{"listen":"`+after+`","profile":"test","tls":"off","password":"a good password"}`, nil, &done)
	if len(done.Packs) == 0 {
		t.Error("no pack is missing in an empty folder")
	}
	var where contract.ReturnRestart
	post(t, http.DefaultClient, "http://"+before+"/v0/box/restart", "", res.Cookies(), &where)
	if !strings.HasPrefix(where.URL, "http://"+after+"/#signin=") || where.Probe != "http://"+after+"/healthz" {
		t.Errorf("%+v", where)
	}
	answers(t, "http://"+after+"/healthz") // of the same process, which this test started
	var session contract.ReturnSession
	post(t, http.DefaultClient, "http://"+after+"/v0/box/sessions", `{"password":"a good password"}`, nil, &session)
	if session.Account != "default" {
		t.Errorf("%+v", session)
	}
	_, link, _ := strings.Cut(where.URL, "#signin=")
	post(t, http.DefaultClient, "http://"+after+"/v0/box/sessions", `{"link":"`+link+`"}`, nil, &session)
	if cfg := loadedFrom(t, data); cfg.Listen != after || cfg.Profile != "test" {
		t.Errorf("listen %s, profile %s", cfg.Listen, cfg.Profile)
	}

	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("after SIGTERM: %v\n%s", err, &errs)
		}
	case <-time.After(atOnce):
		t.Errorf("it does not end:\n%s", &errs)
	}
	if !strings.Contains(errs.String(), "models are missing") {
		t.Error(errs.String())
	}
}
