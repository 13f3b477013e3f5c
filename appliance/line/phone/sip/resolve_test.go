package sip

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"parley/internal/sipuri"
)

// records are names of a network without a server.
type records struct {
	hosts    map[string]string // name → addresses
	services map[string]string // _service._proto.name → target:port, in their order
}

func (r records) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	var all []netip.Addr
	for a := range strings.FieldsSeq(r.hosts[host]) {
		all = append(all, netip.MustParseAddr(a))
	}
	if all == nil {
		return nil, &net.DNSError{Name: host, IsNotFound: true}
	}
	return all, nil
}

func (r records) LookupSRV(_ context.Context, service, proto, name string) (string, []*net.SRV, error) {
	var all []*net.SRV
	for s := range strings.FieldsSeq(r.services["_"+service+"._"+proto+"."+name]) {
		target, port, _ := strings.Cut(s, ":")
		one := &net.SRV{Target: target + "."}
		_, _ = fmt.Sscan(port, &one.Port)
		all = append(all, one)
	}
	if all == nil {
		return "", nil, &net.DNSError{Name: name, IsNotFound: true}
	}
	return name, all, nil
}

func TestAddressesAreFoundInTheirOrder(t *testing.T) {
	r := records{
		hosts: map[string]string{
			"pbx":   "192.0.2.1 2001:db8::1",
			"a.net": "192.0.2.2",
			"b.net": "192.0.2.3 192.0.2.4",
			"udp":   "192.0.2.9",
		},
		services: map[string]string{
			"_sip._udp.udp":        "b.net:5070 gone.net:5060 a.net:5060",
			"_sip._tcp.tcponly":    "a.net:5062",
			"_sips._tcp.tls":       "a.net:5061",
			"_sip._udp.notoffered": ".:0",
		},
	}
	for text, want := range map[string]string{
		"192.0.2.7":             "udp://192.0.2.7:5060",
		"tls://[2001:db8::7]":   "tls://[2001:db8::7]:5061",
		"pbx":                   "udp://192.0.2.1:5060 udp://[2001:db8::1]:5060",
		"tcp://pbx":             "tcp://192.0.2.1:5060 tcp://[2001:db8::1]:5060",
		"pbx:5080":              "udp://192.0.2.1:5080 udp://[2001:db8::1]:5080",
		"udp":                   "udp://192.0.2.3:5070 udp://192.0.2.4:5070 udp://192.0.2.2:5060",
		"udp:5060":              "udp://192.0.2.9:5060",
		"tcponly":               "tcp://192.0.2.2:5062",
		"sip:tls;transport=tls": "tls://192.0.2.2:5061",
		"tls":                   "tls://192.0.2.2:5061",
		"notoffered":            "lookup notoffered",
		"nowhere":               "lookup nowhere",
		"192.0.2.0/24":          "is a network",
	} {
		addresses, err := sipuri.ParseAddresses(text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		found, err := resolve(context.Background(), r, addresses[0])
		for _, one := range found {
			got = append(got, one.String())
		}
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", text, err)
			}
		} else if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: found %v; want %v", text, got, want)
		}
	}
}

func TestCertificateHasToNameTheHostOfTheSettings(t *testing.T) {
	r := records{
		hosts:    map[string]string{"a.net": "192.0.2.2"},
		services: map[string]string{"_sips._tcp.tls": "a.net:5061"},
	}
	found, err := resolve(context.Background(), r, sipuri.Address{Host: "tls", Transport: "tls"})
	if err != nil || len(found) != 1 || found[0].name != "tls" || found[0].addr.Port() != 5061 {
		t.Errorf("found %+v, %v", found, err)
	}
}

func TestTrunkKnowsItsAddresses(t *testing.T) {
	s := open(t, Trunk{Name: "mixed", Address: "localhost, 192.0.2.0/24 2001:db8::/64"})
	trunk := s.e.trunks[0]
	for address, want := range map[string]bool{
		"127.0.0.1":          true,
		"192.0.2.200":        true,
		"::ffff:192.0.2.200": true,
		"2001:db8::7":        true,
		"192.0.3.1":          false,
		"2001:db8:1::7":      false,
		"8.8.8.8":            false,
	} {
		if got := trunk.has(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: has returns %v", address, got)
		}
	}
}
