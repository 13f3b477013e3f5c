package appliance

import (
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"parley/appliance/certs"
	"parley/appliance/config"
	"parley/internal/durable"
	"parley/internal/layout"
	"parley/store"
)

// whereabouts is what a box writes into its data folder while it listens, so
// that commands on the same machine find it.
type whereabouts struct {
	PID    int      `json:"pid"`              // that of the process that wrote it
	URL    string   `json:"url"`              // http://HOST:PORT, or https
	Listen string   `json:"listen,omitempty"` // ADDRESS:PORT, the address perhaps 0.0.0.0 or ::
	Names  []string `json:"names,omitempty"`  // of its certificate: all that it has by ACME
	ACME   bool     `json:"acme,omitempty"`
}

// announce writes where the box listens into its data folder, for its own user
// only. withdraw takes it back. A box on a full disk goes on without.
func announce(cfg config.Config, at net.Addr, log *slog.Logger) (withdraw func()) {
	file := filepath.Join(cfg.Data, layout.Address)
	text, err := json.Marshal(whereabouts{
		PID:    os.Getpid(),
		URL:    scheme(cfg) + "://" + localAddress(at),
		Listen: at.String(),
		Names:  cfg.TLS.Names,
		ACME:   cfg.TLS.Mode == config.TLSACME,
	})
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
	w, err := found(data)
	return w.URL, err
}

// Elsewhere returns the URLs under which other machines reach the box that runs on
// the data folder, the likeliest first; none where it listens to this machine alone.
func Elsewhere(data string) ([]string, error) {
	w, err := found(data)
	if err != nil {
		return nil, err
	}
	return w.elsewhere(certs.MachineAddresses()), nil
}

func found(data string) (w whereabouts, err error) {
	pid, held, err := store.Holder(data)
	if err != nil || !held {
		return w, err
	}
	text, err := os.ReadFile(filepath.Join(data, layout.Address))
	if errors.Is(err, fs.ErrNotExist) {
		return w, nil
	}
	if err != nil {
		return w, err
	}
	if json.Unmarshal(text, &w) != nil || strconv.Itoa(w.PID) != pid {
		return whereabouts{}, nil
	}
	return w, nil
}

// elsewhere are the URLs of a box on a machine that has these addresses. By ACME it
// proves to be who it is under its names only.
func (w whereabouts) elsewhere(machine []net.IP) []string {
	host, port, err := net.SplitHostPort(w.Listen)
	at := net.ParseIP(host)
	if err != nil || at == nil || at.IsLoopback() {
		return nil
	}
	hosts := slices.Clone(w.Names)
	if !w.ACME && !at.IsUnspecified() {
		hosts = append(hosts, host)
	}
	if !w.ACME && at.IsUnspecified() {
		var long []string // people type those of IPv4 sooner
		for _, ip := range machine {
			switch {
			case ip.To4() != nil:
				hosts = append(hosts, ip.String())
			case at.To4() == nil:
				long = append(long, ip.String())
			}
		}
		hosts = append(hosts, long...)
	}
	scheme, _, _ := strings.Cut(w.URL, "://")
	var urls []string
	for _, h := range hosts {
		url := scheme + "://" + net.JoinHostPort(h, port)
		if scheme == "https" && port == "443" || scheme == "http" && port == "80" {
			url = strings.TrimSuffix(url, ":"+port)
		}
		if !slices.Contains(urls, url) {
			urls = append(urls, url)
		}
	}
	return urls
}

// localAddress is the address at which a listener is found from this machine.
func localAddress(at net.Addr) string {
	if tcp, ok := at.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
	}
	return at.String()
}
