package main

import (
	"context"

	"github.com/alecthomas/kong"

	"parley/appliance"
)

// serveCmd runs the box. Its flags are settings: their meaning, and what they
// may be, is the configuration's.
type serveCmd struct {
	Config           string `placeholder:"FILE" help:"Read settings from this file (else ./parley.yaml, else parley.yaml in the data folder)."`
	Data             string `placeholder:"DIR" help:"Folder of the database (~/.local/share/parley; for root that is under /root)."`
	Listen           string `placeholder:"HOST:PORT" help:"Address to listen on (127.0.0.1:8080)."`
	TLS              string `name:"tls" placeholder:"MODE|CERT,KEY" help:"Encryption: auto (off on loopback, own elsewhere), off, own (a certificate that the box makes), acme (one that it fetches), or a certificate and its key as PEM files (auto)."`
	TLSCert          string `name:"tls-cert" placeholder:"FILE" help:"Certificate (PEM)."`
	TLSKey           string `name:"tls-key" placeholder:"FILE" help:"Its key (PEM)."`
	TLSNames         string `name:"tls-names" placeholder:"LIST" help:"Names that lead to the box, with commas: those of an acme certificate, or more for its own."`
	TLSACME          string `name:"tls-acme" placeholder:"URL" help:"Directory of the ACME server, or letsencrypt (that)."`
	TLSEmail         string `name:"tls-email" placeholder:"ADDRESS" help:"Where the ACME server may write to."`
	TLSRoots         string `name:"tls-roots" placeholder:"FILE" help:"Authorities (PEM) by which the ACME server itself is trusted (the system's)."`
	Origins          string `placeholder:"LIST" help:"Web origins besides its own whose pages may use the box, with commas; * for all."`
	Packs            string `placeholder:"DIR" help:"Folder of the model packs (~/.cache/parley/packs)."`
	Profile          string `placeholder:"NAME" help:"Models to use: default, small, test or full (default)."`
	Transcriber      string `placeholder:"NAME" help:"Speech to text: moonshine or whisper (moonshine)."`
	LanguageModel    string `placeholder:"PACK" help:"Embedded language model (that of the profile)."`
	OpenAI           string `name:"openai" placeholder:"URL" help:"Language model on a server with the OpenAI API instead: its base URL."`
	OpenAIModel      string `name:"openai-model" placeholder:"NAME" help:"The model's name there."`
	OpenAIKeyEnv     string `name:"openai-key-env" placeholder:"VARIABLE" help:"Environment variable with the key for it."`
	Voice            string `placeholder:"NAME" help:"Voice when a chat names none (voice-joe)."`
	Threads          string `placeholder:"N" help:"Cores for all engines together (all)."`
	Routes           string `placeholder:"LIST" help:"Which model answers for those that configs name: PROVIDER/MODEL=TO, with commas; TO is a pack or URL|MODEL|VARIABLE."`
	StrictModels     string `placeholder:"BOOL" help:"Refuse chats whose config names a model without a route: true or false (false: the default answers)."`
	RetentionDays    string `name:"retention-days" placeholder:"N" help:"Days after its end that a chat is kept (0: for ever)."`
	RetentionAudio   string `name:"retention-audio" placeholder:"on|off" help:"Whether chats are recorded (on)."`
	RetentionHistory string `name:"retention-history" placeholder:"on|off" help:"Whether anything of a chat is kept (on)."`
	MaxChats         string `placeholder:"N" help:"Chats at once (four for each core)."`
	LogLevel         string `placeholder:"LEVEL" help:"debug, info, warn or error (info)."`
	LogFormat        string `placeholder:"FORMAT" help:"auto, text or json (auto: text on a terminal)."`
}

// Help shows the command in use.
func (serveCmd) Help() string {
	return `Example:

  parley serve --data /var/lib/parley --listen 127.0.0.1:8080

The box answers GET /healthz at once and GET /readyz with 200 when a conversation can start. SIGTERM stops it within five seconds.`
}

// Run runs the box until ctx ends.
func (*serveCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	cfg, err := c.config(parsed)
	if err != nil {
		return err
	}
	log := c.logger(cfg.Log)
	if cfg.File != "" {
		log.Info("settings read", "file", cfg.File)
	}
	for _, w := range cfg.Warnings {
		log.Warn(w)
	}
	return appliance.Run(ctx, cfg, log, c.out)
}
