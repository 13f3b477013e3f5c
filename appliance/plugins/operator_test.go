package plugins

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/plugins/manifest"
	"parley/store"
)

// quietPlugin returns a plugin with an empty answer: a WASI command with one function, and
// its manifest.
func quietPlugin(t *testing.T, version, more string) io.ReadSeeker {
	t.Helper()
	module := []byte(
		"\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00" +
			"\x03\x02\x01\x00\x07\x0a\x01\x06_start\x00\x00\x0a\x04\x01\x02\x00\x0b")
	text := "name: quiet\nversion: " + version + "\ndescription: Says nothing.\n" +
		"tools: [{name: hush, description: Say nothing., " +
		"parameters: {type: object, properties: {loud: {type: boolean}}}}]\n" + more
	wasm, err := manifest.Embed(module, []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(wasm)
}

func TestTheOperatorLooksAfterPlugins(t *testing.T) {
	cfg := config.Config{Data: t.TempDir()}
	records, err := store.Open(t.Context(), cfg.Data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := OpenRegistry(cfg, records, slog.New(slog.DiscardHandler))
	defer func() {
		if err := errors.Join(s.Close(), records.Close()); err != nil {
			t.Error(err)
		}
	}()
	b, ctx := Operator{registry: s}, t.Context()
	const asks = "settings: [{name: key, type: secret, required: true}]\npermissions: {storage: 1MiB}\n"
	offer, err := b.ExaminePlugin(ctx, quietPlugin(t, "1.0.0", asks), "")
	if err != nil || len(offer.Asks) != 1 || offer.Asks[0].Name != "storage" || offer.InstalledVersion != "" ||
		len(offer.UnsetSettings) != 1 {
		t.Fatalf("offered is %+v, %v", offer, err)
	}
	if all, err := b.InstalledPlugins(ctx); err != nil || len(all) != 0 {
		t.Fatalf("looking at it installed it: %v, %v", all, err)
	}
	p, err := b.InstallPlugin(ctx, "", quietPlugin(t, "1.0.0", asks), contract.PluginChoice{})
	if err != nil || p.State != contract.PluginIncomplete || len(p.Granted) != 0 || len(p.Denied) != 1 {
		t.Fatalf("installed is %+v, %v", p, err)
	}
	p, err = b.ChangePlugin(ctx, "quiet",
		contract.PostedPluginChange{Grant: []string{"storage"},
			Settings: []contract.PostedPluginAnswer{{Name: "key", Value: "hidden-word"}}})
	if err != nil || p.State != contract.PluginReady || len(p.Granted) != 1 || !p.Settings[0].IsSet ||
		p.Settings[0].Value != "" {
		t.Fatalf("changed, it is %+v, %v", p, err)
	}
	if called, err := b.CallPlugin(ctx, "", "quiet", contract.PostedPluginCall{Parameters: "{}"}); err != nil ||
		called.Error != "" {
		t.Errorf("called, it answers %+v, %v", called, err)
	}
	p, err = b.InstallPlugin(ctx, "quiet", quietPlugin(t, "1.1.0", asks), contract.PluginChoice{})
	if err != nil || p.Version != "1.1.0" || p.Upgrades != 1 || !p.Settings[0].IsSet || len(p.Granted) != 1 {
		t.Errorf("upgraded, it is %+v, %v", p, err)
	}
	loud := contract.PostedPluginCall{Parameters: `{"loud":7}`}
	for what, failed := range map[string]struct {
		err  error
		want error
	}{
		"installed twice": {second(b.InstallPlugin(ctx, "", quietPlugin(t, "1.2.0", asks), contract.PluginChoice{})),
			contract.ErrConflict{}},
		"another's name": {
			second(b.InstallPlugin(ctx, "other", quietPlugin(t, "1.2.0", asks), contract.PluginChoice{})),
			contract.ErrConflict{}},
		"the same again": {
			second(b.InstallPlugin(ctx, "quiet", quietPlugin(t, "1.1.0", asks), contract.PluginChoice{})),
			contract.ErrConflict{}},
		"no plugin": {second(b.ExaminePlugin(ctx, strings.NewReader("hello, this is none"), "")),
			contract.ErrInvalid{}},
		"a strange grant": {
			second(b.ChangePlugin(ctx, "quiet", contract.PostedPluginChange{Grant: []string{"network"}})),
			contract.ErrInvalid{}},
		"a strange setting": {
			second(b.ChangePlugin(ctx, "quiet", contract.PostedPluginChange{Unset: []string{"town"}})),
			contract.ErrInvalid{}},
		"one that is unknown": {second(b.InstalledPlugin(ctx, "loud")), contract.ErrNotFound{}},
		"other parameters":    {second(b.CallPlugin(ctx, "", "quiet", loud)), contract.ErrInvalid{}},
		"removed, unknown":    {b.RemovePlugin(ctx, "loud"), contract.ErrNotFound{}},
		"its log, unknown":    {second(b.PluginLog(ctx, "loud", 1)), contract.ErrNotFound{}},
	} {
		if !sameKind(failed.err, failed.want) {
			t.Errorf("%s: %T %v, want a %T", what, failed.err, failed.err, failed.want)
		}
	}
	if err := b.RemovePlugin(ctx, "quiet"); err != nil {
		t.Error(err)
	}
	if all, err := b.InstalledPlugins(ctx); err != nil || len(all) != 0 {
		t.Errorf("removed, there is %v, %v", all, err)
	}
}

func second[T any](_ T, err error) error { return err }

func sameKind(got, want error) bool {
	switch want.(type) {
	case contract.ErrConflict:
		_, ok := errors.AsType[contract.ErrConflict](got)
		return ok
	case contract.ErrInvalid:
		_, ok := errors.AsType[contract.ErrInvalid](got)
		return ok
	}
	_, ok := errors.AsType[contract.ErrNotFound](got)
	return ok
}
