package box

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

// address is what a box writes into its data folder while it listens, so that
// commands on the same machine find it.
type address struct {
	PID    int      `json:"pid"`              // of the process that wrote the file
	URL    string   `json:"url"`              // http://HOST:PORT, or https
	Listen string   `json:"listen,omitempty"` // ADDRESS:PORT; the address may be 0.0.0.0 or ::
	Names  []string `json:"names,omitempty"`  // of the certificate; with ACME it has no others
	ACME   bool     `json:"acme,omitempty"`
}

// Announce writes where the box listens into its data folder; only its own user
// can read the file. withdraw deletes the file. If the file cannot be written, as
// on a full disk, Announce logs that and the box continues.
func Announce(cfg config.Config, at net.Addr, log *slog.Logger) (withdraw func()) {
	file := filepath.Join(cfg.Data, layout.Address)
	text, err := json.Marshal(address{
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
		log.Warn("cannot write the address of the box: parley talk needs --url", "err", err)
	}
	return func() { os.Remove(file) } // a stale file is recognised by its PID
}

// Running returns the URL at which this machine reaches the box that runs on the
// data folder. It returns "" when no box runs, or when it does not listen yet. The
// file of a box that was killed is ignored: a running box holds the folder's lock.
func Running(data string) (string, error) {
	a, err := announced(data)
	return a.URL, err
}

// Elsewhere returns the URLs at which other machines reach the box that runs on
// the data folder, the likeliest first. It returns none for a box that listens
// only to this machine.
func Elsewhere(data string) ([]string, error) {
	a, err := announced(data)
	if err != nil {
		return nil, err
	}
	return a.elsewhere(certs.MachineAddresses()), nil
}

// announced reads the address of the box that runs on the data folder.
func announced(data string) (a address, err error) {
	pid, held, err := store.Holder(data)
	if err != nil || !held {
		return a, err
	}
	text, err := os.ReadFile(filepath.Join(data, layout.Address))
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err != nil {
		return a, err
	}
	if json.Unmarshal(text, &a) != nil || strconv.Itoa(a.PID) != pid {
		return address{}, nil
	}
	return a, nil
}

// elsewhere returns the URLs of a box on a machine with these IP addresses. A
// certificate by ACME is valid for its names only.
func (a address) elsewhere(machine []net.IP) []string {
	host, port, err := net.SplitHostPort(a.Listen)
	at := net.ParseIP(host)
	if err != nil || at == nil || at.IsLoopback() {
		return nil
	}
	hosts := slices.Clone(a.Names)
	if !a.ACME && !at.IsUnspecified() {
		hosts = append(hosts, host)
	}
	if !a.ACME && at.IsUnspecified() {
		var ipv6 []string // last: people type an IPv4 address more easily
		for _, ip := range machine {
			switch {
			case ip.To4() != nil:
				hosts = append(hosts, ip.String())
			case at.To4() == nil:
				ipv6 = append(ipv6, ip.String())
			}
		}
		hosts = append(hosts, ipv6...)
	}
	scheme, _, _ := strings.Cut(a.URL, "://")
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

// URL returns an address at which other machines reach a box that listens at an
// address. If the box listens at all addresses of the machine, the URL has the
// first one.
func URL(cfg config.Config, at net.Addr) string {
	tcp, ok := at.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return scheme(cfg) + "://" + at.String()
	}
	host := net.IPv4(127, 0, 0, 1)
	for _, ip := range certs.MachineAddresses() {
		if ip.To4() != nil {
			host = ip
			break
		}
	}
	return scheme(cfg) + "://" + net.JoinHostPort(host.String(), strconv.Itoa(tcp.Port))
}

// Dialable returns the address at which this machine reaches a box with that
// listen setting.
func Dialable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}

// localAddress returns the address at which this machine reaches a listener.
func localAddress(at net.Addr) string {
	if tcp, ok := at.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
	}
	return at.String()
}

func scheme(cfg config.Config) string {
	if cfg.TLS.Off() {
		return "http"
	}
	return "https"
}
