// Package password hashes passwords that people choose, with argon2id (RFC 9106).
package password

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"
)

const (
	// MinChars is the least length: ten characters withstand guesses over the network, which the
	// box limits, and for some time also guesses with a stolen database.
	MinChars = 10
	// MaxBytes bounds the work for a sign-in: far more than people type.
	MaxBytes = 512
)

// The cost of a hash, the second choice of the OWASP cheat sheet on password storage: 19 MiB of
// memory, two passes, one thread. A box with 4 GB has its models in most of the memory, and its
// cores are busy with chats, so the 64 MiB and three passes of RFC 9106 (section 4) are too much.
const (
	memoryKiB = 19 << 10
	passes    = 2
	threads   = 1
	saltBytes = 16 // RFC 9106, section 4
	hashBytes = 32
)

// Check returns why a password is not allowed.
func Check(password string) error {
	switch n := utf8.RuneCountInString(password); {
	case !utf8.ValidString(password):
		return fmt.Errorf("the password is not UTF-8 text")
	case strings.ContainsFunc(password, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Errorf("the password has a control character, such as a line break: use letters, digits, signs " +
			"and spaces")
	case n < MinChars:
		return fmt.Errorf("the password has %d characters: use at least %d", n, MinChars)
	case len(password) > MaxBytes:
		return fmt.Errorf("the password has %d bytes: use at most %d", len(password), MaxBytes)
	case strings.Count(password, password[:1]) == len(password):
		return fmt.Errorf("the password is one character %d times: use different ones", n)
	}
	return nil
}

// Hash returns the hash of a password with its parameters and a fresh salt, in the format of the
// reference implementation: $argon2id$v=19$m=19456,t=2,p=1$SALT$HASH.
func Hash(password string) string {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails, as its documentation says
	sum := argon2.IDKey(normal(password), salt, passes, memoryKiB, threads, hashBytes)
	coded := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, memoryKiB, passes, threads,
		coded.EncodeToString(salt), coded.EncodeToString(sum))
}

// Matches reports whether a password has the hash, in a time that does not depend on how much of
// it is right. An error means that the hash is damaged, or was made by a newer version.
func Matches(hash, password string) (bool, error) {
	var version int
	var memory, rounds uint32
	var lanes uint8
	fields := strings.Split(hash, "$") // "", argon2id, version, cost, salt, hash
	if len(fields) != 6 || fields[1] != "argon2id" {
		return false, fmt.Errorf("the stored password has an unknown format: set it again with parley setup")
	}
	_, errVersion := fmt.Sscanf(fields[2], "v=%d", &version)
	_, errCost := fmt.Sscanf(fields[3], "m=%d,t=%d,p=%d", &memory, &rounds, &lanes)
	salt, errSalt := base64.RawStdEncoding.DecodeString(fields[4])
	sum, errSum := base64.RawStdEncoding.DecodeString(fields[5])
	// A damaged database must not make the box use all of its memory: 1 GiB, and 100 passes.
	if errVersion != nil || errCost != nil || errSalt != nil || errSum != nil || version != argon2.Version ||
		memory > 1<<20 || rounds < 1 || rounds > 100 || lanes < 1 || len(sum) < 16 {
		return false, fmt.Errorf("the stored password is damaged: set it again with parley setup")
	}
	got := argon2.IDKey(normal(password), salt, rounds, memory, lanes, uint32(len(sum)))
	return subtle.ConstantTimeCompare(got, sum) == 1, nil
}

// normal returns the password in Unicode's composed form: one system types é as one character,
// and another as two (RFC 8265, section 4.2.2).
func normal(password string) []byte { return norm.NFC.Bytes([]byte(password)) }
