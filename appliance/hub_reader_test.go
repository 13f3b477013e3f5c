package appliance

import (
	"context"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"

	"parley/appliance/config"
)

func TestAReaderIsMadeOnARunningHub(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	cfg, err := config.Load(config.Sources{
		Flags:   map[string]string{"data": t.TempDir(), "listen": "127.0.0.1:0", "hub.listen": at},
		Environ: os.Environ(),
		Dir:     t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	if _, err := AddFleetReader(t.Context(), cfg, "warehouse", log); err == nil ||
		!strings.Contains(err.Error(), "is not the data folder of a hub") {
		t.Errorf("before there is a hub: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- RunHub(ctx, cfg, Console{Log: log, Ready: func(Ready) { close(ready) }}) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	select {
	case <-ready:
	case err := <-ended:
		ended <- nil
		t.Fatal("the hub ended: ", err)
	}
	file, err := AddFleetReader(t.Context(), cfg, "warehouse", log)
	for _, want := range []string{"# server: tls://" + at, "# consumer: warehouse\n",
		"# inbox prefix: _INBOX_warehouse\n", "-----BEGIN NATS USER JWT-----", "-----BEGIN USER NKEY SEED-----"} {
		if err != nil || !strings.Contains(string(file), want) {
			t.Errorf("the file does not have %q: %v\n%s", want, err, file)
		}
	}
	_, err = AddFleetReader(t.Context(), cfg, "a b", log)
	if err == nil || !strings.Contains(err.Error(), "--reader") {
		t.Errorf("a name with a space: %v", err)
	}
	for range 2 { // the second time, there is nothing to remove
		if err := RemoveFleetReader(t.Context(), cfg, "warehouse", log); err != nil {
			t.Error(err)
		}
	}
}
