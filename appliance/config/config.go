// Package config holds the settings of a box. Load reads them from flags, environment and
// file, checks them together, and says what is wrong with a value and what is allowed.
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

// Config holds all settings. Load returns a Config that is valid as a whole and in which
// every path is absolute.
type Config struct {
	File    string // the configuration file that was read; empty if there was none
	Data    string // the data folder
	Listen  string // host:port of HTTP; port 0 lets the system choose
	TLS     TLS
	Origins []string // web origins, beyond the box itself, whose pages may use the API
	WebRTC  WebRTC
	Phone   Phone
	Kiosk   Kiosk
	Packs   string // folder of the model packs
	Profile string // one of packs.Profiles
	Engines Engines
	Routes  []Route // from the models that configs name to those of the box; the first match counts
	// Fallback are the models that are tried, in this order, when a model on a server
	// fails.
	Fallback []LanguageModel
	// StrictModels refuses a chat whose config names a model that the box does not have.
	// Otherwise the default model answers.
	StrictModels  bool
	CustomModels  CustomModels
	TurnDetection TurnDetection
	Answers       Answers
	Expression    Expression
	Chat          Chat
	Retention     Retention
	Speech        Speech
	Lexicon       text.Lexicon      // pronunciations for all accounts
	VoiceAliases  map[string]string // stand-in voices, by requested name or id
	Batch         Batch
	Tools         Tools
	Plugins       []string // names of the plugins that every chat has
	// PluginSignatures decides which plugins may run.
	PluginSignatures PluginSignatures
	WebSearch        string // base URL of a SearXNG server; empty: none
	Webhooks         Webhooks
	Limits           Limits
	Hub              Hub
	Log              Log
	Fleet            Fleet
	Warnings         []string // allowed, but probably not meant; to be logged at the start
	Notes            []string // old names that were used; to be logged at the start

	assigned map[string]assignment // the assignments that hold, by key
	sources  Sources
}

// Engines chooses the models.
type Engines struct {
	// Transcriber is moonshine or whisper. If there are TranscriberServers, it transcribes when all
	// of them fail.
	Transcriber        string
	TranscriberServers []Server // that transcribe chats; empty: Transcriber does
	LanguageModel      LanguageModel
	Voice              string        // the pack of a voice, such as voice-joe, or a voice of VoiceServers
	VoiceServers       []VoiceServer // with voices for the library
	Threads            int           // cores for all engines together; 0 for all of the machine
}

// LanguageModel is either an embedded model, named by its pack, or a model on one or several
// servers with the OpenAI API.
type LanguageModel struct {
	Pack   string // such as llm-qwen; empty when OpenAI is set
	OpenAI string // base URL of the first server, such as http://127.0.0.1:8000/v1
	Model  string // the model's name on that server
	KeyEnv string // the environment variable that holds the server's API key; empty: no key
	Others string // further servers with the same model, as URL|MODEL|KEY_ENV with commas; see Servers
}

// TurnDetection decides when a user's turn has ended.
type TurnDetection struct {
	Mode string // a contract.TurnMode
}

// Answers decides what the box adds to prompts and removes from answers. Each field is
// ForEmbedded, ForAll or ForNone.
type Answers struct {
	Rules string // the box's rules precede the prompt of the config or the client
	Check string // answers may not claim actions that no tool performed; by default as Rules
}

// The models for which something holds.
const (
	ForEmbedded = "embedded"
	ForAll      = "always"
	ForNone     = "never"
)

// Expression decides how feelings are measured and used.
type Expression struct {
	Measured bool // messages carry scores
	// Models are the language models whose prompt mentions a user's strong feelings:
	// ForServers, ForAll or ForNone.
	Models string
}

// ForServers stands for language models on servers.
const ForServers = "servers"

// Chat limits the chats.
type Chat struct {
	MaxChats   int // live at once; 0 for four per core
	MaxAddedMS int // how late answers may come before new chats are refused; 0 for no limit
	SoundLeadS int // how many seconds ahead of playback sound is sent
}

// Speech decides how texts are spoken, and how many generations are stored.
type Speech struct {
	Locale         string // a BCP 47 tag; empty for that of the voice
	LoudnessLUFS   int    // of all speech
	Generations    int    // how many are stored for each account
	GenerationDays int    // how long they are stored; 0 for ever
}

// Batch limits the analysis jobs.
type Batch struct {
	MaxQueued   int  // jobs of one account that wait or run
	MaxUpload   Size // the files of one job
	KeepSources bool // uploads and downloads stay after their job
	ResultsDays int  // after its end until a job is deleted; 0 for never
	PrivateURLs bool // jobs may fetch URLs from private addresses
}

// Tools limits the tools.
type Tools struct {
	TimeoutS int // after which a tool has failed
	FillerMS int // after which the assistant says that it takes a while; 0 for never
	// AnswerTokens is the longest answer of a tool that embedded models get.
	AnswerTokens int
}

// Retention decides what is stored of chats, and for how long.
type Retention struct {
	Days    int  // after the end of a chat until it is deleted; 0 for never
	Audio   bool // chats are recorded
	History bool // the history of chats is stored; without it nothing is recorded either
}

// CustomModels limits the URLs of custom language models, which clients choose.
type CustomModels struct {
	Allow addresses.Allowed // in addition to public addresses
}

// Webhooks limits the URLs of webhooks.
type Webhooks struct {
	AllowPrivate bool // URLs may point to the box itself and to private addresses
}

// PluginSignatures decides which plugins may run.
type PluginSignatures struct {
	Required bool     // only plugins that one of the keys has signed
	Keys     []string // public keys, as ed25519: and base64
}

// Limits keep one account, or one address, from using up the box. 0 means no limit, except
// for ChatsPerAccount.
type Limits struct {
	ChatsPerAccount       int  // at once; see Config.ChatsPerAccount
	RequestsPerSecond     int  // of one account, after the burst
	RequestBurst          int  // requests that one account may send at once
	Connections           int  // of all clients
	ConnectionsPerAddress int  // from one address
	DiskPerAccount        Size // all data of one account
	Recordings            Size // the recordings of all accounts
	RecordingsDays        int  // after the end of its chat until a recording is deleted; 0 for as long as the chat
}

// Log configures the log.
type Log struct {
	Level  slog.Level
	Format string // auto (text on a terminal, JSON elsewhere), text or json
}

// Sources are where settings come from, in falling order of precedence: flags, environment,
// file.
type Sources struct {
	Flags   map[string]string // by the key of the setting, such as "engines.voice"
	Environ []string          // NAME=value, as os.Environ returns it
	// File is the file. If it is empty, it is parley.yaml in Dir, in the data folder or in
	// System: the first that exists.
	File   string
	Dir    string // the working folder; empty for that of the process
	Home   string // the user's home folder; empty for that of the process
	System string // the folder of the system's settings; empty for layout.SystemSettings
}

// FileName is the default name of the configuration file.
const FileName = layout.Settings

// Environment variables that are not settings.
const (
	fileVariable  = "PARLEY_CONFIG" // the configuration file
	cacheVariable = "PARLEY_CACHE"  // folder of all that can be downloaded again
)

// Load reads all sources and returns the valid Config that they make together. Its errors
// name the setting, where it was set, the value, and what is allowed.
func Load(s Sources) (Config, error) {
	l, err := newLoader(s)
	if err != nil {
		return Config{}, err
	}
	return l.loadFile()
}

// loadFile is Load for a loader.
func (l *loader) loadFile() (Config, error) {
	file, err := l.findFile()
	if err != nil {
		return Config{}, err
	}
	var text []byte
	if file != "" {
		if text, err = readLimited(file); err != nil {
			return Config{}, fmt.Errorf("config file %s: %w", file, cause(err))
		}
	}
	return l.load(file, text)
}

// load is Load with the file and its text; an empty path is no file.
func (l *loader) load(file string, text []byte) (Config, error) {
	fromFile, err := parseSettings(file, l.home, text)
	if err != nil {
		return Config{}, err
	}
	c, err := l.combine(file, nil, fromFile)
	if err != nil || c.Fleet.Join == "" {
		return c, err
	}
	if l.hub != nil {
		list, err := fromHub(*l.hub, l.home)
		if err != nil {
			return Config{}, err
		}
		return l.combine(file, list, fromFile)
	}
	list, err := l.readHub(c.Data)
	if err == nil {
		var with Config
		if with, err = l.combine(file, list, fromFile); err == nil {
			return with, nil
		}
	}
	// The box must start, whatever the hub has set.
	c.Warnings = append(c.Warnings, "the settings of the hub are not used: "+err.Error())
	return c, nil
}

// combine combines the sources: defaults, the hub, the file, the environment and flags.
func (l *loader) combine(file string, hub, fromFile []assignment) (Config, error) {
	c := Config{File: file, assigned: map[string]assignment{}, sources: l.Sources}
	for _, given := range [][]assignment{l.defaults(), hub, fromFile, l.fromEnvironment(), l.fromFlags()} {
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

// check checks the settings together; each value alone was checked when it was set.
func (c *Config) check(l *loader) error {
	m := c.Engines.LanguageModel
	if m.OpenAI == "" && (m.Model != "" || m.KeyEnv != "") {
		return errors.New("engines.language_model: model and key_env are for a server, but no openai URL is set: " +
			"set openai, or leave them out")
	}
	if m.OpenAI != "" && m.Model == "" {
		return fmt.Errorf(
			"engines.language_model: openai is %s, but no model is named: set model to a name that the server knows",
			m.OpenAI)
	}
	if c.File != "" && filepath.Base(c.File) == FileName && filepath.Dir(c.File) == l.data && c.Data != l.data {
		return fmt.Errorf("data: %s is read because it lies in the data folder, so it cannot name another data "+
			"folder (%s): pass --data or --config", c.File, c.Data)
	}
	if err := c.Engines.checkVoice(c.assigned["engines.voice"].source); err != nil {
		return err
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
	if err := c.Phone.check(c); err != nil {
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

// AuthorityFile is where a box with its own authority puts the authority's certificate, for
// clients on the same machine. It lies outside TLSFolder, which other users cannot read.
func (c Config) AuthorityFile() string { return filepath.Join(c.Data, layout.Authority) }

// TLSFolder is where the box stores keys and certificates.
func (c Config) TLSFolder() string { return filepath.Join(c.Data, "tls") }
