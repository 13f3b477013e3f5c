package api

import (
	"log/slog"
	"net/http"
	"time"
)

// maxHeaderBytes of a request: a connect may bring a system prompt in its query.
const maxHeaderBytes = 512 << 10

// NewServer returns a server for h with its limits set. WebSockets are free of
// them once they are accepted.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h,
		// A client has its headers ready; who needs longer holds a connection
		// for nothing.
		ReadHeaderTimeout: 10 * time.Second,
		// Bodies and answers have deadlines that move with what the client
		// sends and takes; see transfer.go.
		ReadTimeout:  0,
		WriteTimeout: 0,
		// Above the 60 s for which proxies keep theirs, so that they are the
		// ones to close.
		IdleTimeout: 90 * time.Second,
		HTTP2: &http.HTTP2Config{
			// Enough for a page that asks for all at once. Each stream costs what
			// a connection does, and counts as one: see connections.go.
			MaxConcurrentStreams: 100,
			// What a client may send before it is read, of a stream and of all:
			// 1 MB a second from the other side of the world. The default, 1 MiB,
			// would be a gigabyte for as many connections as there may be.
			MaxReceiveBufferPerStream:     128 << 10,
			MaxReceiveBufferPerConnection: 256 << 10,
			// A client whose network is gone, found before IdleTimeout.
			SendPingTimeout: 30 * time.Second,
			PingTimeout:     15 * time.Second,
			// Nothing at all is taken, on any stream.
			WriteByteTimeout: maxStall,
		},
		MaxHeaderBytes: maxHeaderBytes,
		// OPTIONS * is answered as other requests for no path are.
		DisableGeneralOptionsHandler: true,
		// What clients do wrong below HTTP is nothing the operator can mend.
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}
