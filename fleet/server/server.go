package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"
)

// Options are those of a server inside the hub.
type Options struct {
	Name   string      // of the server
	Folder string      // for its configuration, its accounts and its streams
	Listen string      // host:port; port 0 for any
	TLS    *tls.Config // with a certificate
	Trust  *Trust
	Log    *slog.Logger
}

// Server is a NATS server inside this program.
type Server struct{ server *natsd.Server }

// readyLimit is how long the goroutine that accepts connections may take to begin, on a machine that is busy.
const readyLimit = 30 * time.Second

// Start starts a server, which listens when Start returns.
func Start(o Options) (*Server, error) {
	if o.TLS == nil {
		return nil, errNoTLS
	}
	if err := os.MkdirAll(o.Folder, 0o700); err != nil {
		return nil, err
	}
	v := values{Name: o.Name, Listen: o.Listen, SyncAlways: true}
	if err := v.fill(o.Trust, o.Folder); err != nil {
		return nil, err
	}
	if err := v.write(); err != nil {
		return nil, err
	}
	options, err := natsd.ProcessConfigFile(v.File)
	if err != nil {
		return nil, fmt.Errorf("the fleet's server: %w", err)
	}
	if options.Port == 0 {
		options.Port = natsd.RANDOM_PORT // which a file cannot say
	}
	options.TLSConfig, options.TLS = o.TLS, true
	options.TLSTimeout = 10 // seconds, as in the file of a stock server
	options.NoSigs = true   // the program handles them
	s, err := natsd.NewServer(options)
	if err != nil {
		return nil, fmt.Errorf("the fleet's server: %w", err)
	}
	log := &logger{log: o.Log}
	s.SetLoggerV2(log, false, false, false)
	// Start reads the streams and listens. It reports what fails to its log only.
	s.Start()
	err = log.fatal()
	if err == nil && !s.ReadyForConnections(readyLimit) {
		err = fmt.Errorf("it accepts no connections after %v", readyLimit)
	}
	if err == nil && !s.JetStreamEnabled() {
		err = errors.New("it cannot open its streams")
	}
	if err != nil {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, fmt.Errorf("the fleet's server at %s: %w", o.Listen, err)
	}
	return &Server{server: s}, nil
}

// Addr returns the address at which the server listens.
func (s *Server) Addr() net.Addr { return s.server.Addr() }

// InProcessConn connects to the server without the network.
func (s *Server) InProcessConn() (net.Conn, error) { return s.server.InProcessConn() }

// Connections returns how many clients are connected.
func (s *Server) Connections() int { return s.server.NumClients() }

// Close stops the server and waits for its end.
func (s *Server) Close() {
	s.server.Shutdown()
	s.server.WaitForShutdown()
}
