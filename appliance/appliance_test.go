package appliance

import (
	"log/slog"
	"testing"

	"parley/appliance/api"
	"parley/appliance/config"
)

// A request for a link to a recording writes nothing: the secret that signs links is
// created when the box starts, while the disk may still have space for it.
func TestStartCreatesTheSecretThatSignsLinks(t *testing.T) {
	a := &appliance{cfg: config.Config{Data: t.TempDir()}, log: slog.New(slog.DiscardHandler)}
	defer a.close()
	if err := a.openStore(t.Context()); err != nil {
		t.Fatal(err)
	}
	before, _ := a.records.Written()
	if _, err := a.records.Secret(t.Context(), api.AudioURLKey); err != nil {
		t.Fatal(err)
	}
	if after, _ := a.records.Written(); after != before {
		t.Errorf("%d writes", after-before)
	}
}
