package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestAFullAccountCannotStoreMore(t *testing.T) {
	clients := startRest(t, "home", "work")
	home, work := clients[0], clients[1]
	a := home.http.Config.Handler.(*described).API
	a.diskUse = newDiskUse(Limits{DiskPerAccount: 50_000}, a.Records)
	prompt := func(n int) string { return fmt.Sprintf(`{"name":"p%d","text":%q}`, n, strings.Repeat("word ", 2000)) }
	made, status, text := 0, 0, ""
	var header http.Header
	for status = http.StatusCreated; status == http.StatusCreated; made++ {
		if made > 20 {
			t.Fatal("an account may hold more than it may")
		}
		status, header, text = home.send("POST", "/v0/evi/prompts", "application/json", prompt(made))
	}
	if status != 503 || header.Get("Retry-After") == "" || !strings.Contains(text, "limits.disk_per_account") ||
		made < 4 {
		t.Errorf("after %d prompts: %d %v %s", made-1, status, header, text)
	}
	if status, _, text := home.send("GET", "/v0/evi/chat", "", ""); status != 503 || !strings.Contains(text, "delete") {
		t.Errorf("a chat: %d %s", status, text)
	}
	if status, _, _ := work.send("POST", "/v0/evi/prompts", "application/json", prompt(0)); status != 201 {
		t.Errorf("another account: %d", status)
	}
	// The account can still read and delete, and deleting frees space.
	list := home.ask("GET", "/v0/evi/prompts?page_size=100", "", 200)
	for _, p := range list["prompts_page"].([]any) {
		home.ask("DELETE", "/v0/evi/prompts/"+p.(map[string]any)["id"].(string), "", 200)
	}
	a.diskUse = newDiskUse(Limits{DiskPerAccount: 50_000}, a.Records) // as after ten seconds
	if status, _, text := home.send("POST", "/v0/evi/prompts", "application/json", prompt(0)); status != 201 {
		t.Errorf("after deleting all: %d %s", status, text)
	}
}
