package registry

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"parley/internal/durable"
)

// keyBytes is the length of the key for secrets (AES-256).
const keyBytes = 32

// vault encrypts the secrets of plugins. The key lies in a file beside the database, so the
// database alone, or a backup, reveals no secret.
type vault struct {
	file  string
	chown func(path string) error // gives a new file to the owner of the data folder
}

// errNoKey means that there is no key yet.
var errNoKey = errors.New("there is no key")

// cipher reads the key. The error is errNoKey if there is none.
func (v vault) cipher() (cipher.AEAD, error) {
	info, err := os.Stat(v.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoKey
	}
	if err != nil {
		return nil, err
	}
	if loose := info.Mode().Perm() & 0o077; loose != 0 {
		return nil, fmt.Errorf("%s, which decrypts the secrets of plugins, can be read by other users (mode %04o): "+
			"chmod 600 %s, and replace the secrets if someone may have read it", v.file, info.Mode().Perm(), v.file)
	}
	text, err := os.ReadFile(v.file)
	if err != nil {
		return nil, err
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != keyBytes {
		return nil, fmt.Errorf("%s does not hold %d bytes in base64: restore the old file, or delete it and set the "+
			"secrets again", v.file, keyBytes)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// seal encrypts a secret, and creates the key if there is none. The result is a nonce of 12
// random bytes and the AES-256-GCM ciphertext. The names of plugin and setting are its
// additional data, so it is valid for that setting only.
func (v vault) seal(plugin, setting, secret string) ([]byte, error) {
	c, err := v.cipher()
	if errors.Is(err, errNoKey) {
		if err := v.createKey(); err != nil {
			return nil, fmt.Errorf("create the key for secrets: %w", err)
		}
		c, err = v.cipher()
	}
	if err != nil {
		return nil, fmt.Errorf("the key for secrets: %w", err)
	}
	return c.Seal(nil, nil, []byte(secret), additionalData(plugin, setting)), nil
}

// open decrypts the result of seal.
func (v vault) open(plugin, setting string, sealed []byte) (string, error) {
	c, err := v.cipher()
	if err != nil {
		return "", err
	}
	secret, err := c.Open(nil, nil, sealed, additionalData(plugin, setting))
	if err != nil {
		return "", errors.New("it was encrypted with another key")
	}
	return string(secret), nil
}

func additionalData(plugin, setting string) []byte {
	return []byte("parley plugin " + plugin + " " + setting)
}

// createKey creates the key, unless another process does.
func (v vault) createKey() error {
	f, err := durable.Create(v.file, 0o600)
	if err != nil {
		return err
	}
	defer f.Discard()
	if err := v.chown(f.Name()); err != nil {
		return err
	}
	key := make([]byte, keyBytes)
	rand.Read(key)
	if _, err := fmt.Fprintln(f, base64.StdEncoding.EncodeToString(key)); err != nil {
		return err
	}
	if err := f.CommitNew(); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
