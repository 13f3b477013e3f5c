package appliance

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"parley/appliance/api"
	"parley/appliance/box"
	"parley/appliance/certs"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engines"
	"parley/appliance/voices"
	"parley/fleet"
	"parley/fleet/bus"
	"parley/fleet/door"
	"parley/fleet/hub"
	"parley/fleet/server"
	"parley/internal/disk"
	"parley/internal/layout"
	"parley/internal/version"
	"parley/plugins/registry"
)

// RunHub runs the hub of a fleet until ctx ends, and then stops it: an appliance without engines, whose boxes have
// them. The error is ErrRestart when an operator restarts it from the console.
func RunHub(ctx context.Context, cfg config.Config, console Console) error {
	return runAs(ctx, cfg, console, "hub", (*appliance).runHub)
}

func (a *appliance) runHub(ctx context.Context) error {
	defer a.close()

	if err := a.openStore(ctx); err != nil {
		return err
	}
	a.startSweeping(ctx)
	if err := a.listen(ctx); err != nil {
		return err
	}
	a.openMetrics()
	a.openPlugins(ctx)
	a.voices = voices.Voices{Config: a.cfg, Records: a.records, StandIns: &voices.StandIns{Log: a.log}}
	if err := a.openFleet(ctx); err != nil {
		return err
	}
	a.startHubHTTP(ctx)
	a.reportLoaded()
	a.reportReady(ctx)

	select {
	case err := <-a.served:
		return fmt.Errorf("serving: %w", err)
	case <-ctx.Done():
	}
	a.log.Info("stopping")
	stopping, cancel := context.WithTimeout(context.Background(), requestLimit)
	defer cancel()
	if a.http.Shutdown(stopping) != nil {
		return a.http.Close()
	}
	return nil
}

// fleetHub is the hub with the connection that it needs.
type fleetHub struct {
	*hub.Hub
	bus       *bus.Hub
	trust     *server.Trust
	authority []byte // certificate (PEM) that signed the server's
}

// Missing returns why the hub is not ready, in words.
func (f fleetHub) Missing(context.Context) []string {
	if ok, why := f.bus.Connected(); !ok {
		return []string{"the hub is not connected to its NATS server: " + why}
	}
	return nil
}

// Live returns how many chats are live on all boxes. They belong to accounts that the hub does not count.
func (f fleetHub) Live() (chats, accounts int) {
	for _, b := range f.Boxes() {
		chats += b.State.Live
	}
	return chats, 0
}

// Status says that a hub has no loudspeaker.
func (fleetHub) Status() (contract.BoxKiosk, error) {
	return contract.BoxKiosk{}, contract.ErrUnavailable{Why: "a hub has no loudspeaker"}
}

// openFleet opens the fleet's keys, the NATS server or the connection to a stock one, and the hub.
func (a *appliance) openFleet(ctx context.Context) error {
	folder := filepath.Join(a.cfg.Data, layout.Fleet)
	trust, err := server.OpenTrust(folder)
	if err != nil {
		return err
	}
	identity, err := a.fleetIdentity(ctx)
	if err != nil {
		return err
	}
	options, err := hubOptions(trust, a.log)
	if err != nil {
		return err
	}
	servers := a.cfg.Hub.Servers
	if len(servers) > 0 {
		options.Servers, options.Authority = servers, identity.Authority()
	} else {
		local, err := server.Start(server.Options{
			Name:   a.cfg.Hub.MachineName(),
			Folder: folder,
			Listen: a.cfg.Hub.Listen,
			TLS:    identity.Config(),
			Trust:  trust,
			Log:    a.log,
		})
		if err != nil {
			return fmt.Errorf("hub.listen %s: %w: choose another address, or stop what uses it", a.cfg.Hub.Listen, err)
		}
		a.onClose(local.Close)
		options.Local = local
		servers = serversAt(local.Addr(), a.cfg.TLS.Names)
	}
	connection, err := bus.DialHub(options)
	if err != nil {
		return fmt.Errorf("hub.server: %w", err)
	}
	a.onClose(connection.Close)
	limits, err := a.streamLimits()
	if err != nil {
		return err
	}
	h, err := hub.Open(ctx, hub.Parts{
		Name:    a.cfg.Hub.MachineName(),
		Servers: servers,
		Inside:  options.Local != nil,
		Limits:  limits,
		Folder:  filepath.Join(folder, "incoming"),
		Records: a.records,
		Bus:     connection,
		Trust: fleetTrust{
			trust:     trust,
			bus:       connection,
			hub:       a.cfg.Hub.MachineName(),
			servers:   servers,
			authority: identity.Authority(),
			log:       a.log,
		},
		Plugins:      exportedPlugins{a.plugins.Exporter()},
		CheckSetting: config.CheckRemote,
		Log:          a.log,
	})
	if err != nil {
		return err
	}
	a.onClose(h.Close)
	a.fleet = fleetHub{h, connection, trust, identity.Authority()}
	return nil
}

// fleetIdentity returns the certificate of the NATS server: that of HTTP, or one of the hub's own if HTTP has none,
// since boxes are never reached without encryption.
func (a *appliance) fleetIdentity(ctx context.Context) (*certs.Identity, error) {
	if a.identity.Config() != nil {
		return a.identity, nil
	}
	host, _, err := net.SplitHostPort(a.cfg.Hub.Listen)
	if err != nil {
		return nil, err // was checked when it was set
	}
	options := certOptions(a.cfg)
	options.Source, options.Host = certs.Own, host
	identity, err := certs.Open(ctx, options, &net.TCPAddr{}, a.log)
	if err == nil {
		a.onClose(identity.Close)
	}
	return identity, err
}

// hubOptions returns the credentials with which the hub connects.
func hubOptions(trust *server.Trust, log *slog.Logger) (bus.HubOptions, error) {
	user, err := trust.Hub()
	if err != nil {
		return bus.HubOptions{}, err
	}
	system, err := trust.System()
	if err != nil {
		return bus.HubOptions{}, err
	}
	return bus.HubOptions{
		User:     bus.Credentials{JWT: user.JWT, Seed: user.Seed},
		System:   bus.Credentials{JWT: system.JWT, Seed: system.Seed},
		Accounts: trust.Accounts,
		Sign:     trust.Sign,
		Log:      log,
	}, nil
}

// serversAt returns the URLs at which boxes reach the hub's own server: by the names of its certificate, and by the
// machine's addresses.
func serversAt(at net.Addr, names []string) []string {
	host, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return nil
	}
	hosts := slices.Clone(names)
	if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() {
		hosts = append(hosts, host)
	} else {
		for _, ip := range certs.MachineAddresses() {
			if ip.To4() != nil || len(hosts) == 0 {
				hosts = append(hosts, ip.String())
			}
		}
	}
	if len(hosts) == 0 {
		hosts = []string{"127.0.0.1"} // a machine without a network
	}
	urls := make([]string, len(hosts))
	for i, h := range hosts {
		urls[i] = (&url.URL{Scheme: "tls", Host: net.JoinHostPort(h, port)}).String()
	}
	return urls
}

// WriteServerConfig writes what a stock NATS server needs to serve the fleet of a hub: its configuration, with who may
// connect, and its certificate.
func WriteServerConfig(ctx context.Context, cfg config.Config, folder string, log *slog.Logger) error {
	if err := os.MkdirAll(cfg.Data, layout.DataMode); err != nil {
		return err
	}
	trust, err := server.OpenTrust(filepath.Join(cfg.Data, layout.Fleet))
	if err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(cfg.Hub.Listen)
	if err != nil {
		return err // was checked when it was set
	}
	options := certOptions(cfg)
	options.Host = host
	if options.Source == certs.Off {
		options.Source = certs.Own
	}
	if options.Source == certs.ACME {
		return fmt.Errorf("tls acme: the certificate is fetched and renewed by the program that listens: give " +
			"nats-server a certificate with tls CERT,KEY")
	}
	identity, err := certs.Open(ctx, options, &net.TCPAddr{}, log)
	if err != nil {
		return err
	}
	defer identity.Close()
	certificate, err := identity.Config().GetCertificate(&tls.ClientHelloInfo{})
	if err != nil {
		return err
	}
	return server.WriteStock(folder, server.Stock{
		Name:        cfg.Hub.MachineName(),
		Listen:      cfg.Hub.Listen,
		Certificate: certificate,
		Trust:       trust,
	})
}

// streamLimits returns how much of the facts the server stores.
func (a *appliance) streamLimits() (bus.Limits, error) {
	size, err := disk.Size(a.cfg.Data)
	if err != nil {
		return bus.Limits{}, fmt.Errorf("hub.keep: the size of the disk is not known: %w", err)
	}
	l := bus.Limits{
		Age:   time.Duration(a.cfg.Hub.KeepDays) * 24 * time.Hour,
		Bytes: a.cfg.Hub.Keep.Of(size),
	}
	if l.Bytes == 0 {
		l.Bytes = size // no limit but the disk
	}
	l.Sound = l.Bytes
	return l, nil
}

// startHubHTTP serves the API, and announces its address in the data folder.
func (a *appliance) startHubHTTP(ctx context.Context) {
	reported := a.cfg
	reported.Listen = a.listener.Addr().String()
	a.health = box.NewHealth(box.HealthSources{
		Config:  reported,
		Started: a.started,
		Records: a.records,
		Figures: a.figures,
		Chats:   a.fleet,
		Speaker: a.fleet,
		Leaf:    a.identity.Leaf,
	})
	opened := door.New(a.fleet, door.Options{
		Mode:    door.Mode(a.cfg.Hub.Door),
		Group:   a.cfg.Hub.DoorGroup,
		Running: ctx,
		Log:     a.log,
	})
	a.onClose(opened.Close)
	a.serve(api.Parts{
		Keys:        a.records,
		Ready:       a.fleet,
		Version:     version.String(),
		Log:         a.log,
		Records:     a.records,
		Voices:      a.voices,
		Aliases:     a.voices,
		Models:      engines.Catalogue{Config: a.cfg},
		Plugins:     a.plugins,
		BoxPlugins:  a.plugins.Operator(a.figures),
		BoxWebhooks: box.Webhooks{Config: a.cfg},
		BoxHealth:   a.health,
		BoxSetUp:    box.ConsoleSetUp{Config: a.cfg, Records: a.records, Again: a.restart},
		Fleet:       a.fleet,
		Door:        opened,
		Running:     ctx,
		Origins:     a.cfg.Origins,
		Authority:   a.identity.Authority(),
		Metrics:     a.figures,
		Limits:      a.limits,
	})
}

// fleetTrust makes and revokes the credentials of boxes.
type fleetTrust struct {
	trust     *server.Trust
	bus       *bus.Hub
	hub       string
	servers   []string
	authority []byte
	log       *slog.Logger
}

func (t fleetTrust) Join(name string) (text, key string, err error) {
	user, err := t.trust.Box(name, time.Time{})
	if err != nil {
		return "", "", err
	}
	file, err := bus.Join{
		Box:       name,
		Hub:       t.hub,
		Servers:   t.servers,
		JWT:       user.JWT,
		Seed:      user.Seed,
		Authority: t.authority,
	}.Text()
	return string(file), user.Key, err
}

// Revoke revokes credentials. A server that cannot be reached learns of it when the hub connects to it.
func (t fleetTrust) Revoke(ctx context.Context, key string) error {
	if err := t.trust.Revoke(key); err != nil {
		return err
	}
	if ok, why := t.bus.Connected(); !ok {
		t.log.Warn("the NATS server will learn of revoked credentials when the hub is connected again", "why", why)
		return nil
	}
	return t.bus.PushAccount(ctx)
}

// exportedPlugins are the plugins of the hub as boxes install them.
type exportedPlugins struct{ registry *registry.Registry }

func (p exportedPlugins) Plugin(ctx context.Context, name string) (fleet.Plugin, []byte, error) {
	e, err := p.registry.Export(ctx, name)
	if _, missing := errors.AsType[registry.ErrNotInstalled](err); missing {
		return fleet.Plugin{}, nil, contract.ErrNotFound{What: "plugin", ID: name, Field: "item.name",
			Hint: "parley plugin list shows those that are installed on the hub"}
	}
	if err != nil {
		return fleet.Plugin{}, nil, err
	}
	return fleet.Plugin{
		Name:     e.Name,
		Version:  e.Version,
		SHA256:   e.SHA256(),
		Bytes:    int64(len(e.File)),
		Granted:  e.Granted,
		Settings: e.Settings,
	}, e.File, nil
}
