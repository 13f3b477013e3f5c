package sipuri

import (
	"net/netip"
	"strings"
	"testing"
)

func TestAddressesAreReadInEverySpelling(t *testing.T) {
	for text, want := range map[string]Address{
		"192.0.2.10":                       {Host: "192.0.2.10"},
		"192.0.2.10:5080":                  {Host: "192.0.2.10", Port: 5080},
		"PBX.example.org.":                 {Host: "pbx.example.org"},
		"fritz.box":                        {Host: "fritz.box"},
		"udp://pbx:5060":                   {Host: "pbx", Port: 5060, Transport: "udp"},
		"tcp://pbx":                        {Host: "pbx", Transport: "tcp"},
		"TLS://pbx":                        {Host: "pbx", Transport: "tls"},
		"sip:pbx":                          {Host: "pbx"},
		"sip:pbx:5070;transport=TCP":       {Host: "pbx", Port: 5070, Transport: "tcp"},
		"sip:pbx;transport=tls;lr":         {Host: "pbx", Transport: "tls"},
		"sips:pbx":                         {Host: "pbx", Transport: "tls"},
		"sips:pbx;transport=tcp":           {Host: "pbx", Transport: "tls"},
		"pbx;transport=udp":                {Host: "pbx", Transport: "udp"},
		"2001:db8::1":                      {Host: "2001:db8::1"},
		"[2001:db8::1]":                    {Host: "2001:db8::1"},
		"sip:[2001:db8::1]:5060":           {Host: "2001:db8::1", Port: 5060},
		"192.0.2.77/24":                    {Network: netip.MustParsePrefix("192.0.2.0/24")},
		"2001:db8::/32":                    {Network: netip.MustParsePrefix("2001:db8::/32")},
		"sip:[::ffff:192.0.2.1]:5060":      {Host: "192.0.2.1", Port: 5060},
		"sip:trunk_1.example.com;lr":       {Host: "trunk_1.example.com"},
		"tls://203.0.113.7:5061":           {Host: "203.0.113.7", Port: 5061, Transport: "tls"},
		"sip:203.0.113.7;transport=udp;lr": {Host: "203.0.113.7", Transport: "udp"},
	} {
		got, err := ParseAddresses(text)
		if err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %+v, %v; want %+v", text, got, err, want)
			continue
		}
		if again, err := ParseAddresses(got[0].String()); err != nil || again[0] != want {
			t.Errorf("%s: String gives %q, which reads as %+v, %v", text, got[0].String(), again, err)
		}
	}
}

func TestAListOfAddressesKeepsItsOrder(t *testing.T) {
	got, err := ParseAddresses(" a.example.org, b.example.org:5080\n192.0.2.0/24 ")
	if err != nil || len(got) != 3 || got[0].Host != "a.example.org" ||
		got[1].Port != 5080 || !got[2].Network.IsValid() {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestWrongAddressesAreNamedWithWhatIsAllowed(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "no address",
		" , ":                        "no address",
		"ws://pbx":                   "expected udp, tcp or tls",
		"sip:pbx;transport=sctp":     "expected udp, tcp or tls",
		"sip:pbx;user=phone":         "expected transport",
		"tls://pbx;transport=udp":    "two transports",
		"sip:anna@pbx":               "names a user",
		"pbx:0":                      "expected 1 to 65535",
		"pbx:70000":                  "expected 1 to 65535",
		"pbx:":                       "expected 1 to 65535",
		"192.0.2.0/33":               "neither a host nor a network",
		"http://pbx/":                "expected udp, tcp or tls",
		"300.1.1.1":                  "neither an IP address nor a name",
		"a..b":                       "neither an IP address nor a name",
		"-pbx":                       "neither an IP address nor a name",
		"p\x00x":                     "neither an IP address nor a name",
		strings.Repeat("a ", 17):     "at most 16",
		strings.Repeat("a", 300):     "neither an IP address nor a name",
		"192.0.2.1:5060:5061":        "neither an IP address nor a name",
		"pbx, sip:pbx;transport=foo": "expected udp, tcp or tls",
	} {
		if got, err := ParseAddresses(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %+v, %v; want an error with %q", text, got, err, want)
		}
	}
}
