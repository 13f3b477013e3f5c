package appliance

import (
	"log/slog"
	"testing"

	"parley/appliance/api"
	"parley/appliance/config"
)

// Who asks where a chat can be heard writes nothing: what signs the links was made
// when the box began, and perhaps there was room then.
func TestWhatSignsLinksIsMadeBeforeSomebodyAsks(t *testing.T) {
	records, err := openStore(t.Context(), config.Config{Data: t.TempDir()}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	before, _ := records.Written()
	if _, err := records.Secret(t.Context(), api.AudioURLKey); err != nil {
		t.Fatal(err)
	}
	if after, _ := records.Written(); after != before {
		t.Errorf("%d writes", after-before)
	}
}
