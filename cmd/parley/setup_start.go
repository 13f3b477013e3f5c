package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"parley/appliance/box"
	"parley/appliance/certs"
	"parley/firmware/update"
	"parley/store"
)

// setEcho sets whether a terminal shows what is typed.
func setEcho(fd int, on bool) error {
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return err
	}
	t.Lflag &^= unix.ECHO
	if on {
		t.Lflag |= unix.ECHO
	}
	return unix.IoctlSetTermios(fd, unix.TCSETS, t)
}

// serviceUnit is the service that the Debian package installs.
const serviceUnit = "parley.service"

// start starts or restarts the service, and prints the way to the console.
func (s *setup) start(ctx context.Context) error {
	running, err := box.IsRunning(s.cfg.Data)
	if err != nil {
		return err
	}
	command := "parley serve"
	if s.cfg.Given("data") {
		command += " --data " + s.cfg.Data
	}
	switch {
	case s.NoStart:
		return nil
	case !hasUnit(ctx) && running:
		fmt.Fprintln(s.out, "\nThe box runs with its old settings until you stop it and start it again.")
		return nil
	case !hasUnit(ctx):
		fmt.Fprintf(s.out, "\nThe box is set up. Start it with:  %s\n", command)
		return nil
	case os.Geteuid() != 0:
		fmt.Fprintf(s.out, "\nThe box is set up. Start it with:  sudo systemctl enable %s && sudo systemctl restart "+
			"%[1]s\n", serviceUnit)
		return nil
	}
	for _, do := range []string{"enable", "restart"} {
		if out, err := exec.CommandContext(ctx, "systemctl", do, serviceUnit).CombinedOutput(); err != nil {
			return fmt.Errorf("systemctl %s %s: %w: %s", do, serviceUnit, err, strings.TrimSpace(string(out)))
		}
	}
	fmt.Fprintln(s.out, "The service is started; it loads its models.")
	url, err := s.waitReady(ctx)
	if err != nil {
		return err
	}
	return s.welcome(ctx, url)
}

// hasUnit reports whether systemd runs and knows the service.
func hasUnit(ctx context.Context) bool {
	return update.HasSystemd() && exec.CommandContext(ctx, "systemctl", "cat", serviceUnit).Run() == nil
}

// readyPatience is how long the box may take to load its models: a slow memory card reads 20
// MB/s, and the largest profile has 1.5 GB.
const readyPatience = 3 * time.Minute

// waitReady waits until the box can converse, and returns its address on this machine.
func (s *setup) waitReady(ctx context.Context) (url string, err error) {
	ctx, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	// The box is asked on this machine, for a certificate that is not for 127.0.0.1.
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for {
		if url, err = box.Running(s.cfg.Data); err != nil {
			return "", err
		}
		if url != "" && askReady(ctx, client, url) == nil {
			return url, nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("the box is set up, but is not ready after %v: journalctl -u %s shows why",
				readyPatience, serviceUnit)
		case <-time.After(500 * time.Millisecond):
		}
		if exec.CommandContext(ctx, "systemctl", "is-failed", "--quiet", serviceUnit).Run() == nil {
			return "", fmt.Errorf("the box is set up, but does not start: journalctl -u %s shows why", serviceUnit)
		}
	}
}

// welcome prints how to reach the box, how to trust it, and how to sign in.
func (s *setup) welcome(ctx context.Context, url string) error {
	records, err := store.Join(ctx, s.cfg.Data)
	if err != nil {
		return err
	}
	s.closers = append(s.closers, records.Close)
	if err := records.FinishSetUp(ctx, time.Now()); err != nil { // the database may be new
		return err
	}
	made, err := records.StartSignIn(ctx, "", time.Now())
	if err != nil {
		return err
	}
	elsewhere, err := box.Elsewhere(s.cfg.Data)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "\nThe box is ready.\n\nIts console, signed in (one of these links, once, within %d minutes):\n",
		int(store.SignInLife.Minutes()))
	for _, at := range append([]string{url}, elsewhere...) {
		fmt.Fprintf(s.out, "  %s\n", signInURL(at, made))
	}
	if fingerprint, err := certs.Fingerprint(s.cfg.AuthorityFile()); err == nil && s.cfg.TLS.Mode == "own" {
		fmt.Fprintf(s.out, "\nBrowsers warn until they trust the box's own authority: fetch /ca.crt of the box, "+
			"compare its SHA-256,\n  %s\nand import it. docs/security.md shows how.\n", fingerprint)
	}
	return nil
}
