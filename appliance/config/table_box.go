package config

import (
	"log/slog"

	"parley/internal/layout"
)

func boxSettings() []Setting {
	return []Setting{
		{
			Key:     "data",
			Default: layout.DefaultData,
			Help:    "Folder of the database.",
			More: "`parley serve` makes it, with mode 0711 (others may pass through it to `ca.crt`, and see " +
				"nothing else), where there is none. For root the default is under `/root`.",
			kind: path(func(c *Config) *string { return &c.Data }),
		},
		{
			Key:     "listen",
			Takes:   "HOST:PORT",
			Default: "127.0.0.1:8080",
			Help:    "Address to listen on; port 0 lets the system choose.",
			kind:    custom("host:port", setListen),
		},
		{
			Key:  "origins",
			Help: "Web origins besides its own whose pages may use the box.",
			kind: list("a list, or with commas", func(c *Config) *[]string { return &c.Origins }, webOrigin),
		},
		{
			Key:     "packs",
			Default: layout.DefaultPacks,
			Help:    "Folder of the model packs.",
			More:    "Where `PARLEY_CACHE` is set, it is `packs` in there.",
			kind:    path(func(c *Config) *string { return &c.Packs }),
		},
	}
}

func callSettings() []Setting {
	return []Setting{
		{
			Key:       "webrtc.listen",
			Takes:     "HOST:PORT|off",
			Otherwise: "that of listen",
			Help:      "UDP address for calls over WebRTC, or off.",
			More: "The one port that a firewall has to let through, besides that of `listen`. Where the system " +
				"chooses that of `listen`, it chooses this one, too.",
			kind: custom("host:port, or `off`", setWebRTCListen),
		},
		{
			Key:       "webrtc.public",
			Otherwise: "the machine's own",
			Help:      "IP addresses under which callers reach the box, where they are not its own.",
			kind: list("a list, or with commas", func(c *Config) *[]string { return &c.WebRTC.Public },
				publicAddress),
		},
		{
			Key: "webrtc.servers",
			Help: "STUN and TURN servers, for boxes that callers cannot reach directly: stun:HOST:3478, or " +
				"turn:HOST:3478|NAME|PASSWORD_ENV.",
			More: "`NAME` is what the TURN servers know the box by, `PASSWORD_ENV` the environment variable that " +
				"holds the password; all TURN servers have the same.",
			kind: listed("a list, or with commas", setWebRTCServers),
		},
	}
}

func tlsSettings() []Setting {
	return []Setting{
		{
			Key:     "tls",
			Takes:   "MODE|CERT,KEY",
			Default: "auto",
			Help: "Encryption: auto (off on loopback, own elsewhere), off, own (a certificate that the box " +
				"makes), acme (one that it fetches), or a certificate and its key.",
			More: "For another ACME server than Let's Encrypt write its `https://` URL in place of `acme`. Behind " +
				"it may stand where the server may write to, and a file with the authorities (PEM) by which the " +
				"server is trusted: `acme|me@box.example`, `https://ca.lan/dir|me@box.example|ca.pem`. In YAML " +
				"also a map with the keys `cert` and `key`, or `acme`, `email` and `roots`, and `names`. See " +
				"[security](security.md).",
			kind: custom("`auto`, `off`, `own`, `acme`, `CERT.pem,KEY.pem`, or `URL|EMAIL|ROOTS`", setTLS),
		},
		{
			Key: "tls.names",
			Help: "Names that lead to the box: all of an acme certificate, or names and addresses to add to its " +
				"own.",
			kind: list("a list, or with commas", func(c *Config) *[]string { return &c.TLS.Names }, hostName),
		},
	}
}

func webhookSettings() []Setting {
	return []Setting{
		{
			Key:     "webhooks.allow_private",
			Default: "false",
			Help:    "Let webhooks go to the box itself and to private addresses, also over http.",
			More: "Whoever makes configs then reaches what listens there, with a POST whose answer they do not " +
				"see. See [webhooks](webhooks.md#where-webhooks-may-go).",
			kind: boolean(func(c *Config) *bool { return &c.Webhooks.AllowPrivate }),
		},
	}
}

func logSettings() []Setting {
	return []Setting{
		{
			Key:     "log.level",
			Takes:   "LEVEL",
			Default: "info",
			Help:    "How much is logged: debug, info, warn or error.",
			kind:    level(func(c *Config) *slog.Level { return &c.Log.Level }),
		},
		{
			Key:     "log.format",
			Takes:   "FORMAT",
			Default: "auto",
			Help:    "auto (text on a terminal, JSON elsewhere), text or json.",
			kind:    oneOf(func(c *Config) *string { return &c.Log.Format }, "auto", "text", "json"),
		},
	}
}
