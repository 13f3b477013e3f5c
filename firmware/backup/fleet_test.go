package backup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAHubComesBackWithItsKeysItsStreamsAndAllThatIsRevoked(t *testing.T) {
	data := dataFolder(t, map[string]string{
		"parley.db":              "x",
		"fleet/trust.json":       `{"operator":"SO","revoked":{"UA":1}}`,
		"fleet/nats-server.conf": "made at each start",
		"fleet/store/facts":      "before the backup",
		"fleet/incoming/part":    "x",
		"fleet.yaml":             "x",
	})
	file := backedUp(t, data)
	to := Target{
		Data:   filepath.Join(t.TempDir(), "another machine"),
		Schema: 7,
		Check:  sound,
		Force:  true,
	}
	if _, _, err := Restore(t.Context(), file, to, nil); err != nil {
		t.Fatal(err)
	}
	if got := found(t, to.Data); len(got) != 2 || got["fleet/trust.json"] == "" {
		t.Errorf("another machine got %v", got)
	}
	// Since the backup, a box was removed, and facts came.
	write := func(name, text string) {
		t.Helper()
		must(t, os.WriteFile(filepath.Join(data, name), []byte(text), 0o600))
	}
	write("fleet/trust.json", `{"operator":"SO","revoked":{"UA":1,"UB":2}}`)
	write("fleet/store/facts", "after the backup")
	to.Data = data
	if _, _, err := Restore(t.Context(), file, to, nil); err != nil {
		t.Fatal(err)
	}
	got := found(t, data)
	if got["fleet/store/facts"] != "after the backup" || !strings.Contains(got["fleet/trust.json"], "UB") {
		t.Errorf("restored is %v", got)
	}
	// Keys of another fleet say nothing.
	write("fleet/trust.json", `{"operator":"SX","revoked":{"UC":2}}`)
	if _, _, err := Restore(t.Context(), file, to, nil); err != nil {
		t.Fatal(err)
	}
	if keys := found(t, data)["fleet/trust.json"]; strings.Contains(keys, "UC") {
		t.Errorf("the keys are %s", keys)
	}
}
