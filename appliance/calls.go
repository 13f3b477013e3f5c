package appliance

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"

	pion "github.com/pion/webrtc/v4"

	"parley/appliance/api"
	"parley/appliance/config"
	"parley/appliance/line/webrtc"
)

// openCalls listens for calls over WebRTC, where the settings say so or beside
// the box's own address; nil where they are turned off.
func openCalls(cfg config.Config, own net.Addr, admission *admission, log *slog.Logger) (calls, error) {
	at := cfg.WebRTC.Listen
	if at == config.Off {
		return calls{}, nil
	}
	n := webrtc.Network{Address: at, Public: cfg.WebRTC.Public}
	if len(cfg.WebRTC.Servers) > 0 {
		n.Servers = []pion.ICEServer{{URLs: cfg.WebRTC.Servers, Username: cfg.WebRTC.Username,
			Credential: os.Getenv(cfg.WebRTC.PasswordEnv)}}
	}
	if at == "" {
		n.Address = own.String()
	}
	s, err := webrtc.Open(admission, n, webrtc.Timing{}, log)
	if err != nil && at == "" && strings.HasSuffix(cfg.Listen, ":0") {
		// The system chose a port that is free for TCP; UDP has its own.
		host, _, _ := net.SplitHostPort(n.Address)
		n.Address = net.JoinHostPort(host, "0")
		s, err = webrtc.Open(admission, n, webrtc.Timing{}, log)
	}
	return calls{s}, err
}

// calls are those of the box; the zero value takes none.
type calls struct{ *webrtc.Server }

// api is the calls as the API has them.
func (c calls) api() api.Calls {
	if c.Server == nil {
		return nil
	}
	return c
}

// Answer begins a call.
func (c calls) Answer(w http.ResponseWriter, r *http.Request, account string, path func(id string) string,
	pass api.Pass) error {
	return c.Server.Answer(w, r, account, path, pass)
}

// Close waits for the calls to end.
func (c calls) Close(ctx context.Context) error {
	if c.Server == nil {
		return nil
	}
	return c.Server.Close(ctx)
}

// cutOff ends the calls at once, where that was not done in order.
func (c calls) cutOff() {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	_ = c.Close(now)
}
