package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"parley/appliance/box"
	"parley/appliance/config"
	"parley/internal/password"
)

// ask asks what no flag has given.
func (s *setup) ask(ctx context.Context) error {
	fmt.Fprintf(s.out, "This sets up the box with its data in %s.\nEnter keeps what is in [brackets]; Ctrl-C changes "+
		"nothing.\n", s.cfg.Data)
	for _, question := range []struct {
		given bool
		ask   func(context.Context) error
	}{
		{s.Listen != "", s.askListen},
		{s.Profile != "", s.askProfile},
		{s.PasswordFile != "", s.askPassword},
		{s.TLS != "", s.askTLS},
		{s.Kiosk != nil, s.askKiosk},
	} {
		if question.given {
			continue
		}
		if err := question.ask(ctx); err != nil {
			return err
		}
	}
	return nil
}

// networkListen is the address that answer 2 stands for: all addresses of the machine, and the
// usual port of a box with encryption.
const networkListen = "0.0.0.0:8443"

func (s *setup) askListen(ctx context.Context) error {
	fmt.Fprintf(s.out, "\n1 of 5: Where does the box listen?\n"+
		"  1  on this machine only, 127.0.0.1:8080\n"+
		"  2  on the network, %s, encrypted\n"+
		"  or another HOST:PORT\n", networkListen)
	return s.until(ctx, "Listen", s.answers.Listen, func(answer string) error {
		switch answer {
		case "1":
			answer = "127.0.0.1:8080"
		case "2":
			answer = networkListen
		}
		if _, err := strconv.Atoi(answer); err == nil && len(answer) > 1 { // only a port
			host, _, _ := net.SplitHostPort(s.answers.Listen)
			answer = net.JoinHostPort(host, answer)
		}
		if err := box.CheckListen(s.cfg.Data, answer); err != nil {
			return err
		}
		s.answers.Listen = answer
		return nil
	})
}

func (s *setup) askProfile(ctx context.Context) error {
	fits, memory, err := box.ProfileFits()
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "\n2 of 5: Which models? This machine has %.1f GB of memory.\n", gigabytes(memory))
	offered := s.answers.Profile
	if _, from := s.cfg.Value("profile"); from == "default" { // nobody has chosen yet
		for _, f := range fits {
			if f.Recommended {
				offered = f.Name
			}
		}
	}
	for i, f := range fits {
		note := profileInWords(f.Name)
		switch {
		case f.Recommended:
			note += " (recommended)"
		case !f.Fits:
			note += " (MORE THAN THERE IS)"
		}
		fmt.Fprintf(s.out, "  %d  %-8s %.1f GB to fetch, needs about %.1f GB of memory: %s\n", i+1, f.Name,
			gigabytes(f.Bytes), gigabytes(f.Memory), note)
	}
	return s.until(ctx, "Models", offered, func(answer string) error {
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(fits) {
			answer = fits[n-1].Name
		}
		if err := config.Check("profile", answer); err != nil {
			return err
		}
		s.answers.Profile = answer
		return nil
	})
}

func gigabytes(bytes int64) float64 { return float64(bytes) / 1e9 }

func profileInWords(name string) string {
	return map[string]string{
		"default": "talks well, in English",
		"small":   "for little memory, answers simply",
		"test":    "for tests, answers make little sense",
		"full":    "as default, and understands more languages",
	}[name]
}

func (s *setup) askPassword(ctx context.Context) error {
	has, err := box.HasPassword(ctx, s.cfg.Data)
	if err != nil {
		return err
	}
	enter := "none: sign in with links of parley console"
	if has {
		enter = "keep the present one"
	}
	fmt.Fprintf(s.out, "\n3 of 5: A password for the console, at least %d characters. Enter: %s.\n",
		password.MinChars, enter)
	for {
		first, err := s.secret(ctx, "Password: ")
		if err != nil || first == "" {
			return err
		}
		if err := password.Check(first); err != nil {
			fmt.Fprintf(s.out, "  %v\n", err)
			continue
		}
		again, err := s.secret(ctx, "Once more: ")
		if err != nil {
			return err
		}
		if again == first {
			s.password = first
			return nil
		}
		fmt.Fprintln(s.out, "  The two differ.")
	}
}

func (s *setup) askTLS(ctx context.Context) error {
	fmt.Fprint(s.out, "\n4 of 5: How are connections encrypted?\n"+
		"  auto      not on this machine alone, elsewhere with a certificate that the box makes\n"+
		"  own       with a certificate that the box makes; browsers ask once whether to trust it\n"+
		"  acme      with a certificate from Let's Encrypt, for a box that the internet reaches by name\n"+
		"  CERT,KEY  with these two files, in PEM\n"+
		"  off       not at all\n")
	return s.until(ctx, "Encryption", s.answers.TLS, func(answer string) error {
		answer = absoluteFiles(answer)
		if err := config.Check("tls", answer); err != nil {
			return err
		}
		changed := s.answers
		changed.TLS = answer
		if answer == "acme" && s.TLSNames == "" {
			names, err := s.line(ctx, bracketed("Names of the box, with commas", changed.TLSNames))
			if err != nil {
				return err
			}
			changed.TLSNames = cmp.Or(strings.TrimSpace(names), changed.TLSNames)
		}
		if _, err := changed.Plan(s.cfg); err != nil {
			return err
		}
		s.answers = changed
		return nil
	})
}

func (s *setup) askKiosk(ctx context.Context) error {
	fmt.Fprint(s.out, "\n5 of 5: Does the box talk with people in front of it, over its own loudspeaker and "+
		"microphone?\n")
	yes, err := s.yes(ctx, "Kiosk", s.answers.Kiosk)
	s.answers.Kiosk = yes
	return err
}

// until asks a question until take accepts the answer. Enter answers with the default.
func (s *setup) until(ctx context.Context, question, otherwise string, take func(string) error) error {
	for {
		answer, err := s.line(ctx, bracketed(question, otherwise))
		if err != nil {
			return err
		}
		err = take(cmp.Or(strings.TrimSpace(answer), otherwise))
		if err == nil || is[interrupted](err) {
			return err
		}
		fmt.Fprintf(s.out, "  %v\n", err)
	}
}

func bracketed(question, otherwise string) string {
	if otherwise == "" {
		return question + ": "
	}
	return fmt.Sprintf("%s [%s]: ", question, otherwise)
}

func (s *setup) yes(ctx context.Context, question string, otherwise bool) (yes bool, err error) {
	choice := "y/N"
	if otherwise {
		choice = "Y/n"
	}
	err = s.until(ctx, question, choice, func(answer string) error {
		switch strings.ToLower(answer) {
		case strings.ToLower(choice):
			yes = otherwise
		case "y", "yes":
			yes = true
		case "n", "no":
			yes = false
		default:
			return fmt.Errorf("%.80q is not allowed: use y or n", answer)
		}
		return nil
	})
	return yes, err
}

// leave returns the error for a person who does not agree.
func (*setup) leave(agreed bool) error {
	if agreed {
		return nil
	}
	return errors.New("nothing was changed")
}

// line is what a person typed.
type line struct {
	text string
	err  error
}

// line asks for a line.
func (s *setup) line(ctx context.Context, question string) (string, error) {
	fmt.Fprint(s.out, question)
	if s.lines == nil {
		s.lines = linesOf(s.in)
	}
	select {
	case l, ok := <-s.lines:
		if !ok || l.err != nil {
			fmt.Fprintln(s.out)
			return "", interrupted{state: "nothing was changed"}
		}
		return strings.TrimRight(l.text, "\r\n"), nil
	case <-ctx.Done():
		return "", interrupted{state: "nothing was changed"}
	}
}

// linesOf reads lines in the background, so that a signal can end the wait for one.
func linesOf(r io.Reader) <-chan line {
	lines := make(chan line)
	go func() {
		defer close(lines)
		in := bufio.NewReader(r)
		for {
			text, err := in.ReadString('\n')
			lines <- line{text, err}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

// secret asks for a line that the terminal does not show.
func (s *setup) secret(ctx context.Context, question string) (string, error) {
	terminal, ok := s.in.(*os.File)
	if !ok {
		return "", errors.New("there is no terminal to ask on: pass --password-file")
	}
	restore, err := hideTyping(terminal)
	if err != nil {
		return "", err
	}
	defer func() {
		restore()
		fmt.Fprintln(s.out)
	}()
	return s.line(ctx, question)
}

// hideTyping stops the terminal from showing what is typed, until restore is called. Ctrl-C
// still works.
func hideTyping(terminal *os.File) (restore func(), err error) {
	fd := int(terminal.Fd())
	was, err := term.GetState(fd)
	if err != nil {
		return nil, err
	}
	if err := setEcho(fd, false); err != nil {
		return nil, err
	}
	return func() { _ = term.Restore(fd, was) }, nil
}
