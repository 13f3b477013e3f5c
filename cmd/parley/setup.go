package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/alecthomas/kong"

	"parley/appliance/box"
	"parley/appliance/config"
	"parley/firmware/packs"
	"parley/internal/password"
)

// setupCmd sets a box up, with questions or with flags.
type setupCmd struct {
	Listen       string `placeholder:"HOST:PORT" help:"Where the box listens."`
	Profile      string `placeholder:"NAME" help:"Which models: ${profiles}."`
	PasswordFile string `placeholder:"FILE" predictor:"file" help:"Set the console's password to this file's line."`
	TLS          string `name:"tls" placeholder:"MODE|CERT,KEY" help:"Encryption: auto, own, acme, off, CERT,KEY."`
	TLSNames     string `name:"tls-names" placeholder:"LIST" help:"Names of the certificate, with commas."`
	Kiosk        *bool  `negatable:"" help:"Talk over the box's own loudspeaker and microphone."`
	Yes          bool   `short:"y" help:"Ask nothing: what no flag gives stays as it is."`
	NoStart      bool   `help:"Do not start or restart the service."`

	Settings kong.Plugins `embed:"" settings:"data packs"`
}

func (setupCmd) Help() string {
	return `Examples:

  sudo parley setup

  sudo parley setup --yes --listen 0.0.0.0:8443 --profile small --password-file /root/password

It asks where to listen, which models to use, the console's password, how connections are encrypted, and ` +
		`whether the box talks over its own loudspeaker. Then it writes the settings, fetches the models that are ` +
		`missing, starts the service, and prints a link to the console. Run it again to change something: Enter ` +
		`keeps what there is.`
}

// Run sets the box up.
func (cmd *setupCmd) Run(ctx context.Context, c *console, cfg config.Config) error {
	if !cmd.Yes && !onTerminal(c.in) {
		return misuse{errors.New("there is no terminal to ask on: pass --yes, and what should change of --listen, " +
			"--profile, --password-file, --tls, --tls-names, --kiosk and --no-kiosk")}
	}
	s := &setup{setupCmd: cmd, console: c, cfg: cfg, answers: box.CurrentSetUp(cfg)}
	if err := s.takeFlags(); err != nil {
		return misuse{err}
	}
	if !cmd.Yes {
		if err := s.ask(ctx); err != nil {
			return err
		}
	}
	if err := box.CheckListen(cfg.Data, s.answers.Listen); err != nil {
		return misuse{fmt.Errorf("listen: %w; nothing was changed", err)}
	}
	plan, err := s.answers.Plan(cfg)
	if err != nil {
		return misuse{fmt.Errorf("%w; nothing was changed", err)}
	}
	if err := s.summary(plan); err != nil {
		return err
	}
	if !cmd.Yes {
		if yes, err := s.yes(ctx, "Do this?", true); err != nil || !yes {
			return errors.Join(err, s.leave(yes))
		}
	}
	return s.carryOut(ctx, plan)
}

// setup is one run of the command.
type setup struct {
	*setupCmd
	*console
	cfg      config.Config
	answers  box.SetUp
	password string // to be set; empty to leave it as it is
	lines    <-chan line
}

// takeFlags takes the answers that flags give.
func (s *setup) takeFlags() error {
	a := &s.answers
	a.Listen, a.Profile = cmp.Or(s.Listen, a.Listen), cmp.Or(s.Profile, a.Profile)
	a.TLS, a.TLSNames = absoluteFiles(cmp.Or(s.TLS, a.TLS)), cmp.Or(s.TLSNames, a.TLSNames)
	if s.Kiosk != nil {
		a.Kiosk = *s.Kiosk
	}
	for key, value := range map[string]string{"listen": a.Listen, "profile": a.Profile, "tls": a.TLS,
		"tls.names": a.TLSNames} {
		if err := config.Check(key, value); err != nil {
			return fmt.Errorf("--%s: %w", strings.ReplaceAll(key, ".", "-"), err)
		}
	}
	if s.PasswordFile == "" {
		return nil
	}
	text, err := os.ReadFile(s.PasswordFile)
	if err != nil {
		return err
	}
	s.password = strings.TrimRight(string(text), "\r\n")
	if err := password.Check(s.password); err != nil {
		return fmt.Errorf("--password-file %s: %w", s.PasswordFile, err)
	}
	return nil
}

// absoluteFiles makes the paths of CERT,KEY absolute: in the settings they would start at the
// folder of the file.
func absoluteFiles(tls string) string {
	cert, key, ok := strings.Cut(tls, ",")
	if !ok {
		return tls
	}
	for _, path := range []*string{&cert, &key} {
		if absolute, err := filepath.Abs(strings.TrimSpace(*path)); err == nil {
			*path = absolute
		}
	}
	return cert + "," + key
}

// summary shows what is going to be done.
func (s *setup) summary(plan *config.Revision) error {
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	was := box.CurrentSetUp(s.cfg)
	row := func(what, now, before string) {
		if now != before {
			now += "\t(was " + before + ")"
		}
		fmt.Fprintf(w, "  %s\t%s\n", what, now)
	}
	fmt.Fprintf(s.out, "\nSettings in %s:\n", plan.File)
	row("listen", s.answers.Listen, was.Listen)
	row("models", s.answers.Profile, was.Profile)
	row("encryption", tlsInWords(plan.Config.TLS), tlsInWords(s.cfg.TLS))
	row("loudspeaker and microphone", onOff(s.answers.Kiosk), onOff(was.Kiosk))
	if s.password != "" {
		fmt.Fprintf(w, "  console's password\tis set; browsers that are signed in must sign in again\n")
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, o := range plan.Overridden {
		fmt.Fprintf(s.out, "  NOTE: %s sets %s here; where it is set for the box too, the file has no effect\n", o.From,
			o.Key)
	}
	if warning := plan.Config.TLS.Exposed(plan.Config.Listen); warning != "" {
		fmt.Fprintf(s.out, "  WARNING: %s\n", warning)
	}
	return nil
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func tlsInWords(t config.TLS) string {
	names := ""
	if len(t.Names) > 0 {
		names = " for " + strings.Join(t.Names, ", ")
	}
	switch t.Mode {
	case config.TLSOwn:
		return "a certificate that the box makes" + names
	case config.TLSACME:
		return "a certificate from " + t.Directory + names
	case config.TLSFiles:
		return "the certificate " + t.Cert
	default:
		return "off"
	}
}

// carryOut does what the person has agreed to.
func (s *setup) carryOut(ctx context.Context, plan *config.Revision) error {
	if err := os.MkdirAll(filepath.Dir(plan.File), 0o755); err != nil {
		return err
	}
	if err := plan.Write(); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s is written.\n", plan.File)
	s.cfg = plan.Config
	if s.password != "" {
		ended, err := box.SetPassword(ctx, s.cfg.Data, s.password)
		if err != nil {
			return fmt.Errorf("setting the console's password: %w", err)
		}
		fmt.Fprintf(s.out, "The console's password is set; %d browsers were signed out.\n", ended)
	}
	if err := box.FinishSetUp(ctx, s.cfg.Data); err != nil {
		return err
	}
	if err := s.fetch(ctx); err != nil {
		return err
	}
	return s.start(ctx)
}

// fetch fetches the packs that are missing.
func (s *setup) fetch(ctx context.Context) error {
	chosen, err := box.SetUpPacks(s.cfg)
	if err != nil {
		return err
	}
	if err = s.pull(ctx, s.cfg, chosen); err == nil {
		fmt.Fprintf(s.out, "The models are in %s.\n", s.cfg.Packs)
		return nil
	}
	if ctx.Err() != nil {
		return interrupted{state: "the settings are written; " + readyCount(s.cfg.Packs, chosen),
			next: "parley setup goes on from there"}
	}
	if _, missing := packs.Missing(ctx, s.cfg.Packs, chosen); missing != nil {
		return errors.Join(err, missing)
	}
	return fmt.Errorf("the settings are written, but not all models could be fetched: %w; parley setup tries "+
		"again; without a network, run parley bundle FILE on a machine that has one, and sh FILE here", err)
}
