package certs

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// reloadEvery is how often the files of a certificate are looked at, so that the
// box need not be restarted when they are renewed.
const reloadEvery = 10 * time.Second

// certificateFiles serves a certificate from files, and the newer one when they
// are replaced.
type certificateFiles struct {
	certFile, keyFile string
	log               *slog.Logger

	mu       sync.Mutex
	cert     *tls.Certificate
	modified [2]time.Time // when the files were last changed
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

// modTimes returns when each file was changed; the zero time for one that is
// not there.
func (f *certificateFiles) modTimes() (at [2]time.Time) {
	for i, name := range [2]string{f.certFile, f.keyFile} {
		if info, err := os.Stat(name); err == nil {
			at[i] = info.ModTime()
		}
	}
	return at
}

// get returns the certificate. Files that do not fit together, as in the middle
// of being replaced, leave the one that was there.
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
