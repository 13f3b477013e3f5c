package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"parley/appliance/contract"
	"parley/internal/sipuri"
)

// Phone configures the telephone. Media streams need none of it.
type Phone struct {
	Consent  string          // one of the Consent… constants
	Listen   []PhoneListener // for SIP; empty: no telephone
	RTPPorts PortRange       // UDP ports for sound
	// External is the IP address at which telephones reach the box, if it is not that of
	// the machine; empty otherwise.
	External string
	// HoldMusic is HoldMusicOn, Off, or the path of a file with sound.
	HoldMusic string
	// TwilioAuthToken is the token that signs the requests of a media stream provider, and
	// TwilioAuthTokenFile the path of a file that holds it. Both are empty if signatures are
	// not checked; see AuthToken.
	TwilioAuthToken, TwilioAuthTokenFile string
	Trunks                               []Trunk
	Extensions                           []Extension
}

// The values of Phone.Consent: the announcement before a call is recorded.
const (
	ConsentAsk      = "ask"      // the caller is asked
	ConsentAnnounce = "announce" // the caller is informed
	ConsentNone     = "none"     // nothing is said
)

// HoldMusicOn is the music that the box makes, for callers who wait.
const HoldMusicOn = "on"

// The transports of SIP.
const (
	TransportUDP = "udp"
	TransportTCP = "tcp"
	TransportTLS = "tls"
)

// PhoneListener is an address on which the box waits for SIP.
type PhoneListener struct {
	Transport string // one of the Transport… constants
	Address   string // host:port; port 0 lets the system choose
}

func (l PhoneListener) String() string { return l.Transport + "://" + l.Address }

// PortRange is a range of ports, with both ends.
type PortRange struct{ First, Last int }

// Trunk is a peer over which calls come and go: a telephone system, a router, a carrier.
type Trunk struct {
	Name      string
	Address   string           // Addresses as written
	Addresses []sipuri.Address // calls may come from all of them, and go to the first host that answers
	Register  bool             // the box registers with the hosts among Addresses as User
	User      string
	From      string // the number that calls out show; empty: User
	// The password for User; see Secret.
	Password, PasswordFile, PasswordEnv string
}

// Extension is a number that the box answers.
type Extension struct {
	Number  string // AnyNumber stands for all others
	Config  string // id or name; empty: the box's default assistant
	Account string // name of the account; empty: the box's first
}

// AnyNumber is the number of an extension that answers all numbers that no other has.
const AnyNumber = "*"

// Secret returns the password of the trunk, and "" if it has none.
func (t Trunk) Secret() (string, error) {
	if t.PasswordEnv != "" {
		password := os.Getenv(t.PasswordEnv)
		if password == "" {
			return "", fmt.Errorf("phone.trunks: %s: the variable %s of password_env is not set", t.Name, t.PasswordEnv)
		}
		return password, nil
	}
	password, err := secretFile(t.PasswordFile)
	if err != nil {
		return "", fmt.Errorf("phone.trunks: %s: password_file: %w", t.Name, err)
	}
	return cmp.Or(password, t.Password), nil
}

// AuthToken returns the token that signs the requests of a media stream provider, and ""
// if there is none.
func (p Phone) AuthToken() (string, error) {
	token, err := secretFile(p.TwilioAuthTokenFile)
	if err != nil {
		return "", fmt.Errorf("phone.twilio_auth_token_file: %w", err)
	}
	return cmp.Or(token, p.TwilioAuthToken), nil
}

// secretFile returns the first line of a file, and "" for an empty path.
func secretFile(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", path, cause(err))
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if line = strings.TrimSpace(line); line == "" {
		return "", fmt.Errorf("the first line of %s is empty: write the secret there", path)
	}
	return line, nil
}

// orEmpty returns a parser that also takes an empty text, which sets nothing.
func orEmpty(parse func(string) (string, error)) func(string) (string, error) {
	return func(text string) (string, error) {
		if text == "" {
			return "", nil
		}
		return parse(text)
	}
}

// orNoPath returns the kind of paths that may be empty.
func orNoPath(at func(*Config) *string) kind {
	k := path(at)
	set := k.set
	k.set = func(c *Config, g assignment) error {
		if g.value == "" {
			*at(c) = ""
			return nil
		}
		return set(c, g)
	}
	k.placeholder = "FILE"
	return k
}

// setPhoneListen parses listeners: udp://HOST:PORT, with commas.
func setPhoneListen(c *Config, g assignment) error {
	c.Phone.Listen = nil
	for text := range splitList(g.value) {
		transport, address, _ := strings.Cut(text, "://")
		_, err := hostPort(address)
		if err != nil || !slices.Contains([]string{TransportUDP, TransportTCP, TransportTLS}, transport) {
			return fmt.Errorf("%.80q is not a listener: use udp://, tcp:// or tls:// and host:port, such as "+
				"udp://0.0.0.0:5060", text)
		}
		l := PhoneListener{Transport: transport, Address: address}
		if slices.Contains(c.Phone.Listen, l) {
			return fmt.Errorf("%.80q is there twice", text)
		}
		c.Phone.Listen = append(c.Phone.Listen, l)
	}
	return nil
}

// portsPerCall is RTP and RTCP. minPorts is enough for one call that is handed over, in
// which the box calls somebody else.
const portsPerCall, minPorts = 2, 2 * portsPerCall

func setRTPPorts(c *Config, g assignment) error {
	first, last, ok := strings.Cut(g.value, "-")
	from, err1 := strconv.Atoi(strings.TrimSpace(first))
	to, err2 := strconv.Atoi(strings.TrimSpace(last))
	if !ok || err1 != nil || err2 != nil || from < 1024 || to > 65535 || to < from {
		return fmt.Errorf("%.80q is not a range of ports: use FIRST-LAST from 1024 to 65535, such as 20000-20199",
			g.value)
	}
	if to-from+1 < minPorts {
		return fmt.Errorf("%d-%d has %d ports: use at least %d, two for each call and two more for each that is "+
			"handed over", from, to, to-from+1, minPorts)
	}
	c.Phone.RTPPorts = PortRange{First: from, Last: to}
	return nil
}

// setExternalAddress parses an IP address; an empty text is none.
func setExternalAddress(c *Config, g assignment) (err error) {
	if c.Phone.External = g.value; g.value != "" {
		c.Phone.External, err = publicAddress(g.value)
	}
	return err
}

func setHoldMusic(c *Config, g assignment) error {
	switch strings.ToLower(g.value) {
	case "":
		return errors.New("it is empty: use on, off or the path of a file with sound")
	case HoldMusicOn, "true", "yes":
		c.Phone.HoldMusic = HoldMusicOn
	case Off, "false", "no":
		c.Phone.HoldMusic = Off
	default:
		c.Phone.HoldMusic = g.path()
	}
	return nil
}

// setTrunkAddress parses hosts and networks, with commas.
func setTrunkAddress(t *Trunk, g assignment) (err error) {
	if t.Address = g.value; g.value != "" {
		t.Addresses, err = sipuri.ParseAddresses(g.value)
	}
	return err
}

// trunkName matches names, which are a word on a command line and in a URL.
var trunkName = matching(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`, "is not a name: use 1 to 64 letters, digits, - and _")

// sipUser matches the user of a SIP address, and numbers.
var sipUser = matching(`^[A-Za-z0-9_.!~*+#@-]{0,80}$`, "is not a user or a number: use letters, digits and the "+
	"characters _ . ! ~ * + # @ -")

// check returns what is wrong with a trunk behind others.
func (t Trunk) check(others []Trunk) error {
	passwords := len(slices.DeleteFunc([]string{t.Password, t.PasswordFile, t.PasswordEnv}, func(p string) bool {
		return p == ""
	}))
	switch {
	case t.Name == "":
		return errors.New("it has no name: set name, such as desk")
	case slices.ContainsFunc(others, func(o Trunk) bool { return o.Name == t.Name }):
		return fmt.Errorf("name: there are two trunks with the name %s: give each a name of its own", t.Name)
	case passwords > 1:
		return fmt.Errorf("%s has more than one password: set one of password, password_file and password_env", t.Name)
	case t.Register && t.User == "":
		return fmt.Errorf("%s has register, but no user: set user to the name with which the box registers", t.Name)
	case t.Register && !slices.ContainsFunc(t.Addresses, isHost):
		return fmt.Errorf("%s has register, but no host in its address: set address to the host where the box "+
			"registers", t.Name)
	case t.Address == "" && (t.User == "" || passwords == 0):
		return fmt.Errorf("%s has no address: set address to who may call, a host or networks; without one, callers "+
			"have to show a user and a password, and both have to be set", t.Name)
	}
	return nil
}

// isEverywhere reports whether an address stands for all addresses.
func isEverywhere(a sipuri.Address) bool { return a.Network.IsValid() && a.Network.Bits() == 0 }

// isHost reports whether the box can call an address.
func isHost(a sipuri.Address) bool { return a.Host != "" }

// setNumber parses the number of an extension.
func setNumber(e *Extension, g assignment) (err error) {
	if e.Number, err = contract.ParsePhoneNumber(g.value); err != nil {
		return fmt.Errorf("%w; * stands for all other numbers", err)
	}
	return nil
}

// check returns what is wrong with an extension behind others.
func (e Extension) check(others []Extension) error {
	switch {
	case e.Number == "":
		return errors.New(`it has no number: set number to what is called, or to "*" for all numbers`)
	case slices.ContainsFunc(others, func(o Extension) bool { return o.Number == e.Number }):
		return fmt.Errorf("number: %s is there twice: leave one of them out", e.Number)
	}
	return nil
}

// check checks the settings together, and adds warnings.
func (p Phone) check(c *Config) error {
	if p.TwilioAuthToken != "" && p.TwilioAuthTokenFile != "" {
		return errors.New("phone.twilio_auth_token and phone.twilio_auth_token_file are both set: keep one of them")
	}
	if len(p.Listen) == 0 {
		if len(p.Trunks) > 0 {
			c.Warnings = append(c.Warnings, "phone.trunks has trunks, but phone.listen is empty: the box uses none of "+
				"them; set phone.listen, such as udp://0.0.0.0:5060")
		}
		return nil
	}
	for _, l := range p.Listen {
		if l.Transport == TransportTLS && c.TLS.Off() {
			return fmt.Errorf("phone.listen: %s needs a certificate, but tls is off: set tls to own, acme or a "+
				"certificate and its key", l)
		}
	}
	c.Warnings = append(c.Warnings, p.warnings(c.MaxChats())...)
	return nil
}

// warnings returns what is allowed, but probably not meant.
func (p Phone) warnings(chats int) (all []string) {
	if len(p.Trunks) == 0 {
		all = append(all, "phone.listen is set, but phone.trunks is empty: nobody may call the box")
	}
	if len(p.Trunks) > 0 && len(p.Extensions) == 0 {
		all = append(all, "phone.trunks has trunks, but phone.extensions is empty: the box answers no number")
	}
	if n := p.RTPPorts.Last - p.RTPPorts.First + 1; n < portsPerCall*chats {
		all = append(all, fmt.Sprintf("phone.rtp_ports has %d ports, two for each call, but the box can hold %d chats"+
			": use at least %d", n, chats, portsPerCall*chats))
	}
	for _, t := range p.Trunks {
		if slices.ContainsFunc(t.Addresses, isEverywhere) {
			all = append(all, fmt.Sprintf("phone.trunks: everybody may call the box over the trunk %s, since its "+
				"address is all of the Internet: use the networks of those who call", t.Name))
		}
	}
	return all
}
