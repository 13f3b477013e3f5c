package appliance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"parley/appliance/certs"
	"parley/appliance/config"
	"parley/fleet"
	"parley/fleet/bus"
	"parley/fleet/server"
	"parley/internal/layout"
)

// readerLimit is how long the running server may take to answer, also over a slow line.
const readerLimit = 30 * time.Second

// AddFleetReader makes what a program needs that reads all facts of a fleet, such as a warehouse: a consumer on the
// running server, and its credentials, which it returns as a file that NATS clients read.
func AddFleetReader(ctx context.Context, cfg config.Config, name string, log *slog.Logger) ([]byte, error) {
	if err := fleet.CheckName(name); err != nil {
		return nil, fmt.Errorf("--reader: %w", err)
	}
	var file bytes.Buffer
	add := func(ctx context.Context, trust *server.Trust, h *bus.Hub, servers []string) error {
		if err := h.AddReader(ctx, name); err != nil {
			return err
		}
		user, err := trust.Reader(name, time.Time{})
		if err != nil {
			return err
		}
		creds, err := user.Creds()
		if err != nil {
			return err
		}
		fmt.Fprintf(&file, "# Reads the facts of all boxes. Keep it secret.\n# server: %s\n# stream: PARLEY_FACTS\n"+
			"# consumer: %s\n# inbox prefix: _INBOX_%[2]s\n\n", strings.Join(servers, " "), name)
		file.Write(creds)
		return nil
	}
	err := withFleetServer(ctx, cfg, log, add)
	return file.Bytes(), err
}

// RemoveFleetReader deletes the consumer of a reader, whose credentials are worth nothing then.
func RemoveFleetReader(ctx context.Context, cfg config.Config, name string, log *slog.Logger) error {
	if err := fleet.CheckName(name); err != nil {
		return fmt.Errorf("--remove-reader: %w", err)
	}
	return withFleetServer(ctx, cfg, log, func(ctx context.Context, _ *server.Trust, h *bus.Hub, _ []string) error {
		return h.RemoveReader(ctx, name)
	})
}

// withFleetServer connects to the running server of a hub with keys of its data folder.
func withFleetServer(ctx context.Context, cfg config.Config, log *slog.Logger,
	do func(context.Context, *server.Trust, *bus.Hub, []string) error) error {
	trust, err := server.ReadTrust(filepath.Join(cfg.Data, layout.Fleet))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is not the data folder of a hub: name it with --data", cfg.Data)
	}
	if err != nil {
		return err
	}
	options, err := hubOptions(trust, log)
	if err != nil {
		return err
	}
	if options.Servers = cfg.Hub.Servers; len(options.Servers) == 0 {
		at, err := net.ResolveTCPAddr("tcp", cfg.Hub.Listen)
		if err != nil {
			return fmt.Errorf("hub.listen: %w", err)
		}
		options.Servers = serversAt(at, cfg.TLS.Names)
	}
	if c := certOptions(cfg); c.Source == certs.Own || c.Source == certs.Off {
		if options.Authority, err = os.ReadFile(c.AuthorityFile); err != nil {
			return fmt.Errorf("the certificate of the hub's authority: %w", err)
		}
	}
	h, err := bus.DialHub(options)
	if err != nil {
		return err
	}
	defer h.Close()
	ctx, cancel := context.WithTimeout(ctx, readerLimit)
	defer cancel()
	if err := h.Wait(ctx); err != nil {
		_, why := h.Connected()
		return fmt.Errorf("the NATS server of the hub at %s cannot be reached, which must run for this: %s",
			strings.Join(options.Servers, ", "), why)
	}
	return do(ctx, trust, h, options.Servers)
}
