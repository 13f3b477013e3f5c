package main

import (
	"log/slog"
	"net"
	"strings"
)

// notifyStarted tells systemd that the start of the unit is complete, with a status in
// words, if systemd waits for that (Type=notify): sd_notify(3).
func (c *console) notifyStarted(log *slog.Logger, status string) {
	for _, e := range c.environ {
		socket, ok := strings.CutPrefix(e, "NOTIFY_SOCKET=")
		if !ok || socket == "" {
			continue
		}
		conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
		if err == nil {
			_, err = conn.Write([]byte("READY=1\nSTATUS=" + strings.ReplaceAll(status, "\n", " ")))
			conn.Close()
		}
		if err != nil {
			log.Warn("systemd was not told that the box has started", "error", err)
		}
	}
}
