package api

import (
	"log/slog"
	"net/http"
	"time"
)

// maxHeaderBytes bounds the headers of a request: a connect may have a system
// prompt in its query.
const maxHeaderBytes = 512 << 10

// NewServer returns a server for h. Its limits no longer apply to a WebSocket
// once it is accepted.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h,
		// A client has its headers ready; a slower one only holds a connection.
		ReadHeaderTimeout: 10 * time.Second,
		// transfer.go sets deadlines that move with the progress of bodies and
		// answers.
		ReadTimeout:  0,
		WriteTimeout: 0,
		// Proxies keep connections for 60 s. The server waits longer, so that the
		// proxy closes them first.
		IdleTimeout: 90 * time.Second,
		HTTP2: &http.HTTP2Config{
			// Enough for a page that loads everything at once. A stream costs as
			// much as a connection and counts as one; see connections.go.
			MaxConcurrentStreams: 100,
			// What a client may send ahead of the reader: enough for 1 MB a
			// second from the other side of the world. The default of 1 MiB would
			// be a gigabyte for the maximum of connections.
			MaxReceiveBufferPerStream:     128 << 10,
			MaxReceiveBufferPerConnection: 256 << 10,
			// Finds a client whose network is gone before IdleTimeout does.
			SendPingTimeout: 30 * time.Second,
			PingTimeout:     15 * time.Second,
			// Closes a connection on which no stream makes progress.
			WriteByteTimeout: maxStall,
		},
		MaxHeaderBytes: maxHeaderBytes,
		// Answers OPTIONS * like other requests without a path.
		DisableGeneralOptionsHandler: true,
		// The operator cannot fix protocol errors of clients.
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}
