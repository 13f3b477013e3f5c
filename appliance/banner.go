package appliance

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"

	"parley/appliance/certs"
	"parley/appliance/config"
	"parley/store"
)

// defaultAccount owns what is made before anybody asks for accounts.
const defaultAccount = "default"

// banner tells the person at the terminal where the box is and, on its very
// first start, gives them a key.
func banner(ctx context.Context, out io.Writer, cfg config.Config, at net.Addr, identity *certs.Identity, records *store.Store) error {
	url := scheme(cfg) + "://" + reachable(at)
	fmt.Fprintf(out, "\nParley answers at %s\nIts data lies in   %s\n", url, cfg.Data)
	trusting := ""
	if identity.Authority() != nil {
		trusting = " --ca " + cfg.AuthorityFile()
		fmt.Fprintf(out, "Clients must trust %s/ca.crt\n  whose SHA-256 is %s\n", url, identity.Fingerprint())
	}
	if warning := cfg.TLS.Exposed(cfg.Listen); warning != "" {
		fmt.Fprintf(out, "\n  %s.\n\n", warning)
	}
	known, err := records.ListKeys(ctx, "")
	if err != nil {
		return err
	}
	if len(known) > 0 {
		fmt.Fprintf(out, "Talk to it with    %[1]s talk --url %[2]s%[3]s   (a new key: %[1]s keys create --data %[4]s)\n\n", os.Args[0], url, trusting, cfg.Data)
		return nil
	}
	made, err := records.CreateKey(ctx, store.NewKey{Account: defaultAccount, Label: "first start"})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Its first API key  %s\n  secret key       %s\n  webhook signing  %s\n  (shown this once; more with: %s keys create --data %s)\nTalk to it with    %[4]s talk --url %[6]s --key %[1]s%[7]s\n\n",
		made.APIKey, made.SecretKey, made.WebhookSigningKey, os.Args[0], cfg.Data, url, trusting)
	return nil
}

// reachable is an address that others can use: a box that listens on all of
// the machine's has no single one, so it is its first.
func reachable(at net.Addr) string {
	tcp, ok := at.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return at.String()
	}
	host := net.IPv4(127, 0, 0, 1)
	for _, ip := range certs.MachineAddresses() {
		if ip.To4() != nil {
			host = ip
			break
		}
	}
	return net.JoinHostPort(host.String(), strconv.Itoa(tcp.Port))
}

func scheme(cfg config.Config) string {
	if cfg.TLS.Off() {
		return "http"
	}
	return "https"
}
