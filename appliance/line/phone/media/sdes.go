package media

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/pion/srtp/v3"
)

// security is how the keys of a call are agreed on.
type security int

const (
	plain  security = iota // the call is not encrypted
	bySDES                 // the keys are in the descriptions (RFC 4568)
	byDTLS                 // by a handshake through the RTP port (RFC 5764)
)

// suite is a way to encrypt packets.
type suite struct {
	name    string // in a=crypto
	profile srtp.ProtectionProfile
}

// suites returns the ways to encrypt, in the order in which the box offers them: first the one
// that every telephone has (RFC 4568, section 6.2, RFC 6188, RFC 7714).
func suites() []suite {
	return []suite{
		{"AES_CM_128_HMAC_SHA1_80", srtp.ProtectionProfileAes128CmHmacSha1_80},
		{"AES_256_CM_HMAC_SHA1_80", srtp.ProtectionProfileAes256CmHmacSha1_80},
		{"AEAD_AES_256_GCM", srtp.ProtectionProfileAeadAes256Gcm},
		{"AES_CM_128_HMAC_SHA1_32", srtp.ProtectionProfileAes128CmHmacSha1_32},
		{"AES_256_CM_HMAC_SHA1_32", srtp.ProtectionProfileAes256CmHmacSha1_32},
		{"AEAD_AES_128_GCM", srtp.ProtectionProfileAeadAes128Gcm},
	}
}

// lengths returns the lengths of the master key and salt of a suite in bytes.
func (s suite) lengths() (key, salt int) {
	key, _ = s.profile.KeyLen() // an error means an unknown profile
	salt, _ = s.profile.SaltLen()
	return key, salt
}

// newKey returns a random master key and salt.
func (s suite) newKey() []byte {
	key, salt := s.lengths()
	master := make([]byte, key+salt)
	_, _ = rand.Read(master) // never fails
	return master
}

// cryptoLine is an a=crypto of the far end.
type cryptoLine struct {
	suite
	tag    string
	master []byte // key and salt
	mki    []byte // identifier of the key in each packet; nil: none
}

// cryptos returns the a=crypto lines that the box can use.
func (s section) cryptos() (lines []cryptoLine) {
	for _, v := range s.all("crypto") {
		if c, ok := parseCrypto(v); ok {
			lines = append(lines, c)
		}
	}
	return lines
}

// parseCrypto reads "1 AES_CM_128_HMAC_SHA1_80 inline:KEY|LIFETIME|MKI:LENGTH". It returns
// false for what the box cannot use: other suites, several keys, and parameters that change
// the encryption.
func parseCrypto(line string) (cryptoLine, bool) {
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return cryptoLine{}, false
	}
	for _, parameter := range fields[3:] {
		if !strings.HasPrefix(parameter, "WSH=") { // a hint for the size of the replay window
			return cryptoLine{}, false
		}
	}
	name := strings.Replace(strings.ToUpper(fields[1]), "AES_CM_256", "AES_256_CM", 1) // from a draft of RFC 6188
	for _, s := range suites() {
		if s.name != name {
			continue
		}
		s.name = fields[1] // the answer has to repeat it
		c := cryptoLine{suite: s, tag: fields[0]}
		inline, ok := strings.CutPrefix(fields[2], "inline:")
		parts := strings.Split(inline, "|")
		key, salt := s.lengths()
		var err error
		c.master, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(parts[0], "="))
		if !ok || err != nil || len(c.master) != key+salt || strings.Contains(inline, ";") {
			return cryptoLine{}, false
		}
		for _, p := range parts[1:] {
			if number, length, ok := strings.Cut(p, ":"); ok {
				if c.mki, ok = parseMKI(number, length); !ok {
					return cryptoLine{}, false
				}
			}
		}
		return c, true
	}
	return cryptoLine{}, false
}

// parseMKI returns a key identifier as its bytes in packets.
func parseMKI(number, length string) ([]byte, bool) {
	v, err := strconv.ParseUint(number, 10, 64)
	n, lengthErr := strconv.Atoi(length)
	if err != nil || lengthErr != nil || n < 1 || n > 128 { // RFC 4568, section 6.1
		return nil, false
	}
	mki := make([]byte, max(n, 8))
	binary.BigEndian.PutUint64(mki[len(mki)-8:], v)
	return mki[len(mki)-n:], true
}

// writeCrypto returns the value of an a=crypto for a key of the box.
func writeCrypto(tag string, s suite, master []byte) string {
	return fmt.Sprintf("%s %s inline:%s", tag, s.name, base64.StdEncoding.EncodeToString(master))
}

// keys encrypt and decrypt the packets of a call. Each context is used by one goroutine at a
// time: in by the one that receives RTP; the others under locks.
type keys struct {
	in, inReports   *srtp.Context
	out, outReports *srtp.Context
	suite           suite
	local, remote   []byte // master keys and salts
}

// replayWindow is how many packets one may be late and still count as new: a second of
// packets of 10 ms, with some to spare.
const replayWindow = 128

// newKeys returns the keys for a pair of master keys. mki is in the packets of the far end.
func newKeys(s suite, local, remote, mki []byte) (*keys, error) {
	n, _ := s.lengths()
	k := &keys{
		suite:  s,
		local:  local,
		remote: remote,
	}
	for _, c := range []struct {
		context *(*srtp.Context)
		master  []byte
		options []srtp.ContextOption
	}{
		{&k.in, remote, []srtp.ContextOption{srtp.MasterKeyIndicator(mki), srtp.SRTPReplayProtection(replayWindow)}},
		{&k.inReports, remote,
			[]srtp.ContextOption{srtp.MasterKeyIndicator(mki), srtp.SRTCPReplayProtection(replayWindow)}},
		{&k.out, local, nil},
		{&k.outReports, local, nil},
	} {
		var err error
		if *c.context, err = srtp.CreateContext(c.master[:n], c.master[n:], s.profile, c.options...); err != nil {
			return nil, fmt.Errorf("setting up %s: %w", s.name, err)
		}
	}
	return k, nil
}

// same reports whether keys are those of a line, so that they go on to count packets.
func (k *keys) same(c cryptoLine, local []byte) bool {
	return k != nil && k.suite == c.suite && bytes.Equal(k.remote, c.master) && bytes.Equal(k.local, local)
}
