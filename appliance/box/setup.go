package box

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"

	"parley/appliance/config"
	"parley/appliance/engines"
	"parley/firmware/doctor"
	"parley/firmware/packs"
	"parley/internal/machine"
	"parley/store"
)

// SetUp is what a person decides when a box is set up, apart from the password of the console.
// The fields are values of settings, as parley.yaml has them.
type SetUp struct {
	Listen   string // HOST:PORT
	Profile  string
	TLS      string // auto, own, acme, off, CERT,KEY, or an ACME server
	TLSNames string // with commas
	Kiosk    bool   // talk over the box's own loudspeaker and microphone
}

// CurrentSetUp returns what the settings say.
func CurrentSetUp(cfg config.Config) SetUp {
	value := func(key string) string { v, _ := cfg.Value(key); return v }
	return SetUp{
		Listen:   cfg.Listen,
		Profile:  cfg.Profile,
		TLS:      currentTLS(cfg),
		TLSNames: value("tls.names"),
		Kiosk:    cfg.Kiosk.Enabled,
	}
}

// currentTLS returns the setting tls in one line, also if old names set it.
func currentTLS(cfg config.Config) string {
	t := cfg.TLS
	switch value, _ := cfg.Value("tls"); {
	case t.Mode == config.TLSFiles:
		return t.Cert + "," + t.Key
	case t.Mode == config.TLSACME && strings.Contains(value, ": "): // "acme: URL; email: …"
		return strings.TrimRight(strings.Join([]string{t.Directory, t.Email, t.Roots}, "|"), "|")
	default:
		return value
	}
}

// Plan returns the changed settings file, checked and not written yet. Only what differs from
// the present settings is written.
func (s SetUp) Plan(cfg config.Config) (*config.Revision, error) {
	was := CurrentSetUp(cfg)
	var changes []config.Change
	for _, one := range [][3]string{
		{"listen", was.Listen, s.Listen},
		{"profile", was.Profile, s.Profile},
		{"tls", was.TLS, s.TLS},
		{"tls.names", was.TLSNames, s.TLSNames},
		{"kiosk.enabled", strconv.FormatBool(was.Kiosk), strconv.FormatBool(s.Kiosk)},
	} {
		if one[1] != one[2] {
			changes = append(changes, config.Change{Key: one[0], Value: one[2]})
		}
	}
	r, err := cfg.Edit(changes)
	if err != nil {
		return nil, err
	}
	return r, checkCertificate(r.Config.TLS)
}

// checkCertificate checks the operator's own certificate.
func checkCertificate(t config.TLS) error {
	if t.Mode != config.TLSFiles {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(t.Cert, t.Key); err != nil {
		return fmt.Errorf("tls: the certificate %s and the key %s cannot be used: %w", t.Cert, t.Key, err)
	}
	return nil
}

// CheckListen returns why a box with its data in a folder cannot listen at an address, such as
// that another program does. The box that runs on the folder may listen there already.
func CheckListen(data, listen string) error {
	if err := config.Check("listen", listen); err != nil {
		return err
	}
	at, err := announced(data)
	if err == nil && at.Listen != "" && samePort(at.Listen, listen) {
		return nil
	}
	l, err := net.Listen("tcp", listen)
	switch {
	case err == nil:
		return l.Close()
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s is taken by another program: choose another port, or stop that program", listen)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s needs the rights of root, since its port is below 1024: choose another port, such "+
			"as 8443", listen)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s is not an address of this machine: choose 0.0.0.0 for all of its addresses", listen)
	}
	return fmt.Errorf("the box cannot listen at %s: %w", listen, err)
}

func samePort(a, b string) bool {
	_, first, errA := net.SplitHostPort(a)
	_, second, errB := net.SplitHostPort(b)
	return errA == nil && errB == nil && first == second
}

// ProfileFit is a profile of packs, and whether this machine can run it.
type ProfileFit struct {
	Name        string
	Model       string // the pack of its language model
	Bytes       int64  // of all of its packs
	Memory      int64  // that it needs, about
	Fits        bool
	Recommended bool
}

// systemBytes is the memory that the operating system and the chats themselves need besides the
// models. It is an estimate.
const systemBytes = 1 << 30

// ProfileFits returns the profiles for people, the recommended one is the largest that needs no
// special languages and fits. memory is how much this machine has in all.
func ProfileFits() (fits []ProfileFit, memory int64, err error) {
	memory = machine.ReadMemory().Total
	if limit, ok := doctor.MemoryLimit(memory); ok {
		memory = limit
	}
	for _, name := range packs.Profiles() {
		chosen, err := packs.Profile(name)
		if err != nil {
			return nil, 0, err
		}
		f := ProfileFit{Name: name, Model: packs.ProfileModel(name)}
		f.Memory = doctor.MemoryNeed("", []string{f.Model}) + systemBytes
		for _, p := range chosen {
			f.Bytes += p.Bytes()
		}
		f.Fits = f.Memory <= memory
		fits = append(fits, f)
	}
	best := "small"
	if fits[0].Fits {
		best = fits[0].Name
	}
	for i := range fits {
		fits[i].Recommended = fits[i].Name == best
	}
	return fits, memory, nil
}

// SetUpPacks returns the packs that a box with these settings needs: those of its profile, and
// those that other settings name.
func SetUpPacks(cfg config.Config) ([]packs.Pack, error) {
	chosen, err := packs.Profile(cfg.Profile)
	if err != nil {
		return nil, err
	}
	have := map[string]bool{}
	for _, p := range chosen {
		have[p.Name] = true
	}
	for _, name := range engines.Needs(cfg) {
		if have[name] {
			continue
		}
		more, err := packs.Find(cfg.Packs, name)
		if err != nil {
			return nil, err
		}
		have[name] = true
		chosen = append(chosen, more...)
	}
	return chosen, nil
}

// IsRunning reports whether a box runs on the data folder.
func IsRunning(data string) (bool, error) {
	_, held, err := store.Holder(data)
	return held, err
}
