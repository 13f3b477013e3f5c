package addresses

import (
	"net"
	"net/netip"
	"testing"
)

// table is the table of a machine with two public addresses.
func table() Table {
	return NewTable(func() []netip.Addr {
		return []netip.Addr{netip.MustParseAddr("8.8.4.4"), netip.MustParseAddr("2a00:1450::7")}
	})
}

func TestAddressesAreClassified(t *testing.T) {
	for address, want := range map[string]Kind{
		"93.184.216.34": Public, "2606:2800:220:1::1": Public, "8.8.8.8": Public, "172.32.0.1": Public,
		"100.128.0.1": Public, "2a00:1450::8": Public,
		"10.0.0.1": Private, "172.16.0.1": Private, "172.31.255.255": Private, "192.168.1.5": Private,
		"100.64.0.1": Private, "fd12:3456::1": Private, "fc00::1": Private,
		"127.0.0.1": Box, "127.8.8.8": Box, "::1": Box, "8.8.4.4": Box, "2a00:1450::7": Box,
		// Clouds' own services.
		"169.254.169.254": Special, "169.254.0.1": Special, "100.100.100.200": Special, "168.63.129.16": Special,
		"192.0.0.192":   Special,
		"fd00:ec2::254": Special, "fd00:ec2::23": Special, "fd20:ce::254": Special, "fd00:c1::a9fe:a9fe": Special,
		"fd00:42::42":       Special,
		"fd00:a9fe:a9fe::1": Special, "fd00:100::100:200": Special, "fe80::1": Special,
		"fe80::a9fe:a9fe%eth0": Special,
		// No server's addresses.
		"0.0.0.0": Special, "::": Special, "0.1.2.3": Special, "224.0.0.1": Special, "255.255.255.255": Special,
		"240.0.0.1": Special, "ff02::1": Special,
		"2001:db8::1": Special, "198.18.0.1": Special, "192.0.2.1": Special, "fec0::1": Special, "4000::1": Special,
		"5f00::1": Special, "100::1": Special, "e000::1": Special,
	} {
		for _, to := range []string{address, mapped(address)} {
			d, err := table().Destination(net.JoinHostPort(to, "443"))
			if err != nil || d.Kind != want || d.Port != 443 {
				t.Errorf("%s: %v, %v; want %s", to, d, err, want)
			}
		}
	}
}

// mapped returns an IPv4 address in its IPv6 form.
func mapped(address string) string {
	if ip := netip.MustParseAddr(address); ip.Is4() {
		return "::ffff:" + address
	}
	return address
}

// An IPv6 address that embeds an IPv4 address is of the same kind.
func TestEmbeddedIPv4AddressDecidesTheClass(t *testing.T) {
	for address, want := range map[string]string{
		"::ffff:169.254.169.254": "169.254.169.254", "::ffff:10.0.0.1": "10.0.0.1", "::ffff:127.0.0.1": "127.0.0.1",
		"::127.0.0.1": "127.0.0.1", "::a9fe:a9fe": "169.254.169.254", "::ffff:0:7f00:1": "127.0.0.1",
		"64:ff9b::7f00:1": "127.0.0.1", "64:ff9b::a9fe:a9fe": "169.254.169.254", "64:ff9b::a00:1": "10.0.0.1",
		"64:ff9b::5db8:d822":   "93.184.216.34",
		"64:ff9b:1::a9fe:a9fe": "169.254.169.254", "64:ff9b:1:7::c0a8:101": "192.168.1.1",
		"64:ff9b:1:fffe::8.8.8.8": "8.8.8.8",
		"2002:7f00:1::":           "127.0.0.1", "2002:a9fe:a9fe::": "169.254.169.254",
		"2002:c0a8:101::1":                     "192.168.1.1",
		"2002:5db8:d822::1":                    "93.184.216.34",
		"2001:0:4136:e378:8000:63bf:5601:5601": "169.254.169.254", "2001::80ff:fffe": "127.0.0.1",
		"2001::f5ff:fffe": "10.0.0.1",
		"::1":             "::1", "2001:4860::8888": "2001:4860::8888", "fe80::1%eth0": "fe80::1",
	} {
		d, err := table().Destination("[" + address + "]:80")
		if err != nil || d.IP != netip.MustParseAddr(want) {
			t.Errorf("%s is %v, %v; want %s", address, d, err, want)
		}
	}
	// A network's own NAT64 with another place for the address: 10.0.0.5 at the 64th bit,
	// whose last four bytes look like 5.0.0.0; 10.1.2.3 at the 48th.
	for _, address := range []string{"64:ff9b:1:0:a:0:500:0", "64:ff9b:1:a01:2:300::", "64:ff9b:1::"} {
		if d, err := table().Destination("[" + address + "]:80"); err != nil || d.Kind != Special {
			t.Errorf("%s: %v, %v", address, d, err)
		}
	}
	if d, err := table().Destination("nonsense"); err == nil {
		t.Errorf("nonsense is %v", d)
	}
}

func TestAddressesThatAnOperatorAllowsAreAllowed(t *testing.T) {
	entries := []string{"llm.lan", "Other.lan.:8000", "192.168.1.20", "[fd00::7]:8080", "10.1.7.7/16",
		"::ffff:10.9.9.9"}
	narrow, err := ParseAllowed(entries)
	a, err2 := ParseAllowed(append(entries, "0.0.0.0/0", "fd00::/8", "169.254.0.0/16"))
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	for _, c := range []struct {
		host, to     string
		narrow, wide bool
	}{
		{"llm.lan", "10.0.0.1:1", true, true}, {"LLM.lan.", "127.0.0.1:1", true, true},
		{"llm.lan", "[fe80::1]:1", false, false}, {"llm.lan", "169.254.169.254:80", false, false},
		{"other.lan", "10.0.0.1:8000", true, true}, {"other.lan", "10.0.0.1:8001", false, true},
		{"x.llm.lan", "10.0.0.1:1", false, true},
		{"any", "192.168.1.20:5", true, true}, {"any", "[64:ff9b::c0a8:114]:5", true, true},
		{"any", "192.168.1.21:5", false, true},
		{"any", "[fd00::7]:8080", true, true}, {"any", "[fd00::7]:8081", false, true},
		{"any", "10.1.255.255:1", true, true}, {"any", "10.2.0.0:1", false, true},
		{"any", "10.9.9.9:1", true, true}, {"any", "[::ffff:10.9.9.9]:1", true, true},
		{"any", "169.254.169.254:80", false, false}, {"any", "169.254.7.7:80", false, false},
		{"any", "[fd00:ec2::254]:80", false, false},
	} {
		d, err := table().Destination(c.to)
		if err != nil {
			t.Fatal(err)
		}
		if got, wide := narrow.Allows(c.host, d), a.Allows(c.host, d); got != c.narrow || wide != c.wide {
			t.Errorf("%s at %s: %v and %v", c.host, c.to, got, wide)
		}
	}
	for _, text := range []string{
		"", " ", "http://llm.lan", "llm.lan/v1", "llm.lan:0", "llm.lan:70000", "llm.lan:http", "*.lan", "a b",
		"10.0.0.0/33", "::ffff:10.0.0.0/104", ":80", ":", "[llm.lan]:80", "169.254.169.254", "[fd00:ec2::254]:80",
	} {
		if _, err := ParseAllowed([]string{text}); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
