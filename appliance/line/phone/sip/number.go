package sip

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/emiago/sipgo/sip"

	"parley/appliance/contract"
)

// maxNumber bounds a number, and the reason in a response: the longest number has 15 digits,
// and addresses of mail stand in for some.
const maxNumber = 120

// withheld are the users that stand for a caller who does not want to be known.
func withheld() []string {
	return []string{"anonymous", "unknown", "restricted", "unavailable", "private", "withheld"}
}

// caller returns the number of the caller of a trunk's INVITE. A trunk is trusted: what it
// asserts (RFC 3325) counts more than what the caller says of itself. A number that the
// caller withholds is empty, whatever the trunk knows.
func caller(req *sip.Request) string {
	for _, word := range list(req, "privacy", "") {
		for p := range strings.SplitSeq(word, ";") {
			if p = strings.ToLower(strings.TrimSpace(p)); p == "id" || p == "user" || p == "header" {
				return ""
			}
		}
	}
	if hidden(req.From().Address.Host) || contains(withheld(), req.From().Address.User) {
		return ""
	}
	for _, asserted := range []string{"p-asserted-identity", "remote-party-id"} {
		for _, h := range req.GetHeaders(asserted) {
			var uri sip.Uri
			var params sip.HeaderParams
			if _, err := sip.ParseAddressValue(firstAddress(h.Value()), &uri, &params); err != nil {
				continue
			}
			if p, _ := params.Get("privacy"); asserted == "remote-party-id" && p != "" && p != "off" {
				return ""
			}
			if n := userOf(&uri); n != "" {
				return n
			}
		}
	}
	return userOf(&req.From().Address)
}

// hidden reports whether a host stands for an unknown caller (RFC 3323, section 4.1.1.3).
func hidden(host string) bool { return strings.EqualFold(host, "anonymous.invalid") }

// firstAddress returns the first of the addresses in a header field.
func firstAddress(value string) string {
	quoted, bracketed := false, false
	for i, c := range value {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '<':
			bracketed = true
		case c == '>':
			bracketed = false
		case c == ',' && !bracketed:
			return value[:i]
		}
	}
	return value
}

// userOf returns the number in a SIP or tel URI, without the marks that make it readable,
// and without its parameters; another user as it is.
func userOf(uri *sip.Uri) string {
	user := uri.User
	if uri.Scheme == "tel" {
		user = uri.Raw()
	}
	user, _, _ = strings.Cut(user, ";")
	if plain, err := url.PathUnescape(user); err == nil {
		user = plain
	}
	if user == "" || contains(withheld(), user) {
		return ""
	}
	if number, err := contract.ParsePhoneNumber(user); err == nil {
		user = number
	}
	return clean(user)
}

// clean cuts what is too long, and removes what is not text.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "")
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s))
	if len(s) > maxNumber {
		s = strings.ToValidUTF8(s[:maxNumber], "")
	}
	return s
}

// called returns the number that was called: what the trunk says of it, or the one of the
// request; when that is the box's name at the trunk, the one that the caller dialled.
func called(req *sip.Request, registered string) string {
	if h := req.GetHeader("p-called-party-id"); h != nil {
		var uri sip.Uri
		if _, err := sip.ParseAddressValue(firstAddress(h.Value()), &uri, nil); err == nil && userOf(&uri) != "" {
			return userOf(&uri)
		}
	}
	number := userOf(&req.Recipient)
	if number != "" && (registered == "" || number != registered) {
		return number
	}
	if to := userOf(&req.To().Address); to != "" {
		return to
	}
	return number
}

// expires returns how long the caller of an INVITE waits for an answer.
func expires(req *sip.Request) time.Duration {
	if d := parseSeconds(field(req, "expires", "")); d > 0 {
		return min(decideTimeout, d)
	}
	return decideTimeout
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) }

// parseSeconds reads a number of seconds at the beginning of a header field; 0 if there is
// none. Parameters and comments behind it do not matter.
func parseSeconds(value string) time.Duration {
	if i := strings.IndexAny(value, ";("); i >= 0 {
		value = value[:i]
	}
	n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}

// optionTags returns the extensions that a peer supports or requires.
func optionTags(m sip.Message) []string {
	return slices.Concat(list(m, "supported", "k"), list(m, "require", ""))
}
