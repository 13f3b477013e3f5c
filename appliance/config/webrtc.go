package config

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
)

// WebRTC configures how calls reach the box.
type WebRTC struct {
	// Listen is host:port of UDP; empty is the address of Config.Listen, Off disables calls.
	Listen string
	// Public are the IP addresses at which callers reach the box, if they are not those of
	// the machine.
	Public []string
	// Servers are STUN and TURN servers, such as stun:HOST:3478. All TURN servers have the
	// same user name, and the same password, which an environment variable holds.
	Servers               []string
	Username, PasswordEnv string
}

// Off is the value of Listen if no calls are taken.
const Off = "off"

// callAddress parses an address, or Off.
func callAddress(text string) (string, error) {
	if text == Off {
		return Off, nil
	}
	address, err := hostPort(text)
	if err != nil {
		err = fmt.Errorf("%w, or %s", err, Off)
	}
	return address, err
}

// publicAddress parses an address at which others reach the box.
func publicAddress(text string) (string, error) {
	address, err := netip.ParseAddr(text)
	if err != nil || address.IsUnspecified() || address.Zone() != "" {
		return "", fmt.Errorf(
			"%.80q is not an IP address that others can reach: use an address such as 203.0.113.7, not a name", text)
	}
	return address.String(), nil
}

// iceServer matches the URL of a STUN or TURN server (RFC 7064 and 7065).
var iceServer = regexp.MustCompile(`^(stuns?:[^?\s/@]+|turns?:[^?\s/@]+(\?transport=(udp|tcp))?)$`)

// setWebRTCServers parses servers: URLs, and for TURN URL|NAME|PASSWORD_ENV.
func setWebRTCServers(c *Config, g assignment) (err error) {
	w := &c.WebRTC
	w.Servers = nil
	credentials := ""
	for text := range splitList(g.value) {
		server, login, has := strings.Cut(text, "|")
		if !iceServer.MatchString(server) {
			return fmt.Errorf("%.80q is not a STUN or TURN server: use stun:HOST:3478, "+
				"turn:HOST:3478|NAME|PASSWORD_ENV or turns:HOST:5349?transport=tcp|NAME|PASSWORD_ENV", server)
		}
		w.Servers = append(w.Servers, server)
		if !has {
			continue
		}
		if credentials != "" && credentials != login {
			return fmt.Errorf("%s has a different name or password: all TURN servers must have the same", server)
		}
		credentials = login
		name, passwordEnv, _ := strings.Cut(login, "|")
		if w.Username, err = parseLine(name); err == nil {
			w.PasswordEnv, err = variable(passwordEnv)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// check checks the settings together.
func (w WebRTC) check() error {
	for _, s := range w.Servers {
		if strings.HasPrefix(s, "turn") && (w.Username == "" || w.PasswordEnv == "") {
			return fmt.Errorf(
				"webrtc.servers: %s is a TURN server, which needs a name and the variable that holds its password: "+
					"write %s|NAME|PASSWORD_ENV", s, s)
		}
	}
	return nil
}
