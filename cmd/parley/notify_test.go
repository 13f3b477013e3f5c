package main

import (
	"log/slog"
	"net"
	"path/filepath"
	"testing"
)

func TestSystemdIsToldThatTheBoxHasStarted(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "notify")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := &console{environ: []string{"A=b", "NOTIFY_SOCKET=" + socket}}
	c.notifyStarted(slog.New(slog.DiscardHandler), "answers at http://127.0.0.1:8080")
	got := make([]byte, 200)
	n, err := l.Read(got)
	if want := "READY=1\nSTATUS=answers at http://127.0.0.1:8080"; err != nil || string(got[:n]) != want {
		t.Errorf("%v: got %q, want %q", err, got[:n], want)
	}
}
