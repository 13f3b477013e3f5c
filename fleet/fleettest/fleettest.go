// Package fleettest starts the server of a fleet for tests, inside the test or as a process that can be killed.
package fleettest

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"parley/appliance/certs"
	"parley/fleet/bus"
	"parley/fleet/server"
)

// Fleet is a server, and the keys by which boxes and their hub connect to it.
type Fleet struct {
	Trust     *server.Trust
	Authority []byte   // certificate (PEM) that signed the server's
	Servers   []string // URLs

	local   *server.Server // or nil
	process *serverProcess // or nil
	network *Network       // to process, or nil
	stock   server.Stock   // what the files of a stock server say
	folder  string
	log     *slog.Logger
}

// limits are small, for tests.
var limits = bus.Limits{Age: time.Hour, Bytes: 256 << 20, Sound: 64 << 20}

// Start starts a server inside the test, with all streams. The test's end stops it.
func Start(t testing.TB) *Fleet {
	t.Helper()
	f := &Fleet{folder: t.TempDir(), log: Log(t)}
	identity := f.trust(t)
	f.local = f.serve(t, identity, "127.0.0.1:0")
	t.Cleanup(func() { f.local.Close() })
	f.Servers = []string{"tls://" + f.local.Addr().String()}
	f.prepare(t)
	return f
}

// trust makes the keys and a certificate.
func (f *Fleet) trust(t testing.TB) *certs.Identity {
	t.Helper()
	trust, err := server.OpenTrust(filepath.Join(f.folder, "fleet"))
	if err != nil {
		t.Fatal(err)
	}
	f.Trust = trust
	identity, err := openIdentity(f.folder, f.log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(identity.Close)
	f.Authority = identity.Authority()
	return identity
}

func (f *Fleet) serve(t testing.TB, identity *certs.Identity, listen string) *server.Server {
	t.Helper()
	s, err := server.Start(server.Options{
		Name:   "test",
		Folder: filepath.Join(f.folder, "fleet"),
		Listen: listen,
		TLS:    identity.Config(),
		Trust:  f.Trust,
		Log:    f.log,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (f *Fleet) prepare(t testing.TB) {
	t.Helper()
	h := f.Hub(t)
	defer h.Close()
	if err := h.Prepare(t.Context(), limits); err != nil {
		t.Fatal(err)
	}
}

// HubOptions returns the options by which a hub connects.
func (f *Fleet) HubOptions(t testing.TB) bus.HubOptions {
	t.Helper()
	user, err := f.Trust.Hub()
	if err != nil {
		t.Fatal(err)
	}
	system, err := f.Trust.System()
	if err != nil {
		t.Fatal(err)
	}
	o := bus.HubOptions{
		Servers:   f.Servers,
		Authority: f.Authority,
		User:      bus.Credentials{JWT: user.JWT, Seed: user.Seed},
		System:    bus.Credentials{JWT: system.JWT, Seed: system.Seed},
		Accounts:  f.Trust.Accounts,
		Sign:      f.Trust.Sign,
		Log:       f.log,
		Soonest:   50 * time.Millisecond,
		Latest:    time.Second,
	}
	if f.local != nil {
		o.Local = f.local
	}
	return o
}

// Hub connects a hub, and waits until it is connected.
func (f *Fleet) Hub(t testing.TB) *bus.Hub {
	t.Helper()
	h, err := bus.DialHub(f.HubOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := h.Wait(ctx); err != nil {
		_, why := h.Connected()
		t.Fatalf("the hub does not connect: %v: %s", err, why)
	}
	return h
}

// Join returns what a box needs to join.
func (f *Fleet) Join(t testing.TB, box string) bus.Join {
	t.Helper()
	user, err := f.Trust.Box(box, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return bus.Join{
		Box:       box,
		Hub:       "test hub",
		Servers:   f.Servers,
		JWT:       user.JWT,
		Seed:      user.Seed,
		Authority: f.Authority,
	}
}

// Box connects a box, and waits until it is connected.
func (f *Fleet) Box(t testing.TB, j bus.Join) *bus.Box {
	t.Helper()
	b, err := bus.Dial(j, bus.Options{Log: f.log, Soonest: 50 * time.Millisecond, Latest: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	WaitFor(t, b, true)
	return b
}

// WaitFor waits until a box is connected or is not.
func WaitFor(t testing.TB, b *bus.Box, connected bool) (why string) {
	t.Helper()
	limit := time.NewTimer(30 * time.Second)
	defer limit.Stop()
	for {
		ok, why := b.Connected()
		if ok == connected {
			return why
		}
		select {
		case <-b.Changed():
		case <-limit.C:
			t.Fatalf("box %s: connected %v after 30 s, want %v: %s", b.Name(), ok, connected, why)
		}
	}
}

// Log writes to the test's log.
func Log(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelInfo}))
}

// Quiet is for what fails all the time, on purpose.
func Quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }
