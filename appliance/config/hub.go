package config

import (
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"

	"parley/fleet"
)

// Hub configures parley hub.
type Hub struct {
	Name   string // which boxes show; empty: that of the machine
	Listen string // host:port of the NATS server
	// Servers are the URLs of stock NATS servers; none: the hub is the server.
	Servers []string
	// Keep bounds the facts that the server stores, and KeepDays their age; 0: no limit.
	Keep     Size
	KeepDays int

	Door      string // one of the Door… constants
	DoorGroup string // clients are sent to boxes of this group only; empty: to all
}

// The values of Hub.Door.
const (
	DoorProxy    = "proxy"    // the hub passes on what client and box say
	DoorRedirect = "redirect" // the hub sends the client to the box
	DoorOff      = "off"
)

// MachineName returns the name of the hub, by default that of the machine.
func (h Hub) MachineName() string {
	if h.Name != "" {
		return h.Name
	}
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "hub"
	}
	return name
}

func hubSettings() []Setting {
	return []Setting{
		{
			Key:            "hub.name",
			Placeholder:    "NAME",
			DefaultInWords: "the name of the machine",
			Help:           "What boxes call their hub (parley hub).",
			kind:           textKind("a line", func(c *Config) *string { return &c.Hub.Name }, orEmpty(parseLine)),
		},
		{
			Key:         "hub.listen",
			Placeholder: "HOST:PORT",
			Default:     "0.0.0.0:4222",
			Help:        "Address at which the NATS server of a hub listens; port 0 lets the system choose.",
			kind:        textKind("host:port", func(c *Config) *string { return &c.Hub.Listen }, hostPort),
		},
		{
			Key:            "hub.server",
			Placeholder:    "URL",
			DefaultInWords: "the hub itself",
			Help: "Stock NATS servers that the hub uses, as boxes reach them: tls://HOST:4222. parley hub " +
				"--server-config DIR writes what they need.",
			kind: textListKind("a list, or text with commas", func(c *Config) *[]string { return &c.Hub.Servers },
				natsURL),
		},
		{
			Key:     "hub.keep",
			Default: "8GB for 30 days",
			Help: "Disk space for the facts of boxes on the NATS server, and for how long; the oldest are deleted " +
				"first. The hub's own history is not bounded by it.",
			kind: withDays(size(func(c *Config) *Size { return &c.Hub.Keep }),
				func(c *Config) *int { return &c.Hub.KeepDays }),
		},
		{
			Key:         "hub.door",
			Placeholder: "HOW",
			Default:     DoorProxy,
			Help: "How clients of the hub reach a box with room: proxy (over the hub), redirect (307 to the box), or " +
				"off.",
			kind: oneOf(func(c *Config) *string { return &c.Hub.Door }, DoorProxy, DoorRedirect, DoorOff),
		},
		{
			Key:            "hub.door_group",
			Placeholder:    "GROUP",
			DefaultInWords: "all boxes",
			Help:           "Clients of the hub are sent to boxes of this group only.",
			kind: textKind("a group", func(c *Config) *string { return &c.Hub.DoorGroup },
				orEmpty(fleetGroup)),
		},
	}
}

var natsScheme = regexp.MustCompile(`^(?:tls|nats)://`)

// natsURL parses the URL of a NATS server. Connections always use TLS, so nats:// means tls://.
func natsURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || !natsScheme.MatchString(text) || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" {
		return "", fmt.Errorf("%.100q is not the URL of a NATS server: use tls://host:port, such as "+
			"tls://hub.example:4222", text)
	}
	return "tls://" + u.Host, nil
}

func fleetGroup(text string) (string, error) { return text, fleet.CheckName(text) }
