package release

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"parley/internal/signing"
)

// Errors of Verify.
var (
	// ErrUnsigned means that a release file has no signature.
	ErrUnsigned = errors.New("the release file is not signed: parley bundle --key FILE signs it")
	// ErrNoKeys means that this machine trusts no key.
	ErrNoKeys = errors.New("this machine has no key that could verify the release file: put the public key of who " +
		"made it (ed25519:BASE64) into /etc/parley/release.pub")
)

// An ErrForeign means that a release file is signed by a key that is not trusted.
type ErrForeign struct{ Signer signing.Key }

func (e *ErrForeign) Error() string {
	return fmt.Sprintf("the release file is signed by %s, which this machine does not trust: if you do, put that line "+
		"into a file /etc/parley/NAME.pub", e.Signer)
}

// An ErrSignature means that the signature belongs to another manifest.
type ErrSignature struct{ Signer signing.Key }

func (e *ErrSignature) Error() string {
	return fmt.Sprintf("the signature by %s does not match the release file: the file was changed, or the signature "+
		"belongs to another one. Get the file again from a source that you trust", e.Signer)
}

// Signer returns the key that the file says it is signed by, which only Verify checks;
// false if it is not signed.
func (f *File) Signer() (key signing.Key, signed bool) {
	if f.signed == nil {
		return "", false
	}
	return f.signed.Key, true
}

// Verify checks that one of keys has signed the file, and returns that key. The error is
// ErrUnsigned, ErrNoKeys, an *ErrForeign or an *ErrSignature. With the content of its
// parts, which is checked when they are read, the signature covers the whole file.
func (f *File) Verify(keys []signing.Key) (signing.Key, error) {
	switch {
	case f.signed == nil:
		return "", ErrUnsigned
	case !f.signed.Signs(f.text):
		return "", &ErrSignature{f.signed.Key}
	case len(keys) == 0:
		return "", ErrNoKeys
	case !f.signed.Key.In(keys):
		return "", &ErrForeign{f.signed.Key}
	}
	return f.signed.Key, nil
}

// KeyFile is the file in the Debian package with the key of who made the package.
// OperatorKeys are the files in which the operator adds keys.
const (
	KeyFile      = "/usr/share/parley/release.pub"
	OperatorKeys = "/etc/parley/*.pub"
)

// TrustedKeys returns the keys that this machine trusts to sign release files, as KeyFile
// and OperatorKeys list them: a key a line; empty lines and lines that begin with # do not
// count. root is the root of the file system, / except in tests. A file that somebody else
// than the owner of root could have written is an error: the service owns /etc/parley.
func TrustedKeys(root string) ([]signing.Key, error) {
	files, err := filepath.Glob(filepath.Join(root, OperatorKeys))
	if err != nil {
		return nil, err
	}
	var owner unix.Stat_t
	if err := unix.Stat(root, &owner); err != nil {
		return nil, err
	}
	var keys []signing.Key
	for _, file := range append([]string{filepath.Join(root, KeyFile)}, files...) {
		text, err := readOwned(file, owner)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		more, err := parseKeys(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		keys = append(keys, more...)
	}
	slices.Sort(keys)
	return slices.Compact(keys), nil
}

// maxKeyFile bounds a file of keys: a thousand.
const maxKeyFile = 64 << 10

// readOwned reads a file that nobody but its owner can write, who must be that of the
// other file.
func readOwned(file string, owner unix.Stat_t) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Uid != owner.Uid || st.Mode&0o022 != 0 {
		return nil, fmt.Errorf("%s lists keys that this machine trusts, and others than root could have written it: "+
			"check it, then run: chown root:root %[1]s; chmod 644 %[1]s", file)
	}
	return io.ReadAll(io.LimitReader(f, maxKeyFile))
}

func parseKeys(text []byte) (keys []signing.Key, err error) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, err := signing.ParseKey(line)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, lines.Err()
}
