package box

import (
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"

	"parley/appliance/config"
	"parley/firmware/doctor"
	"parley/internal/sipuri"
	"parley/store"
)

func TestTheDoctorExaminesThePhone(t *testing.T) {
	taken, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	data := t.TempDir()
	records, err := store.Open(t.Context(), data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	_, err = records.CreateKey(t.Context(), store.NewKey{Account: "museum"})
	if err != nil {
		t.Fatal(err)
	}
	port := taken.LocalAddr().(*net.UDPAddr).Port
	cfg := config.Config{Data: data, Phone: config.Phone{
		Listen: []config.PhoneListener{{Transport: config.TransportUDP, Address: taken.LocalAddr().String()},
			{Transport: config.TransportTCP, Address: "127.0.0.1:0"}},
		RTPPorts:            config.PortRange{First: port, Last: port},
		TwilioAuthTokenFile: "/not/there",
		HoldMusic:           "/no/tune.wav",
		Trunks: []config.Trunk{
			{Name: "desk", Address: "127.0.0.1", Addresses: []sipuri.Address{{Host: "127.0.0.1"}}},
			{Name: "gone", Addresses: []sipuri.Address{{Host: "nobody.invalid"}}},
			{Name: "mute", PasswordFile: "/not/there"},
		},
		Extensions: []config.Extension{{Number: "100"}, {Number: "200", Account: "zoo"},
			{Number: "300", Config: "Reception"}},
	}}
	found, err := examinePhone(t.Context(), cfg, false)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range found {
		lines = append(lines, fmt.Sprintf("%s %s: %s → %s", f.Health, f.Part, f.What, f.Mend))
	}
	all := strings.Join(lines, "\n")
	for _, want := range []string{
		"problem media streams: phone.twilio_auth_token_file: reading /not/there",
		"problem phone: phone.hold_music: open /no/tune.wav: no such file or directory",
		"problem phone: listen udp 127.0.0.1:",
		"ok phone: tcp://127.0.0.1:0 is free",
		"1 of 1 are in use",
		"ok trunk desk: 127.0.0.1",
		"problem trunk gone: nobody.invalid is not known in the network",
		"problem trunk mute: phone.trunks: mute: password_file: reading /not/there",
		`problem phone: phone.extensions: 200: account: there is no account "zoo"`,
		"problem phone: phone.extensions: 300: config: account museum has no config",
		"ok phone: answers 100",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in\n%s", want, all)
		}
	}
	if found, err := examinePhone(t.Context(), config.Config{}, false); len(found) > 0 || err != nil {
		t.Errorf("without a telephone: %+v, %v", found, err)
	}
	for _, f := range found {
		if (f.Mend == "") != (f.Health == doctor.OK) {
			t.Errorf("%+v says not what to do, or too much", f)
		}
	}
}
