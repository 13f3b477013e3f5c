package appliance

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"parley/appliance/certs"
	"parley/appliance/config"
	"parley/store"
)

// banner is what the person who starts a box reads.
type banner struct {
	cfg      config.Config
	at       net.Addr // where it listens
	identity *certs.Identity
	out      io.Writer
}

func (b banner) url() string { return scheme(b.cfg) + "://" + reachable(b.at) }

// ConsoleLink is the address that signs a browser in to the console of the box at
// url. What signs in stands behind #: browsers do not send that, so that it is in
// no log.
func ConsoleLink(url, signIn string) string { return url + "/#signin=" + signIn }

func scheme(cfg config.Config) string {
	if cfg.TLS.Off() {
		return "http"
	}
	return "https"
}

// waiting says that the box is there, and what keeps conversations from it.
func (b banner) waiting(why string) {
	fmt.Fprintf(b.out, "\nParley listens at  %s\nIts data lies in   %s\nNO CONVERSATION CAN START: %s.\n  It goes on "+
		"by itself when that is mended; parley doctor --data %[2]s looks for the cause.\n\n", b.url(), b.cfg.Data, why)
}

// ready says where the box is, how to talk to it, and where its console is: with
// what signs a browser in, where that may be shown.
func (b banner) ready(key firstKey, signIn string) {
	url, trusting := b.url(), ""
	fmt.Fprintf(b.out, "\nParley answers at  %s\nIts data lies in   %s\n", url, b.cfg.Data)
	if print := b.identity.Fingerprint(); print != "" {
		trusting = " --ca " + b.cfg.AuthorityFile()
		fmt.Fprintf(b.out, "Clients must trust %s/ca.crt\n  whose SHA-256 is %s\n", url, print)
		if closed := closedFolder(b.cfg.AuthorityFile()); closed != "" {
			fmt.Fprintf(b.out, "  (other users of this machine fetch it from there: %s is closed to them)\n", closed)
		}
	}
	if warning := b.cfg.TLS.Exposed(b.cfg.Listen); warning != "" {
		fmt.Fprintf(b.out, "\n  %s.\n\n", warning)
	}
	link := fmt.Sprintf("%s console --data %s", os.Args[0], b.cfg.Data)
	if signIn != "" {
		fmt.Fprintf(b.out, "Its console        %s\n  (good once, for %d minutes; another with: %s)\n",
			ConsoleLink(url, signIn), int(store.SignInLife.Minutes()), link)
	} else {
		fmt.Fprintf(b.out, "Its console        %s/   (a link that lets you in: %s)\n", url, link)
	}
	talk := fmt.Sprintf("%s talk --url %s", os.Args[0], url)
	create := fmt.Sprintf("%s keys create --data %s", os.Args[0], b.cfg.Data)
	switch {
	case !key.made:
		fmt.Fprintf(b.out, "Talk to it with    %s%s   (a new key: %s)\n\n", talk, trusting, create)
	case key.file != "":
		fmt.Fprintf(b.out, "Its first API key  is in %[1]s\n  read it with     cat %[1]s\n  and then         rm "+
			"%[1]s\nTalk to it with    (set -a; . %[1]s; %[2]s%[3]s)\n\n", key.file, talk, trusting)
	default:
		fmt.Fprintf(b.out, "Its first API key  %s\n  secret key       %s\n  webhook signing  %s\n  (shown this once; "+
			"more with: %s)\nTalk to it with    %s --key %[1]s%[6]s\n\n",
			key.APIKey, key.SecretKey, key.WebhookSigningKey, create, talk, trusting)
	}
}

// closedFolder is the first folder on the way to file through which others
// than its owner may not pass; empty where there is none.
func closedFolder(file string) string {
	folder := string(filepath.Separator)
	for _, part := range strings.Split(filepath.Dir(file), string(filepath.Separator)) {
		folder = filepath.Join(folder, part)
		if info, err := os.Stat(folder); err != nil || info.Mode().Perm()&0o001 == 0 {
			return folder
		}
	}
	return ""
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
