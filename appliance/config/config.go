// Package config holds what an operator may set: it reads the flags, the
// environment and the file, checks them together, and says what is wrong with
// them and what is allowed.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"

	"parley/appliance/text"
	"parley/firmware/packs"
	"parley/internal/addresses"
	"parley/internal/layout"
)

// Config is everything an operator may set. Load makes one that is valid as a
// whole; every path in it is absolute.
type Config struct {
	File    string // the configuration file that was read; empty when there was none
	Data    string // folder of the database
	Listen  string // host:port to listen on; port 0 lets the system choose
	TLS     TLS
	Origins []string // web origins besides our own whose pages may open a chat
	WebRTC  WebRTC
	Kiosk   Kiosk
	Packs   string // folder of the model packs
	Profile string // one of packs.Profiles: which models to expect
	Engines Engines
	Routes  []Route // which model answers for those that configs name; the first that fits
	// Fallback are the models that answer, one after the other, where one on a
	// server has failed.
	Fallback []LanguageModel
	// StrictModels refuses chats whose config names a model that the box does
	// not have; otherwise the box's default answers.
	StrictModels  bool
	CustomModels  CustomModels
	TurnDetection TurnDetection
	Answers       Answers
	Expression    Expression
	Chat          Chat
	Retention     Retention
	Speech        Speech
	Lexicon       text.Lexicon      // how words are said, of every account
	VoiceAliases  map[string]string // voices that stand in for others, by the name or id that programs ask for
	Tools         Tools
	Plugins       []string // whose tools every chat has
	// PluginSignatures say whose plugins are run.
	PluginSignatures PluginSignatures
	WebSearch        string // base URL of a SearXNG server; empty: none
	Webhooks         Webhooks
	Limits           Limits
	Log              Log
	Warnings         []string // what is allowed but likely not meant; to be logged at start
	Notes            []string // which settings have another name now; likewise

	assigned map[string]assignment // what it was made of, by key
}

// Engines chooses the models.
type Engines struct {
	Transcriber   string // moonshine or whisper
	LanguageModel LanguageModel
	Voice         string // a voice's pack, such as voice-joe
	Threads       int    // cores that all engines together may use; 0 means all of the machine
}

// LanguageModel is either an embedded model, named by its pack, or a
// server that speaks the OpenAI API.
type LanguageModel struct {
	Pack   string // such as llm-qwen; empty when OpenAI is set
	OpenAI string // base URL, such as http://127.0.0.1:8000/v1
	Model  string // the model's name on that server
	KeyEnv string // the environment variable that holds the server's API key; empty: no key
}

// TurnDetection says when a user has finished.
type TurnDetection struct {
	Mode string // a contract.TurnMode
}

// Answers says what the box adds to prompts and takes from answers. Each is
// ForEmbedded, ForAll or ForNone.
type Answers struct {
	Rules string // stand before the prompt that a config or a client brings
	Check string // holds answers to claim nothing that no tool has done; by default as Rules
}

// The models for which something holds.
const (
	ForEmbedded = "embedded"
	ForAll      = "always"
	ForNone     = "never"
)

// Expression says what is done about feelings.
type Expression struct {
	Measured bool // scores go with what is said
	// Models says which language models are told of feelings that stand out in what
	// a user says: ForServers, ForAll or ForNone.
	Models string
}

// ForServers is for language models that are on servers.
const ForServers = "servers"

// Chat bounds the conversations.
type Chat struct {
	MaxChats    int // open at once; 0 means four for each core
	MaxAddedMS  int // by which answers may come late before no more chats begin; 0: any number
	SoundAheadS int // seconds ahead of its playback that sound is sent
}

// Speech says how text is read aloud, and what is kept of what was.
type Speech struct {
	Locale         string // a BCP 47 tag; empty: the voice's own
	LoudnessLUFS   int    // of all that is spoken
	Generations    int    // generations of an account
	GenerationDays int    // 0: for ever
}

// Tools says how long tools are waited for.
type Tools struct {
	TimeoutS int // seconds until a tool has failed
	FillerMS int // until the user is told that it takes long; 0: never
	// AnswerTokens is how much of a tool's answer the embedded models read at most.
	AnswerTokens int
}

// Retention says what is kept of conversations, and how long.
type Retention struct {
	Days    int  // after its end a chat is deleted when it is older; 0: never
	Audio   bool // how chats sound is kept
	History bool // what happened in chats is kept; without it their sound is not either
}

// CustomModels says where custom language models may be, whose URLs clients
// choose.
type CustomModels struct {
	Allow addresses.Allowed // besides public addresses
}

// Webhooks says where webhooks may go.
type Webhooks struct {
	AllowPrivate bool // also to the box itself and to private addresses
}

// PluginSignatures say whose plugins are run.
type PluginSignatures struct {
	Required bool     // none without a signature by one of the keys
	Keys     []string // public keys, as ed25519: and base64
}

// Limits keep one account, or one address, from taking the whole box. A number
// of 0 is no limit, but for ChatsPerAccount.
type Limits struct {
	ChatsPerAccount       int  // at once; see Config.ChatsPerAccount
	RequestsPerSecond     int  // of one account, for longer than the burst
	RequestBurst          int  // requests that one account may send at once
	Connections           int  // in all
	ConnectionsPerAddress int  // from one address
	DiskPerAccount        Size // all that is kept of one account
	Recordings            Size // the recordings of all accounts
	RecordingsDays        int  // days after its chat that a recording is kept; 0: as long as the chat
}

// Log says what is logged and how.
type Log struct {
	Level  slog.Level
	Format string // auto (text on a terminal, JSON elsewhere), text or json
}

// Sources are where settings come from, strongest first: flags,
// variables of the environment, a file.
type Sources struct {
	Flags   map[string]string // by the key of the setting, such as "engines.voice"
	Environ []string          // NAME=value, as os.Environ gives them
	File    string            // read this file; empty: parley.yaml in Dir, else in the data folder, if there
	Dir     string            // the working folder; empty: the process's own
	Home    string            // the user's home folder; empty: the process's own
}

// FileName is the name of the configuration file that is looked for.
const FileName = layout.Settings

// Variables that are no settings.
const (
	fileVariable  = "PARLEY_CONFIG" // the file to read
	cacheVariable = "PARLEY_CACHE"  // folder of all that can be fetched again
)

// Load reads all sources and returns the valid Config they make together. Its
// errors name the setting, where it was set, the value, and what is allowed.
func Load(s Sources) (Config, error) {
	l, err := newLoader(s)
	if err != nil {
		return Config{}, err
	}
	file, err := l.findFile()
	if err != nil {
		return Config{}, err
	}
	c := Config{File: file, assigned: map[string]assignment{}}
	fromFile, err := l.readFile(file)
	if err != nil {
		return Config{}, err
	}
	for _, given := range [][]assignment{l.defaults(), fromFile, l.fromEnvironment(), l.fromFlags()} {
		if err := apply(&c, given); err != nil {
			return Config{}, err
		}
	}
	c.Answers.Check = cmp.Or(c.Answers.Check, c.Answers.Rules)
	if c.Engines.LanguageModel == (LanguageModel{}) {
		c.Engines.LanguageModel.Pack = packs.ProfileModel(c.Profile)
	}
	c.Warnings = append(c.Warnings, l.misspelled()...)
	return c, c.check(l)
}

// check looks at the settings together; each alone was checked when it was set.
func (c *Config) check(l *loader) error {
	m := c.Engines.LanguageModel
	if m.OpenAI == "" && (m.Model != "" || m.KeyEnv != "") {
		return errors.New("engines.language_model: model and key_env belong to a server, but no openai URL is set: " +
			"set openai, or leave them out")
	}
	if m.OpenAI != "" && m.Model == "" {
		return fmt.Errorf(
			"engines.language_model: openai is %s, but no model is named: set model to a name the server knows",
			m.OpenAI)
	}
	if c.File != "" && filepath.Base(c.File) == FileName && filepath.Dir(c.File) == l.data && c.Data != l.data {
		return fmt.Errorf("data: %s is read because it lies in the data folder, so it cannot name another data "+
			"folder (%s): pass --data or --config", c.File, c.Data)
	}
	if err := c.WebRTC.check(); err != nil {
		return err
	}
	if err := c.Kiosk.check(); err != nil {
		return err
	}
	if err := c.TLS.check(c.Listen); err != nil {
		return err
	}
	if warning := c.TLS.Exposed(c.Listen); warning != "" {
		c.Warnings = append(c.Warnings, warning)
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// AuthorityFile is where a box with a certificate of its own leaves that of its
// authority, for clients on the same machine. It lies outside TLSFolder, which
// is closed to others.
func (c Config) AuthorityFile() string { return filepath.Join(c.Data, layout.Authority) }

// TLSFolder is where the box keeps keys and certificates.
func (c Config) TLSFolder() string { return filepath.Join(c.Data, "tls") }
