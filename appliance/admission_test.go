package appliance

import (
	"log/slog"
	"testing"

	"parley/appliance/config"
	"parley/store"
)

// An account that is alone on the box leaves no seats to others, unless the
// operator has said how many it may have.
func TestAnAccountIsAloneUntilThereIsAnother(t *testing.T) {
	records, err := store.Open(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	var cfg config.Config
	is := alone(t.Context(), cfg, records)
	first := accountNamed(t, records, "first")
	if !is(first) {
		t.Error("the only account is not alone")
	}
	accountNamed(t, records, "second")
	if is(first) {
		t.Error("an account is alone beside another")
	}
	cfg.Limits.ChatsPerAccount = 2
	if alone(t.Context(), cfg, records) != nil {
		t.Error("what the operator said does not hold for an account that is alone")
	}
}

func accountNamed(t *testing.T, records *store.Store, name string) (id string) {
	t.Helper()
	if _, err := records.CreateKey(t.Context(), store.NewKey{Account: name}); err != nil {
		t.Fatal(err)
	}
	a, err := records.Account(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return a.ID
}
