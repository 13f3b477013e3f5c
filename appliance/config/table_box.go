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
			Help:    "Folder for the box's data.",
			kind:    path(func(c *Config) *string { return &c.Data }),
		},
		{
			Key:         "listen",
			Placeholder: "HOST:PORT",
			Default:     "127.0.0.1:8080",
			Help:        "Address to listen on; port 0 lets the system choose.",
			kind:        textKind("host:port", func(c *Config) *string { return &c.Listen }, hostPort),
		},
		{
			Key:  "origins",
			Help: "Web origins, beyond the box itself, whose pages may use the API.",
			kind: textListKind("a list, or text with commas", func(c *Config) *[]string { return &c.Origins },
				webOrigin),
		},
		{
			Key:     "packs",
			Default: layout.DefaultPacks,
			Help:    "Folder of the model packs.",
			kind:    path(func(c *Config) *string { return &c.Packs }),
		},
	}
}

func callSettings() []Setting {
	return []Setting{
		{
			Key:            "webrtc.listen",
			Placeholder:    "HOST:PORT|off",
			DefaultInWords: "that of listen",
			Help:           "UDP address for calls over WebRTC, or off.",
			kind: textKind("host:port, or `off`", func(c *Config) *string { return &c.WebRTC.Listen },
				callAddress),
		},
		{
			Key:            "webrtc.public",
			DefaultInWords: "the machine's own",
			Help:           "IP addresses at which callers reach the box, if they are not those of the machine.",
			kind: textListKind("a list, or text with commas", func(c *Config) *[]string { return &c.WebRTC.Public },
				publicAddress),
		},
		{
			Key: "webrtc.servers",
			Help: "STUN and TURN servers, for a box that callers cannot reach directly: stun:HOST:3478, or " +
				"turn:HOST:3478|NAME|PASSWORD_ENV.",
			kind: listKind("a list, or text with commas", setWebRTCServers),
		},
	}
}

func tlsSettings() []Setting {
	return []Setting{
		{
			Key:         "tls",
			Placeholder: "MODE|CERT,KEY",
			Default:     "auto",
			Help: "Encryption: auto (off on loopback, own elsewhere), off, own (a certificate that the box " +
				"makes), acme (one that it fetches), or a certificate and its key.",
			kind: custom("`auto`, `off`, `own`, `acme`, `CERT.pem,KEY.pem`, or `URL|EMAIL|ROOTS`", setTLS),
		},
		{
			Key: "tls.names",
			Help: "Names that lead to the box: all names of an acme certificate, or names and addresses to " +
				"add to the box's own certificate.",
			kind: textListKind("a list, or text with commas", func(c *Config) *[]string { return &c.TLS.Names },
				hostName),
		},
	}
}

func webhookSettings() []Setting {
	return []Setting{
		{
			Key:     "webhooks.allow_private",
			Default: "false",
			Help:    "Let webhooks go to the box itself and to private addresses, also over http.",
			kind:    boolean(func(c *Config) *bool { return &c.Webhooks.AllowPrivate }),
		},
	}
}

func logSettings() []Setting {
	return []Setting{
		{
			Key:         "log.level",
			Placeholder: "LEVEL",
			Default:     "info",
			Help:        "How much is logged: debug, info, warn or error.",
			kind:        level(func(c *Config) *slog.Level { return &c.Log.Level }),
		},
		{
			Key:         "log.format",
			Placeholder: "FORMAT",
			Default:     "auto",
			Help:        "auto (text on a terminal, JSON elsewhere), text or json.",
			kind:        oneOf(func(c *Config) *string { return &c.Log.Format }, "auto", "text", "json"),
		},
	}
}
