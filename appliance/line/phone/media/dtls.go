package media

import (
	"bytes"
	"context"
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/dtls/v3"
	"github.com/pion/dtls/v3/pkg/crypto/fingerprint"
	"github.com/pion/dtls/v3/pkg/crypto/selfsign"
	"github.com/pion/srtp/v3"
)

const (
	// handshakeLimit bounds a DTLS handshake: packets that are lost five times in a row.
	handshakeLimit = 30 * time.Second
	// maxHandshakePackets bounds the packets of a handshake that wait to be read.
	maxHandshakePackets = 32
)

// association is a DTLS handshake with the far end, and the keys that follow from it.
type association struct {
	fingerprint string // of the far end's certificate, as in its description
	active      bool   // the box begins the handshake
	keys        atomic.Pointer[keys]
	incoming    chan []byte
	ctx         context.Context
	cancel      context.CancelFunc
	send        func(packet []byte)
	options     []dtls.Option
	begun       sync.Once

	from  netip.AddrPort // of the newest packet; this and moves are used by the goroutine that receives
	moves int            // number of changes of from
}

// dtlsLines returns the attributes of a description for DTLS.
func (l *local) dtlsLines(setup string) ([]string, error) {
	if l.certificate == nil {
		c, err := selfsign.GenerateSelfSigned()
		if err != nil {
			return nil, fmt.Errorf("making a certificate for a call: %w", err)
		}
		l.certificate = &c
	}
	leaf, err := x509.ParseCertificate(l.certificate.Certificate[0])
	if err != nil {
		return nil, fmt.Errorf("making a certificate for a call: %w", err)
	}
	sum, err := fingerprint.Fingerprint(leaf, crypto.SHA256)
	if err != nil {
		return nil, fmt.Errorf("making a certificate for a call: %w", err)
	}
	return []string{"fingerprint:sha-256 " + strings.ToUpper(sum), "setup:" + setup}, nil
}

// secureByDTLS sets the association of an agreement: the earlier one, as long as the
// certificate of the far end is the same, or a new one (RFC 5763, section 6.6).
func (s *Session) secureByDTLS(a, before *agreement, d description, m section, answered bool) ([]string, error) {
	sum, _ := d.attribute(m, "fingerprint")
	theirs, _ := d.attribute(m, "setup")
	active := theirs != "active" // to actpass the answer is active (RFC 5763, section 5)
	if answered {
		active = theirs == "passive"
	}
	setup := "passive"
	if active {
		setup = "active"
	}
	lines, err := s.local.dtlsLines(setup)
	if err != nil {
		return nil, err
	}
	if before != nil && before.association != nil && before.association.fingerprint == sum {
		a.association = before.association
		lines[1] = "setup:" + map[bool]string{true: "active", false: "passive"}[a.association.active]
		return lines, nil
	}
	n := &association{
		fingerprint: sum,
		active:      active,
		incoming:    make(chan []byte, maxHandshakePackets),
		send:        s.sendHandshake,
		options: []dtls.Option{
			dtls.WithCertificates(*s.local.certificate),
			dtls.WithInsecureSkipVerify(true), // the fingerprint is verified
			dtls.WithSRTPProtectionProfiles(dtls.SRTP_AEAD_AES_128_GCM, dtls.SRTP_AES128_CM_HMAC_SHA1_80,
				dtls.SRTP_AES128_CM_HMAC_SHA1_32, dtls.SRTP_AEAD_AES_256_GCM),
		},
	}
	n.ctx, n.cancel = context.WithCancel(s.done)
	a.association = n
	return lines, nil
}

// start begins the handshake, once.
func (n *association) start(s *Session) {
	n.begun.Do(func() {
		s.workers.Go(func() {
			if err := n.run(); err != nil && n.ctx.Err() == nil {
				s.log.Warn("cannot encrypt a call", "err", err)
			}
		})
	})
}

// sendHandshake sends a packet of a handshake to the far end.
func (s *Session) sendHandshake(packet []byte) {
	if to := s.target.Load(); to != nil {
		_, _ = s.sockets.rtp.WriteToUDPAddrPort(packet, to.rtp)
	}
}

// run does the handshake and sets the keys. Until the association ends, it then repeats the
// last packets if the far end has lost them.
func (n *association) run() error {
	c, err := n.open()
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	ctx, cancel := context.WithTimeout(n.ctx, handshakeLimit)
	defer cancel()
	if err := c.HandshakeContext(ctx); err != nil {
		return err
	}
	if err := n.setKeys(c); err != nil {
		return err
	}
	<-n.ctx.Done()
	return nil
}

// open returns a connection for the handshake.
func (n *association) open() (*dtls.Conn, error) {
	remote := &net.UDPAddr{}
	if n.active {
		client := make([]dtls.ClientOption, 0, len(n.options))
		for _, o := range n.options {
			client = append(client, o)
		}
		return dtls.ClientWithOptions(handshakeConn{n}, remote, client...)
	}
	server := []dtls.ServerOption{dtls.WithClientAuth(dtls.RequireAnyClientCert)}
	for _, o := range n.options {
		server = append(server, o)
	}
	return dtls.ServerWithOptions(handshakeConn{n}, remote, server...)
}

// setKeys verifies the far end's certificate and sets the keys that follow from a handshake.
func (n *association) setKeys(c *dtls.Conn) error {
	state, ok := c.ConnectionState()
	if !ok {
		return errors.New("the DTLS handshake has no result")
	}
	if err := verify(state.PeerCertificates, n.fingerprint); err != nil {
		return err
	}
	profile, ok := c.SelectedSRTPProtectionProfile()
	if !ok {
		return errors.New("the far end has no way to encrypt packets in common with the box")
	}
	config := srtp.Config{Profile: srtp.ProtectionProfile(profile)}
	if err := config.ExtractSessionKeysFromDTLS(&state, n.active); err != nil {
		return err
	}
	k, err := newKeys(suite{name: "DTLS", profile: config.Profile},
		slices.Concat(config.Keys.LocalMasterKey, config.Keys.LocalMasterSalt),
		slices.Concat(config.Keys.RemoteMasterKey, config.Keys.RemoteMasterSalt), nil)
	if err != nil {
		return err
	}
	n.keys.Store(k)
	return nil
}

// verify checks the far end's certificate against the fingerprint in its description, such as
// "sha-256 0A:1B:...".
func verify(certificates [][]byte, wanted string) error {
	name, sum, _ := strings.Cut(wanted, " ")
	hash, err := fingerprint.HashFromString(strings.ToLower(name))
	if err != nil {
		return fmt.Errorf("a=fingerprint:%.80s: %w", wanted, err)
	}
	if len(certificates) == 0 {
		return errors.New("the far end shows no certificate")
	}
	leaf, err := x509.ParseCertificate(certificates[0])
	if err != nil {
		return fmt.Errorf("the far end's certificate: %w", err)
	}
	got, err := fingerprint.Fingerprint(leaf, hash)
	if err != nil {
		return fmt.Errorf("the far end's certificate: %w", err)
	}
	if !bytes.EqualFold([]byte(got), []byte(strings.TrimSpace(sum))) {
		return errors.New("the far end's certificate is not that of its description")
	}
	return nil
}

// receive takes a packet of a handshake. Without room it is lost, and will be sent again.
func (n *association) receive(packet []byte) {
	select {
	case n.incoming <- bytes.Clone(packet):
	default:
	}
}

// follow reports whether the answers go to where a packet of a handshake comes from: to an
// address of the far end's description, or else to another one, until the keys tell who the
// far end is.
func (n *association) follow(from, described netip.AddrPort) bool {
	known := from.Addr() == described.Addr()
	if n.keys.Load() != nil || from == n.from || !known && (n.moves >= maxMoves || n.from.Addr() == described.Addr()) {
		return false
	}
	n.from = from
	n.moves++
	return true
}

// handshakeConn is the RTP port as the DTLS library sees it.
type handshakeConn struct{ of *association }

// ReadFrom implements net.PacketConn.
func (c handshakeConn) ReadFrom(b []byte) (int, net.Addr, error) {
	select {
	case packet := <-c.of.incoming:
		return copy(b, packet), &net.UDPAddr{}, nil
	case <-c.of.ctx.Done():
		return 0, nil, net.ErrClosed
	}
}

// WriteTo implements net.PacketConn. The far end's address is that of its packets.
func (c handshakeConn) WriteTo(b []byte, _ net.Addr) (int, error) {
	c.of.send(b)
	return len(b), nil
}

// Close implements net.PacketConn.
func (c handshakeConn) Close() error { return nil }

// LocalAddr implements net.PacketConn.
func (c handshakeConn) LocalAddr() net.Addr { return &net.UDPAddr{} }

// SetDeadline implements net.PacketConn. The context of the handshake bounds it.
func (c handshakeConn) SetDeadline(time.Time) error { return nil }

// SetReadDeadline implements net.PacketConn.
func (c handshakeConn) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline implements net.PacketConn.
func (c handshakeConn) SetWriteDeadline(time.Time) error { return nil }
