package sip

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// The messages below follow the descriptions of RFC 4475. %A stands for the address of the
// peer, %B for that of the box, and a message ends as it stands.
var torture = []struct {
	name   string
	text   string
	status int // of the response; 0: none
}{
	{"short tortuous INVITE, folded, compact and full of white space", lines(
		"INVITE sip:vivekg@%B;unknownparam SIP/2.0",
		"TO :",
		" sip:vivekg@%B ;   x    = 1918181833n",
		"from   : \"J Rosenberg \\\\\\\"\"       <sip:jdrosen@%B>",
		"  ;",
		"  tag = 98asjd8",
		"MaX-fOrWaRdS: 0068",
		"Call-ID: wsinv.ndaksdj@192.0.2.1",
		"Content-Length   : 0",
		"cseq: 0009",
		"  INVITE",
		"Via  : SIP  /   2.0",
		" /UDP",
		"    %A;branch=390skdjuw;rport",
		"s :",
		"NewFangledHeader:   newfangled value",
		" continued newfangled value",
		"UnknownHeaderWithUnusualValue: ;;,,;;,;",
		"Route:",
		" <sip:services.example.com;lr;unknownwith=value;unknown-no-value>",
		"v:  SIP  / 2.0  / TCP     spindle.example.com   ;",
		"  branch  =   z9hG4bK9ikj8  ,",
		" SIP  /    2.0   / UDP  192.168.255.111   ; branch=",
		" z9hG4bK30239",
		"m:\"Quoted string \\\"\\\"\" <sip:jdrosen@example.com> ; newparam =",
		"      newvalue ;",
		"  secondparam ; q = 0.33",
	), 100},
	{"unusual characters", lines(
		"!interesting-Method0123456789_*+`.%indeed'~ sip:1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*"+
			":&it+has=1,weird!*pas$wo~d_too.(doesn't-it)@%B SIP/2.0",
		"Via: SIP/2.0/UDP %A;branch=z9hG4bK-.!%66*_+`'~;rport",
		"To: \"BEL:\\\x07 NUL:\\\x00 DEL:\\\x7f\" <sip:1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*@%B>",
		"From: token1~` token2'+_ token3*%!.- <sip:mundane@example.com>;"+
			"fromParam''~+*_!.-%=\"\xd1\x80\xd0\xb0\";tag=_token~1'+`*%!-.",
		"Call-ID: intmeth.word%ZK-!.*_+'@word`~)(><:\\/\"][?}{",
		"CSeq: 139122385 !interesting-Method0123456789_*+`.%indeed'~",
		"Max-Forwards: 255",
	), 501},
	{"escapes that are not to be undone", lines(
		"INVITE sip:sips%3Auser%40example.com@%B SIP/2.0",
		"To: sip:%75se%72@%B", "From: <sip:I%20have%20spaces@example.net>;tag=938",
		"Max-Forwards: 87", "i: esc01.239409asdfakjkn23onasd0-3234", "CSeq: 234234 INVITE",
		"Via: SIP/2.0/UDP %A;branch=z9hG4bKkdjuw;rport", "C: application/sdp",
		"Contact: <sip:cal%6Cer@host5.example.net;%6C%72;n%61me=v%61lue%25%34%31>", "Content-Length: 0",
	), 100},
	{"escaped null", lines(
		"REGISTER sip:%B SIP/2.0", "To: sip:null-%00-null@example.com",
		"From: sip:null-%00-null@example.com;tag=839923423",
		"Max-Forwards: 70", "Call-ID: escnull.39203ndfvkjdasfkq3w4otrq0adsfdfnavd", "CSeq: 14398234 REGISTER",
		"Via: SIP/2.0/UDP %A;branch=z9hG4bKkdjuw2;rport", "Contact: <sip:%00@host5.example.com>",
		"Contact: <sip:%00%00@host5.example.com>", "L:0",
	), 405},
	{"percent that escapes nothing", lines(
		"RE%47IST%45R sip:%B SIP/2.0", "To: \"%Z%45\" <sip:resource@example.com>",
		"From: \"%Z%45\" <sip:resource@example.com>;tag=f232jadfj23",
		"Call-ID: esc02.asdfnqwo34rq23i34jrjasdcnl23nrlknsdf",
		"Via: SIP/2.0/UDP %A;branch=z9hG4bK209%fzsnel234;rport", "CSeq: 29344 RE%47IST%45R", "Max-Forwards: 70", "l: 0",
	), 501},
	{"no white space between name and address", lines(
		"OPTIONS sip:user@%B SIP/2.0", "To: sip:user@example.com", "From: caller<sip:caller@example.com>;tag=323",
		"Max-Forwards: 70", "Call-ID: lwsdisp.1234abcd@funky.example.com", "CSeq: 60 OPTIONS",
		"Via: SIP/2.0/UDP %A;branch=z9hG4bKkdjuw3;rport", "l: 0",
	), 200},
	{"long values", lines(
		"INVITE sip:user@%B SIP/2.0",
		"To: \"I have a user name of "+strings.Repeat("extreme", 40)+
			" proportion\"<sip:user@example.com:6000;unknownparam1="+
			strings.Repeat("very", 40)+"longvalue>",
		"F: sip:"+strings.Repeat("amazinglylongcallername", 5)+"@example.net;tag=12"+strings.Repeat("982", 50)+"424",
		"Call-ID: longreq.one"+strings.Repeat("really", 20)+"longcallid", "CSeq: 3882340 INVITE",
		"Unknown-"+strings.Repeat("Long", 20)+"-Name: unknown-"+strings.Repeat("long", 20)+"-value",
		"Via: SIP/2.0/UDP %A;branch=z9hG4bK"+strings.Repeat("long", 30)+";rport",
		"v: SIP/2.0/TCP sip33.example.com, SIP/2.0/TCP sip32.example.com",
		"Max-Forwards: 70", "Contact: <sip:"+strings.Repeat("amazinglylongcallername", 5)+"@host5.example.net>",
		"Content-Length: 0",
	), 100},
	{"text behind the end", lines(
		"OPTIONS sip:user@%B SIP/2.0", "To: sip:j.user@example.com", "From: sip:caller@example.net;tag=134161461246",
		"Max-Forwards: 7", "Call-ID: dblreq.0ha0isndaksdjasdf3234nas", "CSeq: 8 OPTIONS",
		"Via: SIP/2.0/UDP %A;branch=z9hG4bKkdjuw23492;rport", "Content-Length: 0",
	) + "INVITE sip:joe@example.com SIP/2.0\r\nt: sip:joe@example.com\r\n", 200},
	{"semicolon in the user", lines(
		"OPTIONS sip:user;par=u%40example.net@%B SIP/2.0", "To: sip:j_user@example.com",
		"From: sip:caller@example.org;tag=33242", "Max-Forwards: 3", "Call-ID: semiuri.0ha0isndaksdj",
		"CSeq: 8 OPTIONS",
		"Accept: application/sdp, application/pkcs7-mime,", "        multipart/mixed, multipart/signed,",
		"        message/sip, message/sipfrag", "Via: SIP/2.0/UDP %A;branch=z9hG4bKkdjuw4;rport", "l: 0",
	), 200},
	{"unknown transport below", lines(
		"OPTIONS sip:user@%B SIP/2.0", "To: sip:user@example.com", "From: <sip:caller@example.com>;tag=323",
		"Max-Forwards: 70", "Call-ID:  transports.kijh4akdnaqjkwendsasfdj", "Accept: application/sdp",
		"CSeq: 60 OPTIONS",
		"Via: SIP/2.0/UDP %A;branch=z9hG4bKkdjuw5;rport", "Via: SIP/2.0/SCTP t2.example.com;branch=z9hG4bKklasjdhf",
		"Via: SIP/2.0/TLS t3.example.com;branch=z9hG4bK2980unddj",
		"Via: SIP/2.0/UNKNOWN t4.example.com;branch=z9hG4bKasd0f3en",
		"l: 0",
	), 200},
	{"no cookie in the branch", lines(
		"OPTIONS sip:user@%B SIP/2.0", "To: sip:user@example.com", "From: sip:caller@example.org;tag=33242",
		"Max-Forwards: 3", "Via: SIP/2.0/UDP %A;branch=z9hG4bK;rport", "Accept: application/sdp",
		"Call-ID: badbranch.sadonfo23i420jv0as0derf3j3n", "CSeq: 8 OPTIONS", "l: 0",
	), 200},
	{"commas without values", lines(
		"INVITE sip:user@%B SIP/2.0", "To: sip:j.user@example.com", "From: sip:caller@example.net;tag=134161461246",
		"Max-Forwards: 7", "Call-ID: badinv01.0ha0isndaksdjasdf3234nas", "CSeq: 8 INVITE",
		"Via: SIP/2.0/UDP %A;;,;,,;rport", "Contact: \"Joe\" <sip:joe@example.org>;;;;", "Content-Length: 0",
	), -1},
	{"too few bytes in the body", lines(
		"INVITE sip:user@%B SIP/2.0", "Max-Forwards: 80", "To: sip:j.user@example.com",
		"From: sip:caller@example.net;tag=93942939o2", "Contact: <sip:caller@hungry.example.net>",
		"Call-ID: clerr.0ha0isndaksdjweiafasdk3", "CSeq: 8 INVITE",
		"Via: SIP/2.0/UDP %A;branch=z9hG4bK39234-23523;rport",
		"Content-Type: application/sdp", "Content-Length: 9999",
	) + offer, 400},
	{"negative length", lines(
		"INVITE sip:user@%B SIP/2.0", "Max-Forwards: 254", "To: sip:j.user@example.com",
		"From: sip:caller@example.net;tag=32394234", "Call-ID: ncl.0ha0isndaksdj2193423r542w35", "CSeq: 0 INVITE",
		"Via: SIP/2.0/UDP %A;branch=z9hG4bKkdjuw6;rport", "Contact: <sip:caller@example53.example.net>",
		"Content-Type: application/sdp", "Content-Length: -999",
	) + offer, 400},
	{"numbers out of range", lines(
		"REGISTER sip:%B SIP/2.0", "Via: SIP/2.0/UDP %A;branch=z9hG4bK342sdfoi3;rport", "To: <sip:user@example.com>",
		"From: <sip:user@example.com>;tag=239232jh3", "CSeq: 36893488147419103232 REGISTER",
		"Call-ID: scalar02.23o0pd9vanlq3wnrlnewofjas9ui32", "Max-Forwards: 300", "Expires: 10000000000000000000000",
		"Contact: <sip:user@host129.example.com>;expires=280297596632815", "Content-Length: 0",
	), 0},
	{"status out of range", lines(
		"SIP/2.0 4294967301 better not break the receiver", "Via: SIP/2.0/UDP %A;branch=z9hG4bK342sdfoi3",
		"To: <sip:user@example.com>", "From: <sip:user@example.com>;tag=239232jh3", "CSeq: 353494 INVITE",
		"Call-ID: bigcode.asdof3uj203asdnf3429uasdhfas3ehjasdfas9i", "Content-Length: 0",
	), 0},
	{"no quote at the end of the name", lines(
		"INVITE sip:user@%B SIP/2.0", "To: \"Mr. J. User <sip:j.user@example.com>",
		"From: sip:caller@example.net;tag=93334",
		"Max-Forwards: 10", "Call-ID: quotbal.aksdj", "Contact: <sip:caller@host59.example.net>", "CSeq: 8 INVITE",
		"Via: SIP/2.0/UDP %A;branch=z9hG4bKkdjuw7;rport", "Content-Length: 0",
	), 0},
	{"brackets around the request's address", lines(
		"INVITE <sip:user@%B> SIP/2.0", "To: sip:user@example.com", "From: sip:caller@example.net;tag=39291",
		"Max-Forwards: 23", "Call-ID: ltgtruri.1@192.0.2.5", "CSeq: 1 INVITE", "Via: SIP/2.0/UDP %A;rport",
		"Contact: <sip:caller@host5.example.net>", "Content-Length: 0",
	), 0},
	{"white space in the request's address", lines(
		"INVITE sip:user@%B; lr SIP/2.0", "To: sip:user@example.com", "From: sip:caller@example.net;tag=39291",
		"Max-Forwards: 23", "Call-ID: lwsruri.asdfasdoeoi2323-asdfwrn23-asd834rk423", "CSeq: 2130706432 INVITE",
		"Via: SIP/2.0/UDP %A;rport", "Content-Length: 0",
	), 0},
	{"escaped headers in the request's address", lines(
		"INVITE sip:user@%B?Route=%3Csip:example.com%3E SIP/2.0", "To: sip:user@example.com",
		"From: sip:caller@example.net;tag=341518", "Max-Forwards: 7", "Contact: <sip:caller@host39923.example.net>",
		"Call-ID: escruri.23940-asdfhj-aje3br-234q098w-fawerh2q-h4n5", "CSeq: 149209342 INVITE",
		"Via: SIP/2.0/UDP %A;branch=z9hG4bKkdjuw8;rport", "Content-Length: 0",
	), 100},
	{"unknown scheme", lines(
		"OPTIONS nobodyKnowsThisScheme:totallyopaquecontent SIP/2.0", "To: sip:user@example.com",
		"From: sip:caller@example.net;tag=384", "Max-Forwards: 3", "Call-ID: unkscm.nasdfasser0q239nwsdfasdkl34",
		"CSeq: 3923423 OPTIONS",
		"Via: SIP/2.0/UDP %A;branch=z9hG4bKkdjuw9;rport", "Content-Length: 0",
	), 416},
	{"unknown version", lines(
		"OPTIONS sip:t.watson@%B SIP/7.0", "Via: SIP/7.0/UDP %A;branch=z9hG4bKkdjuw10;rport", "Max-Forwards: 70",
		"From: A. Bell <sip:a.g.bell@bell-tel.example.com>;tag=qweoiqpe", "To: T. Watson <sip:t.watson@example.org>",
		"Call-ID: badvers.31417@c.bell-tel.example.com", "CSeq: 1 OPTIONS", "l: 0",
	), 505},
	{"methods that differ", lines(
		"OPTIONS sip:user@%B SIP/2.0", "To: sip:j.user@example.com", "From: sip:caller@example.net;tag=34525",
		"Max-Forwards: 6", "Call-ID: mismatch01.dj0234sxdfl3", "CSeq: 8 INVITE",
		"Via: SIP/2.0/UDP %A;branch=z9hG4bKkdjuw11;rport", "l: 0",
	), 400},
	{"no field that has to be there", lines("OPTIONS sip:user@%B SIP/2.0", "CSeq: 193942 OPTIONS",
		"Via: SIP/2.0/UDP %A;branch=z9hG4bKkdjuw12", "Content-Length: 0"), 0},
	{"many fields of which one is allowed", lines(
		"OPTIONS sip:user@%B SIP/2.0", "Via: SIP/2.0/UDP %A;branch=z9hG4bKkdjuw13;rport", "CSeq: 5 OPTIONS",
		"CSeq: 59 OPTIONS",
		"Call-ID: multi01.98asdh@192.0.2.1", "Call-ID: multi01.98asdh@192.0.2.2",
		"From: sip:caller@example.com;tag=3413415",
		"From: sip:caller@example.net;tag=2923420123", "To: sip:user@example.com", "To: sip:other@example.net", "l: 5",
		"l: 0",
	), 400},
	{"response to nobody", lines("SIP/2.0 200 OK", "Via: SIP/2.0/UDP %A;branch=z9hG4bKhjkhjkh", "From: <sip:a@b>;tag=1",
		"To: <sip:c@d>;tag=2", "Call-ID: x", "CSeq: 1 INVITE", "l: 0"), 0},
	{"two methods of acknowledgement", lines("ACK sip:user@%B SIP/2.0", "Via: SIP/2.0/UDP %A;branch=z9hG4bKack;rport",
		"From: <sip:a@b>;tag=1", "To: <sip:c@d>;tag=2", "Call-ID: x", "CSeq: 1 ACK", "l: 0"), 0},
}

func lines(all ...string) string { return strings.Join(all, "\r\n") + "\r\n\r\n" }

func TestTortuousMessagesAreAnsweredOrIgnored(t *testing.T) {
	s := open(t, desk())
	for _, c := range torture {
		text := strings.NewReplacer("%A", s.conn.LocalAddr().String(), "%B", s.at).Replace(c.text)
		s.send(text)
		m := s.read(100 * time.Millisecond)
		switch {
		case m == nil && c.status <= 0:
		case c.status < 0:
		case m == nil:
			t.Errorf("%s: no response; want %d", c.name, c.status)
		case c.status == 0:
			t.Errorf("%s: came\n%s", c.name, m)
		case !strings.HasPrefix(m.String(), fmt.Sprintf("SIP/2.0 %d ", c.status)):
			t.Errorf("%s: want %d, got\n%s", c.name, c.status, m)
		}
	}
	for len(s.invitations) > 0 {
		_ = s.invitation().Reject(486, 0)
	}
	s.conn = s.socket() // refusals still come to the other one
	options := s.dial()
	options.method = "OPTIONS"
	s.send(s.text(options))
	s.want(200)
}

func TestPiecesOfMessagesEndNothing(t *testing.T) {
	s := open(t, desk())
	text := s.text(s.dial())
	for n := 0; n < len(text); n += 3 {
		s.send(text[:n])
		s.send(text[n:])
		s.send(text[:n] + "\x00\xff" + text[n:])
		if n%300 == 0 {
			time.Sleep(10 * time.Millisecond) // the buffer of the socket is finite
		}
	}
	s.send(strings.Repeat("\r\n", 100))
	s.send(string(bytes.Repeat([]byte("a"), 60_000)))
	for len(s.invitations) > 0 {
		_ = s.invitation().Reject(486, 0)
	}
	s.conn = s.socket() // refusals still come to the other one
	options := s.dial()
	options.method = "OPTIONS"
	s.send(s.text(options))
	s.want(200)
}

// A field that the box passes on, such as Referred-By, must not begin another one there.
func TestALineFeedAloneEndsNoField(t *testing.T) {
	s := open(t, desk())
	m, err := parse([]byte(s.text(s.dial("Referred-By: <sip:a@b>\nX-Other: 1"))))
	if err != nil {
		t.Fatal(err)
	}
	if by := field(m, "referred-by", "b"); !strings.HasSuffix(by, " X-Other: 1") || strings.Contains(by, "\n") {
		t.Errorf("Referred-By is %q", by)
	}
}
