package certs

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// reloadEvery is how often the files of a certificate are checked, so that a renewed
// certificate needs no restart.
const reloadEvery = 10 * time.Second

// certificateFiles serves a certificate from files, and reloads it when they are replaced.
type certificateFiles struct {
	certFile, keyFile string
	log               *slog.Logger

	mu       sync.Mutex
	cert     *tls.Certificate
	modified [2]time.Time // modification times of the loaded files
	checked  time.Time
}

func openFiles(certFile, keyFile string, log *slog.Logger) (*certificateFiles, error) {
	f := &certificateFiles{
		certFile: certFile,
		keyFile:  keyFile,
		log:      log,
		checked:  time.Now(),
	}
	f.modified = f.modTimes()
	cert, err := f.load()
	f.cert = cert
	return f, err
}

func (f *certificateFiles) load() (*tls.Certificate, error) {
	cert, err := tls.LoadX509KeyPair(f.certFile, f.keyFile)
	if err != nil {
		return nil, fmt.Errorf("certificate %s with key %s: %w", f.certFile, f.keyFile, err)
	}
	return &cert, nil
}

// modTimes returns the modification time of each file, and the zero time for a missing
// file.
func (f *certificateFiles) modTimes() (at [2]time.Time) {
	for i, name := range [2]string{f.certFile, f.keyFile} {
		if info, err := os.Stat(name); err == nil {
			at[i] = info.ModTime()
		}
	}
	return at
}

// get returns the certificate. While the two files do not fit together, as in the middle of
// a replacement, get returns the old certificate.
func (f *certificateFiles) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.checked) < reloadEvery {
		return f.cert, nil
	}
	f.checked = time.Now()
	now := f.modTimes()
	if now == f.modified {
		return f.cert, nil
	}
	cert, err := f.load()
	if err != nil {
		f.log.Error("the certificate was replaced by one that cannot be used; the old one stays", "err", err)
		return f.cert, nil
	}
	f.cert, f.modified = cert, now
	f.log.Info("a new certificate is in use", "file", f.certFile)
	return f.cert, nil
}
