package config

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"parley/internal/sipuri"
)

const phoneFile = `
phone:
  consent: announce
  listen: udp://0.0.0.0:5060, tls://0.0.0.0:5061
  rtp_ports: 20000-20199
  external_address: ""
  twilio_auth_token: ""
  twilio_auth_token_file: ""
  hold_music: music.mp3
  trunks:
    - name: desk
      address: [192.0.2.10, 198.51.100.0/24]
      register: false
      user: parley
      password: "0123"
      from: ""
      password_file: ""
      password_env: ""
    - {name: carrier, address: "tls://sip.example:5061", register: true, user: "4930", password_file: secret}
  extensions:
    - {number: 100, config: Reception, account: ""}
    - number: "+49 (0)30 12-34"
    - number: "*"
      account: museum
`

func TestTrunksAndExtensionsAreListsOfMaps(t *testing.T) {
	s := newSources(t, "tls: own\n"+phoneFile)
	c := load(t, s)
	c.Phone.RTPPorts = PortRange{}
	want := Phone{
		Consent: ConsentAnnounce,
		Listen: []PhoneListener{{TransportUDP, "0.0.0.0:5060"},
			{TransportTLS, "0.0.0.0:5061"}},
		HoldMusic: filepath.Join(s.Dir, "music.mp3"),
		Trunks: []Trunk{{
			Name:      "desk",
			Address:   "192.0.2.10,198.51.100.0/24",
			Addresses: parsedAddresses(t, "192.0.2.10,198.51.100.0/24"),
			User:      "parley",
			Password:  "0123",
		}, {
			Name:         "carrier",
			Address:      "tls://sip.example:5061",
			Addresses:    parsedAddresses(t, "tls://sip.example:5061"),
			Register:     true,
			User:         "4930",
			PasswordFile: filepath.Join(s.Dir, "secret"),
		}},
		Extensions: []Extension{{Number: "100", Config: "Reception"}, {Number: "+493012" + "34"},
			{Number: AnyNumber, Account: "museum"}},
	}
	if !reflect.DeepEqual(c.Phone, want) {
		t.Errorf("got  %+v\nwant %+v", c.Phone, want)
	}
	if len(c.Warnings) > 0 {
		t.Errorf("warnings: %q", c.Warnings)
	}
}

func parsedAddresses(t *testing.T, text string) []sipuri.Address {
	t.Helper()
	all, err := sipuri.ParseAddresses(text)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestErrorsOfThePhoneNameTheEntry(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"listen: 0.0.0.0:5060", `phone.listen (parley.yaml:2): "0.0.0.0:5060" is not a listener`},
		{"listen: http://0.0.0.0:5060", "udp://, tcp:// or tls://"},
		{"listen: udp://0.0.0.0", "host:port"},
		{"listen: tls://0.0.0.0:5061", "set tls to own"},
		{"listen: udp://:5060,udp://:5060", "twice"},
		{"rtp_ports: 20000", "FIRST-LAST"},
		{"rtp_ports: 20000-20002", "has 3 ports: use at least 4"},
		{"external_address: box.example", "203.0.113.7"},
		{"consent: maybe", "ask, announce, none"},
		{"trunks: {name: desk}", "takes a list of maps"},
		{"trunks: [desk]", "entry 1 is not a map"},
		{"trunks:\n  - {name: a, adress: b}",
			"parley.yaml:3: phone.trunks: unknown key adress: did you mean address?"},
		{"trunks:\n  - name: a\n    address: {b: c}", "address takes one value"},
		{"trunks:\n  - name: [a]", "name takes one value"},
		{"trunks:\n  - address: 192.0.2.1", "phone.trunks (parley.yaml:3): entry 1: it has no name"},
		{"trunks:\n  - name: a\n    address: 1.2.3.4.5",
			`phone.trunks (parley.yaml:4): entry 1: address: "1.2.3.4.5"`},
		{"trunks:\n  - name: a", "a has no address"},
		{"trunks:\n  - {name: a, user: b}", "a has no address"},
		{"trunks:\n  - {name: a, address: b}\n  - {name: a, address: c}",
			"phone.trunks (parley.yaml:4): entry 2: name: there are two"},
		{"trunks:\n  - {name: a, address: b, register: true}", "no user"},
		{"trunks:\n  - {name: a, address: 10.0.0.0/8, register: true, user: b}", "no host"},
		{"trunks:\n  - {name: a, address: b, register: perhaps}", "register: \"perhaps\""},
		{"trunks:\n  - {name: a, address: b, password: geheim, password_file: c}", "more than one password"},
		{"trunks:\n  - {name: a, address: b, password_env: \"geheim!\"}", "password_env: this is not the name"},
		{"extensions:\n  - config: Reception", "it has no number"},
		{"extensions:\n  - number: 100\n  - number: \"1 00\"", "entry 2: number: 100 is there twice"},
		{"extensions:\n  - number: \"a b\"", "* stands for all"},
		{"twilio_auth_token: geheim\n  twilio_auth_token_file: f", "both set"},
		{"twilio_auth_token: \"" + strings.Repeat("geheim", 100) + "\"", "the value is not allowed"},
	} {
		s := newSources(t, "phone:\n  "+c.text)
		_, err := Load(s)
		if err == nil {
			t.Errorf("%q is accepted", c.text)
			continue
		}
		said := strings.ReplaceAll(err.Error(), s.Dir+"/", "")
		if !strings.Contains(said, c.want) || strings.Contains(said, "geheim") || strings.Contains(said, "\n") {
			t.Errorf("%q: %s\nwant %s", c.text, said, c.want)
		}
	}
}

func TestSecretsAreNeverShown(t *testing.T) {
	s := newSources(t, phoneFile)
	s.Flags["tls"], s.Flags["phone.twilio_auth_token"] = "own", "geheim"
	for _, e := range load(t, s).Effective() {
		if strings.Contains(e.Value, "0123") || strings.Contains(e.Value, "geheim") {
			t.Errorf("%s shows a secret: %s", e.Key, e.Value)
		}
		if e.Key == "phone.trunks" && !strings.Contains(e.Value, "{name: desk, address: 192.0.2.10,") {
			t.Errorf("the trunks are shown as %s", e.Value)
		}
	}
}

func TestSecretsComeFromFilesAndVariables(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("geheim\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TRUNK_PASSWORD", "leise")
	for want, trunk := range map[string]Trunk{
		"laut":   {Password: "laut"},
		"geheim": {PasswordFile: file},
		"leise":  {PasswordEnv: "TRUNK_PASSWORD"},
		"":       {},
	} {
		if got, err := trunk.Secret(); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	for _, trunk := range []Trunk{{Name: "a", PasswordFile: file + "x"}, {Name: "a", PasswordEnv: "NOT_SET_HERE"}} {
		if _, err := trunk.Secret(); err == nil || !strings.Contains(err.Error(), "phone.trunks: a: ") {
			t.Errorf("%+v: %v", trunk, err)
		}
	}
	if got, err := (Phone{TwilioAuthTokenFile: file}).AuthToken(); err != nil || got != "geheim" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestAUselessPhoneIsWarnedOf(t *testing.T) {
	for text, want := range map[string]string{
		"trunks: [{name: a, address: b}]":                                "phone.listen is empty",
		"listen: udp://:5060":                                            "nobody may call",
		"listen: udp://:5060\n  trunks: [{name: a, address: b}]":         "answers no number",
		"listen: udp://:5060\n  trunks: [{name: a, address: 0.0.0.0/0}]": "everybody may call",
		"listen: udp://:5060\n  rtp_ports: 20000-20003":                  "use at least 20",
	} {
		c := load(t, newSources(t, "chat: {max_chats: 10}\nphone:\n  "+text))
		if !strings.Contains(strings.Join(c.Warnings, "\n"), want) {
			t.Errorf("%q: %q does not warn of %q", text, c.Warnings, want)
		}
	}
}

func TestThePhoneSettingsOfTheDocumentationAreValid(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "phone.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(text, -1)
	for _, block := range blocks {
		c, err := Load(newSources(t, string(block[1])))
		if err != nil || len(c.Warnings) > 0 {
			t.Errorf("%s\n%v, warnings %q", block[1], err, c.Warnings)
		}
	}
	if len(blocks) < 6 {
		t.Errorf("found %d blocks", len(blocks))
	}
}
