package appliance

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
)

// lock is what closes the box's connections to others.
type lock struct {
	config    *tls.Config // nil: they are open
	authority *authority  // that signs the box's own certificate; nil where another one does
	close     func()
}

// openLock makes ready what cfg says, for a box that listens at that address.
func openLock(ctx context.Context, cfg Config, at net.Addr, log *slog.Logger) (*lock, error) {
	l := &lock{close: func() {}}
	var err error
	switch cfg.TLS.Mode {
	case TLSFiles:
		var files *certificateFiles
		if files, err = openFiles(cfg.TLS.Cert, cfg.TLS.Key, log); err == nil {
			l.config = &tls.Config{GetCertificate: files.get}
		}
	case TLSACME:
		l.config, l.close, err = openACME(ctx, cfg, at, log)
	case TLSOwn:
		var own *ownCertificate
		if own, err = openOwn(cfg.tlsFolder(), cfg.TLS.Names, log); err == nil {
			l.config, l.authority = &tls.Config{GetCertificate: own.get}, own.authority
			log.Info("the box has a certificate of its own", "authority", cfg.AuthorityFile(), "sha256", own.authority.fingerprint())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("tls: %w", err)
	}
	if l.config != nil {
		// What came before has known weaknesses, and every client since 2014
		// speaks it.
		l.config.MinVersion = tls.VersionTLS12
	}
	return l, nil
}

// certificate is the authority's, as clients may have it.
func (l *lock) certificate() []byte {
	if l.authority == nil {
		return nil
	}
	return l.authority.certificate()
}

// tlsFolder is where the box keeps keys and certificates.
func (c Config) tlsFolder() string { return filepath.Join(c.Data, "tls") }

// AuthorityFile is where a box with a certificate of its own leaves that of its
// authority, for clients on the same machine.
func (c Config) AuthorityFile() string { return filepath.Join(c.tlsFolder(), "ca.crt") }
