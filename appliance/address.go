package appliance

import (
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"parley/appliance/config"
	"parley/internal/durable"
	"parley/internal/layout"
	"parley/store"
)

// whereabouts is what a box writes into its data folder while it listens, so
// that commands on the same machine find it.
type whereabouts struct {
	PID int    `json:"pid"` // that of the process that wrote it
	URL string `json:"url"` // http://HOST:PORT, or https
}

// announce writes where the box listens into its data folder, for its own user
// only. withdraw takes it back. A box on a full disk goes on without.
func announce(cfg config.Config, at net.Addr, log *slog.Logger) (withdraw func()) {
	file := filepath.Join(cfg.Data, layout.Address)
	text, err := json.Marshal(whereabouts{os.Getpid(), scheme(cfg) + "://" + localAddress(at)})
	if err == nil {
		err = durable.WriteFile(file, append(text, '\n'), 0o600)
	}
	if err != nil {
		log.Warn("the address of the box is not written: parley talk needs its --url", "err", err)
	}
	return func() { os.Remove(file) } // one that stays is seen to be stale
}

// Running returns the URL of the box that runs on the data folder, as it is
// reached from this machine; it is empty when none does, or when it does not
// listen yet. What a box left behind that was killed does not count: a running
// one holds the folder's lock.
func Running(data string) (string, error) {
	pid, held, err := store.Holder(data)
	if err != nil || !held {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(data, layout.Address))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var w whereabouts
	if json.Unmarshal(text, &w) != nil || strconv.Itoa(w.PID) != pid {
		return "", nil
	}
	return w.URL, nil
}

// localAddress is the address at which a listener is found from this machine.
func localAddress(at net.Addr) string {
	if tcp, ok := at.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
	}
	return at.String()
}
