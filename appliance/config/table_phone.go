package config

func phoneSettings() []Setting {
	return []Setting{
		{
			Key:         "phone.listen",
			Placeholder: "udp://HOST:PORT",
			Help: "Addresses for telephone calls over SIP: udp://, tcp:// or tls:// and host:port, such as " +
				"udp://0.0.0.0:5060.",
			kind: listKind("a list, or text with commas", setPhoneListen),
		},
		{
			Key:         "phone.rtp_ports",
			Placeholder: "FIRST-LAST",
			Default:     "20000-20199",
			Help:        "UDP ports for the sound of calls over SIP, two for each call.",
			kind:        custom("FIRST-LAST, at least 4 ports", setRTPPorts),
		},
		{
			Key:            "phone.external_address",
			Placeholder:    "ADDRESS",
			DefaultInWords: "the machine's own",
			Help:           "IP address at which telephones reach the box, if it is behind NAT.",
			kind:           custom("an IP address", setExternalAddress),
		},
		{
			Key:         "phone.consent",
			Placeholder: "HOW",
			Default:     ConsentNone,
			Help: "What is said before a call is recorded: ask (without a yes it is not recorded), announce, or " +
				"none.",
			kind: oneOf(func(c *Config) *string { return &c.Phone.Consent }, ConsentAsk, ConsentAnnounce, ConsentNone),
		},
		{
			Key:         "phone.hold_music",
			Placeholder: "on|off|FILE",
			Default:     HoldMusicOn,
			Help: "What a caller hears who is handed over: on (music that the box makes), off, or a file with " +
				"sound.",
			kind: custom("`on`, `off`, or a path", setHoldMusic),
		},
		{
			Key:         "phone.twilio_auth_token",
			Placeholder: "TOKEN",
			Help: "Auth token of the media stream provider: requests without its signature are refused (" +
				"X-Twilio-Signature).",
			kind: secret(textKind("a line", func(c *Config) *string { return &c.Phone.TwilioAuthToken },
				orEmpty(parseLine))),
		},
		{
			Key:         "phone.twilio_auth_token_file",
			Placeholder: "FILE",
			Help:        "File whose first line is phone.twilio_auth_token.",
			kind:        orNoPath(func(c *Config) *string { return &c.Phone.TwilioAuthTokenFile }),
		},
		{
			Key:  "phone.trunks",
			Help: "Who may call the box over SIP, and over whom it calls out.",
			kind: listOfMaps(func(c *Config) *[]Trunk { return &c.Phone.Trunks }, Trunk.check, trunkKeys()),
		},
		{
			Key:  "phone.extensions",
			Help: "The numbers that the box answers, and with which config.",
			kind: listOfMaps(func(c *Config) *[]Extension { return &c.Phone.Extensions }, Extension.check,
				extensionKeys()),
		},
	}
}

func trunkKeys() []mapKey[Trunk] {
	return []mapKey[Trunk]{
		{
			mapKeyName: mapKeyName{name: "name", help: "Its name, for calls out and in lists."},
			set:        parsedText(func(t *Trunk) *string { return &t.Name }, trunkName),
		},
		{
			mapKeyName: mapKeyName{
				name: "address",
				help: "Who may call: hosts and networks, in a list or with commas. Calls out and registrations go to " +
					"the first host that answers, over UDP unless tcp:// or tls:// stands before it. Without an " +
					"address, callers have to show user and password.",
				isList: true,
			},
			set: setTrunkAddress,
		},
		{
			mapKeyName: mapKeyName{name: "register", help: "true: the box registers there as user (default: false)."},
			set: func(t *Trunk, g assignment) error {
				return boolean(func(*Config) *bool { return &t.Register }).set(nil, g)
			},
		},
		{
			mapKeyName: mapKeyName{name: "user", help: "The name with which the box registers, or shows who it is."},
			set:        parsedText(func(t *Trunk) *string { return &t.User }, sipUser),
		},
		{
			mapKeyName: mapKeyName{name: "password", help: "Its password.", secret: true},
			set: parsedText(func(t *Trunk) *string { return &t.Password }, func(text string) (string, error) {
				return text, nil
			}),
		},
		{
			mapKeyName: mapKeyName{name: "password_file", help: "File whose first line is the password."},
			set: func(t *Trunk, g assignment) error {
				return orNoPath(func(*Config) *string { return &t.PasswordFile }).set(nil, g)
			},
		},
		{
			mapKeyName: mapKeyName{name: "password_env", help: "Environment variable that holds the password."},
			set:        parsedText(func(t *Trunk) *string { return &t.PasswordEnv }, orEmpty(variable)),
		},
		{
			mapKeyName: mapKeyName{name: "from", help: "The number that calls out show (default: user)."},
			set:        parsedText(func(t *Trunk) *string { return &t.From }, sipUser),
		},
	}
}

func extensionKeys() []mapKey[Extension] {
	name := orEmpty(parseLine)
	return []mapKey[Extension]{
		{
			mapKeyName: mapKeyName{name: "number", help: "What was called; * takes all numbers that no other has."},
			set:        setNumber,
		},
		{
			mapKeyName: mapKeyName{name: "config",
				help: "Id or name of the config that answers (default: the box's default assistant)."},
			set: parsedText(func(e *Extension) *string { return &e.Config }, name),
		},
		{
			mapKeyName: mapKeyName{name: "account",
				help: "Account that owns the config and the chats (default: the box's first)."},
			set: parsedText(func(e *Extension) *string { return &e.Account }, name),
		},
	}
}
