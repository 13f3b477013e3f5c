package box

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"time"

	"parley/appliance/certs"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/firmware/packs"
	"parley/internal/password"
	"parley/store"
)

// ConsoleSetUp sets a running box up from its console, and restarts it. It implements
// api.BoxSetUp.
type ConsoleSetUp struct {
	Config  config.Config
	Records *store.Store
	// Again ends the box so that it starts again.
	Again func()
}

// restartDelay is how long the box still runs after it was told to restart, so that the answer
// reaches the client. When it stops, it also waits for answers that are on their way.
const restartDelay = 300 * time.Millisecond

// fields are the names of the settings in contract.PostedSetUp.
func fields() [][2]string {
	return [][2]string{{"listen", "listen"}, {"profile", "profile"}, {"tls", "tls"}, {"tls.names", "tls_names"},
		{"kiosk.enabled", "kiosk"}}
}

// Facts returns the settings as they are in the file, and what the machine allows.
func (s ConsoleSetUp) Facts(ctx context.Context) (f contract.ReturnSetUp, err error) {
	now, err := s.Config.Reload()
	if err != nil {
		return f, contract.ErrConflict{Why: "the settings do not load: " + err.Error()}
	}
	have := CurrentSetUp(now)
	f = contract.ReturnSetUp{
		Listen:      have.Listen,
		Profile:     have.Profile,
		TLS:         have.TLS,
		TLSNames:    have.TLSNames,
		Kiosk:       have.Kiosk,
		File:        now.SettingsFile(),
		Addresses:   []string{},
		MinPassword: password.MinChars,
		Fixed:       []contract.ReturnSetUpProblem{},
	}
	for _, ip := range certs.MachineAddresses() {
		f.Addresses = append(f.Addresses, ip.String())
	}
	for _, field := range fields() {
		if by := now.Overridden(field[0]); by != "" {
			f.Fixed = append(f.Fixed, contract.ReturnSetUpProblem{Field: field[1], Why: "it is set by " + by})
		}
	}
	_, _, err = s.Records.ConsolePassword(ctx)
	f.Password = err == nil
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return f, err
	}
	fits, memory, err := ProfileFits()
	if err != nil {
		return f, err
	}
	f.Memory = memory
	for _, p := range fits {
		f.Profiles = append(f.Profiles, contract.ReturnSetUpProfile{
			Name:        p.Name,
			Bytes:       p.Bytes,
			Memory:      p.Memory,
			Fits:        p.Fits,
			Recommended: p.Recommended,
		})
	}
	return f, nil
}

func answersOf(p contract.PostedSetUp) SetUp {
	return SetUp{
		Listen:   strings.TrimSpace(p.Listen),
		Profile:  p.Profile,
		TLS:      strings.TrimSpace(p.TLS),
		TLSNames: p.TLSNames,
		Kiosk:    p.Kiosk,
	}
}

// Check returns what is wrong with settings: each by itself, or else all together.
func (s ConsoleSetUp) Check(p contract.PostedSetUp) contract.ReturnSetUpCheck {
	found := contract.ReturnSetUpCheck{Problems: []contract.ReturnSetUpProblem{}}
	problem := func(field string, err error) {
		if err != nil {
			found.Problems = append(found.Problems, contract.ReturnSetUpProblem{Field: field, Why: err.Error()})
		}
	}
	answers := answersOf(p)
	problem("listen", CheckListen(s.Config.Data, answers.Listen))
	problem("profile", config.Check("profile", answers.Profile))
	problem("tls", checkPaths(answers.TLS))
	problem("tls_names", config.Check("tls.names", answers.TLSNames))
	if len(found.Problems) > 0 {
		return found
	}
	now, err := s.Config.Reload()
	if err != nil {
		problem("", err)
		return found
	}
	plan, err := answers.Plan(now)
	if err != nil {
		problem(fieldOf(err), err)
		return found
	}
	for _, o := range plan.Overridden {
		for _, field := range fields() {
			if field[0] == o.Key {
				problem(field[1], fmt.Errorf("%s sets it, so that the file cannot change it", o.From))
			}
		}
	}
	found.Warning = plan.Config.TLS.Exposed(plan.Config.Listen)
	return found
}

// checkPaths checks the setting tls. The paths of CERT,KEY have to be whole: a browser has no
// folder in which they begin.
func checkPaths(tls string) error {
	if cert, key, ok := strings.Cut(tls, ","); ok && (!filepath.IsAbs(cert) || !filepath.IsAbs(key)) {
		return errors.New("write the paths of the certificate and the key from / on")
	}
	return config.Check("tls", tls)
}

// fieldOf returns the field to which an error about several settings belongs, or "".
func fieldOf(err error) string {
	for _, prefix := range [][2]string{{"tls: an ACME server needs names", "tls_names"}, {"tls.names", "tls_names"},
		{"tls", "tls"}, {"kiosk", "kiosk"}, {"listen", "listen"}} {
		if strings.HasPrefix(err.Error(), prefix[0]) {
			return prefix[1]
		}
	}
	return ""
}

// Write writes the settings, and returns the packs that are missing for them.
func (s ConsoleSetUp) Write(ctx context.Context, p contract.PostedSetUp) (done contract.ReturnSetUpDone, err error) {
	now, err := s.Config.Reload()
	if err != nil {
		return done, contract.ErrConflict{Why: err.Error()}
	}
	plan, err := answersOf(p).Plan(now)
	if err != nil {
		return done, contract.ErrConflict{Why: err.Error()}
	}
	if err := plan.Write(); err != nil {
		return done, contract.ErrConflict{Why: err.Error()}
	}
	chosen, err := SetUpPacks(plan.Config)
	if err != nil {
		return done, err
	}
	missing, err := packs.Missing(ctx, plan.Config.Packs, chosen)
	if err != nil {
		return done, err
	}
	done.Packs = []contract.ReturnSetUpPack{}
	for _, state := range missing {
		done.Packs = append(done.Packs, contract.ReturnSetUpPack{Name: state.Pack.Name, Bytes: state.Pack.Bytes()})
	}
	return done, nil
}

// Restart restarts the box a moment later, and returns where it is found then.
func (s ConsoleSetUp) Restart(ctx context.Context, host string) (r contract.ReturnRestart, err error) {
	next, err := s.Config.Reload()
	if err == nil {
		err = CheckListen(next.Data, next.Listen)
	}
	if err != nil {
		return r, contract.ErrConflict{Why: "the box would not start again: " + err.Error()}
	}
	link, err := s.Records.StartSignIn(ctx, "", time.Now())
	if err != nil {
		return r, err
	}
	at, err := announced(next.Data)
	if err != nil {
		return r, err
	}
	r = whereabouts(next, at.Listen, host, "/#signin="+link)
	if next.TLS.Mode == config.TLSOwn {
		// A box that makes its first certificate when it starts has none yet.
		r.Fingerprint, _ = certs.Fingerprint(next.AuthorityFile())
	}
	time.AfterFunc(restartDelay, s.Again)
	return r, nil
}

// whereabouts returns where a box with these settings is found by a client that reached it at
// host, when it listened at an address; path follows each URL.
func whereabouts(next config.Config, listened, host, path string) contract.ReturnRestart {
	bind, port, _ := net.SplitHostPort(next.Listen) // was checked when it was set
	if _, before, err := net.SplitHostPort(listened); port == "0" && err == nil {
		port = before // likely another one, which nobody knows yet
	}
	var hosts []string
	ip, err := netip.ParseAddr(bind)
	switch {
	case next.TLS.Mode == config.TLSACME:
		hosts = next.TLS.Names
	case bind == "" || err == nil && ip.IsUnspecified():
		hosts = append([]string{host}, next.TLS.Names...)
		for _, address := range certs.MachineAddresses() {
			hosts = append(hosts, address.String())
		}
	case err == nil && ip.IsLoopback() && isLoopbackName(host):
		hosts = []string{host}
	default:
		hosts = []string{bind}
	}
	r := contract.ReturnRestart{Others: []string{}, Probe: "http://" + net.JoinHostPort(hosts[0], port) + "/healthz"}
	for i, h := range hosts {
		url := scheme(next) + "://" + net.JoinHostPort(h, port) + path
		if i == 0 {
			r.URL = url
		} else if h != host {
			r.Others = append(r.Others, url)
		}
	}
	return r
}

func isLoopbackName(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}
