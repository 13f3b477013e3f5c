package api

import (
	"log/slog"
	"net/http"
	"time"
)

// NewServer returns a server for h with its limits set. WebSockets are free of
// them once they are accepted.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h,
		// A client has its headers ready; who needs longer holds a connection
		// for nothing.
		ReadHeaderTimeout: 10 * time.Second,
		// The largest body, 4 MiB, over a link of half a megabit.
		ReadTimeout: 70 * time.Second,
		// Answers are streamed as they are spoken, so there is no bound on the
		// whole of one.
		WriteTimeout: 0,
		// Above the 60 s for which proxies keep theirs, so that they are the
		// ones to close.
		IdleTimeout: 90 * time.Second,
		// A connect may bring a system prompt in its query.
		MaxHeaderBytes: 512 << 10,
		// OPTIONS * is answered as other requests for no path are.
		DisableGeneralOptionsHandler: true,
		// What clients do wrong below HTTP is nothing the operator can mend.
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}
