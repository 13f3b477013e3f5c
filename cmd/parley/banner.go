package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"parley/appliance"
	"parley/appliance/config"
	"parley/store"
)

// banner prints what the person who starts a box needs to know.
type banner struct {
	cfg config.Config
	out io.Writer
}

// signInURL returns the address that signs a browser in to the console of the
// box at url. The secret follows #: browsers do not send that part, so no log has it.
func signInURL(url, signIn string) string { return url + "/#signin=" + signIn }

// waiting says that the box runs, and why no chat can start.
func (b banner) waiting(url, why string) {
	fmt.Fprintf(b.out, "\nParley listens at  %s\nIts data lies in   %s\nNO CONVERSATION CAN START: %s.\n"+
		"  The box goes on by itself when that is fixed; parley doctor --data %[2]s looks for the cause.\n\n",
		url, b.cfg.Data, why)
}

// ready says where the box is, how to talk to it, and where its console is.
func (b banner) ready(r appliance.Ready) {
	trusting := ""
	fmt.Fprintf(b.out, "\nParley answers at  %s\nIts data lies in   %s\n", r.URL, b.cfg.Data)
	if r.Fingerprint != "" {
		trusting = " --ca " + b.cfg.AuthorityFile()
		fmt.Fprintf(b.out, "Clients must trust %s/ca.crt\n  whose SHA-256 is %s\n", r.URL, r.Fingerprint)
		if closed := closedFolder(b.cfg.AuthorityFile()); closed != "" {
			fmt.Fprintf(b.out, "  (other users of this machine must fetch it from there: they cannot enter %s)\n",
				closed)
		}
	}
	b.consoleLink(r)
	talk := fmt.Sprintf("%s talk --url %s", os.Args[0], r.URL)
	create := fmt.Sprintf("%s keys create --data %s", os.Args[0], b.cfg.Data)
	switch key := r.FirstKey; {
	case !key.Made:
		fmt.Fprintf(b.out, "Talk to it with    %s%s   (a new key: %s)\n\n", talk, trusting, create)
	case key.File != "":
		fmt.Fprintf(b.out, "Its first API key  is in %[1]s\n  read it with     cat %[1]s\n  and then         rm "+
			"%[1]s\nTalk to it with    (set -a; . %[1]s; %[2]s%[3]s)\n\n", key.File, talk, trusting)
	default:
		fmt.Fprintf(b.out, "Its first API key  %s\n  secret key       %s\n  webhook signing  %s\n  (shown this once; "+
			"more with: %s)\nTalk to it with    %s --key %[1]s%[6]s\n\n",
			key.APIKey, key.SecretKey, key.WebhookSigningKey, create, talk, trusting)
	}
}

// consoleLink warns if others could listen in, and says where the console is.
func (b banner) consoleLink(r appliance.Ready) {
	if warning := b.cfg.TLS.Exposed(b.cfg.Listen); warning != "" {
		fmt.Fprintf(b.out, "\n  %s.\n\n", warning)
	}
	link := fmt.Sprintf("%s console --data %s", os.Args[0], b.cfg.Data)
	if r.SignIn != "" {
		fmt.Fprintf(b.out, "Its console        %s\n  (valid once, for %d minutes; another link: %s)\n",
			signInURL(r.URL, r.SignIn), int(store.SignInLife.Minutes()), link)
	} else {
		fmt.Fprintf(b.out, "Its console        %s/   (a link that signs you in: %s)\n", r.URL, link)
	}
}

// hub says where the hub is, and how a box is added.
func (b banner) hub(r appliance.Ready) {
	fmt.Fprintf(b.out, "\nThe hub answers at %s\nIts data lies in   %s\n", r.URL, b.cfg.Data)
	if r.Fingerprint != "" {
		fmt.Fprintf(b.out, "Clients must trust %s/ca.crt\n  whose SHA-256 is %s\n", r.URL, r.Fingerprint)
	}
	b.consoleLink(r)
	switch key := r.FirstKey; {
	case key.File != "":
		fmt.Fprintf(b.out, "Its first API key  is in %s\n", key.File)
	case key.Made:
		fmt.Fprintf(b.out, "Its first API key  %s\n  secret key       %s\n  (shown this once)\n", key.APIKey,
			key.SecretKey)
	}
	fmt.Fprintf(b.out, "Boxes join at      %s\n\nTo add a box:\n"+
		"  1. here:         %s hub boxes NAME --add --data %s > NAME.join\n"+
		"  2.               copy NAME.join to the box\n"+
		"  3. on the box:   parley serve --fleet-join NAME.join\n\n",
		strings.Join(r.Servers, " "), os.Args[0], b.cfg.Data)
}

// closedFolder returns the first folder on the way to file that users other than its
// owner cannot enter, and "" if there is none.
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
