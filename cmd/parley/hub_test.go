package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/appliance/contract"
)

// Errors name the hub and its address, and lists say what is rolled out.
func TestCommandsOfAHubNameIt(t *testing.T) {
	t.Parallel()
	three := 3
	item := func(kind contract.FleetItemKind, name string) contract.FleetItem {
		return contract.FleetItem{Kind: kind, Name: name}
	}
	page := contract.ReturnPagedRollouts{RolloutsPage: []contract.ReturnRollout{
		{ID: 5, Item: item(contract.FleetSetting, "chat.max_chats"), Content: "4"},
		{ID: 4, Item: item(contract.FleetSetting, "log.level"), Remove: true},
		{ID: 3, Item: item(contract.FleetPlugin, "weather"), Content: "version 1.2.0"},
		{ID: 2, Item: item(contract.FleetLexicon, ""), Content: "7 words"},
		{ID: 1, Item: item(contract.FleetConfig, "Guide"), Version: &three},
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var answer any = page
		switch {
		case r.Header.Get("X-Service-Api-Key") != "right":
			w.WriteHeader(http.StatusUnauthorized)
			answer = map[string]string{"message": "no such key"}
		case r.Method == http.MethodPost:
			w.WriteHeader(http.StatusBadRequest)
			answer = map[string]string{"message": "target: there is no such group"}
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	gone := httptest.NewServer(nil)
	gone.Close()
	t.Cleanup(server.Close)
	for _, row := range []struct {
		args, url, key string
		code           int
		want           []string
	}{
		{"rollout", server.URL, "right", exitDone, []string{"setting chat.max_chats=4 ",
			"the removal of setting log.level ", "plugin weather (version 1.2.0)", "lexicon (7 words)",
			"config Guide version 3"}},
		{"rollout config Guide --to group:x", server.URL, "right", exitFailed,
			[]string{"the hub at " + server.URL + " refuses the request (400 Bad Request): target: "}},
		{"boxes", server.URL, "wrong", exitFailed, []string{"the hub at " + server.URL + " refuses the key (401 "}},
		{"boxes", gone.URL, "right", exitFailed,
			[]string{"nothing listens at " + gone.URL + ": start the hub with parley hub, or "}},
	} {
		words := strings.Fields("hub " + row.args + " --url " + row.url + " --key " + row.key)
		code, out, errs := parley(t, "", words...)
		for _, want := range row.want {
			if code != row.code || !strings.Contains(out+errs, want) {
				t.Errorf("hub %s: code %d, %s%s; want %d and %q", row.args, code, out, errs, row.code, want)
			}
		}
	}
	code, _, errs := parley(t, "", "hub", "boxes", "--data", beginData(t))
	if code != exitFailed || !strings.Contains(errs, "the hub of ") || !strings.Contains(errs, "parley hub --data ") {
		t.Errorf("without a hub that runs: %d, %s", code, errs)
	}
}
