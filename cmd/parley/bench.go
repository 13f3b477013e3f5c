package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/alecthomas/kong"

	"parley/appliance/bench"
	"parley/appliance/config"
)

// benchCmd is parley bench: how good this machine is as a box.
type benchCmd struct {
	Talk     benchTalkCmd     `cmd:"" help:"Hold conversations with a box, in real time, and time its answers."`
	Chats    benchChatsCmd    `cmd:"" help:"Find how many conversations a box holds, live and idle."`
	Newcomer benchNewcomerCmd `cmd:"" help:"Measure the first answer of a new chat, and what a newcomer costs the others."`
	Turns    benchTurnsCmd    `cmd:"" help:"Measure turn-taking: turns cut off, waits after finished ones, interruptions for nothing."`
	STT      benchSTTCmd      `cmd:"" name:"stt" help:"Measure the ears: word error, time, memory."`
	TTS      benchTTSCmd      `cmd:"" name:"tts" help:"Measure the voices: time, word error, loudness, memory."`
	Echo     benchEchoCmd     `cmd:"" help:"Measure what cleans a kiosk's microphone: its own voice taken out, clocks that differ, words."`
	LLM      benchLLMCmd      `cmd:"" name:"llm" help:"Measure the language model: tokens a second, first token, memory."`
	Answers  benchAnswersCmd  `cmd:"" help:"Measure how right the language model answers from the facts in its prompt."`
	Tools    benchToolsCmd    `cmd:"" help:"Measure tools: when the language model calls one, with what, and what that costs."`
	Express  benchExpressCmd  `cmd:"" name:"expression" help:"Measure expression: what feelings take to measure, and whether they differ."`
	API      benchAPICmd      `cmd:"" name:"api" help:"Measure the REST side: reads and durable writes beside the same SQL."`
	Calls    benchCallsCmd    `cmd:"" help:"Measure calls over WebRTC without the models: what they take of a core, and how long a sound is on its way."`
	Plugin   benchPluginCmd   `cmd:"" help:"Measure plugins: calls beside the same module by hand, a restart with fifty, memory."`
}

// benchFlags are those of all benchmarks.
type benchFlags struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

type benchTalkCmd struct {
	benchFlags
	Turns      int           `default:"20" placeholder:"N" help:"Turns of each conversation (20)."`
	Chats      []int         `default:"1" placeholder:"N,…" help:"Conversations at once; of several numbers one after the other (1)."`
	With       []string      `placeholder:"PART,…" help:"What the conversations have besides: interim (transcripts while the user still speaks), tools (three that do not fit)."`
	Idle       time.Duration `default:"10s" placeholder:"DURATION" help:"How long the idle box is watched; 0 leaves it out (10s)."`
	Recordings string        `placeholder:"DIR" help:"What is said: sound files, with the words of each in a .txt file of the same name (Debian's asterisk-core-sounds-en-wav, and asterisk-core-sounds-en for the words)."`
	URL        string        `name:"url" placeholder:"URL" help:"Measure this box, instead of one that is started for it."`
	Key        string        `env:"PARLEY_API_KEY" help:"API key of that box."`
	CA         string        `name:"ca" placeholder:"FILE" help:"The certificate of its authority (PEM), if it has one of its own."`

	Settings kong.Plugins `embed:"" settings:"packs profile engines.transcriber engines.language_model engines.voice engines.threads"`
}

// Help shows the command in use.
func (benchTalkCmd) Help() string {
	return `Examples:

  parley bench talk --json > today.json

  parley bench talk --chats 1,2,4,8 --turns 8

  parley bench talk --with interim,tools

A box is started in a process and a folder of its own. Recordings of people are sent to it in real time, as a ` +
		`microphone sends them, and silence behind them; what is timed is the way from the user's last sound to the ` +
		`answer's first. Beside each turn stands the least that this machine can do, by its engines alone. Twenty ` +
		`turns take about four minutes.`
}

// Run holds the conversations.
func (cmd *benchTalkCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	o, err := c.bench(parsed)
	if err != nil {
		return err
	}
	o.Turns, o.Chats, o.With, o.Idle, o.Recordings = cmd.Turns, cmd.Chats, cmd.With, cmd.Idle, cmd.Recordings
	if err := elsewhere(&o, parsed, cmd.URL, cmd.Key, cmd.CA); err != nil {
		return fmt.Errorf("bench talk: %w", err)
	}
	return c.report(ctx, cmd.JSON, bench.Talk, o)
}

type benchTurnsCmd struct {
	benchFlags
	Modes      []string `default:"500,800,semantic" placeholder:"MODE,…" help:"How the end of a turn is found: after so many milliseconds of silence, or semantic (500,800,semantic)."`
	Sentences  int      `default:"24" placeholder:"N" help:"Sentences with a pause, and finished ones, in each mode (24)."`
	Only       []string `placeholder:"PART,…" help:"Say only these: hesitations, endings, cough, noise, word, backchannel, echo, speech (all)."`
	Recordings string   `placeholder:"DIR" help:"What is said: sound files, with the words of each in a .txt file of the same name (Debian's asterisk-core-sounds-en-wav, and asterisk-core-sounds-en for the words)."`
	URL        string   `name:"url" placeholder:"URL" help:"Measure this box, instead of one that is started for it; configs are made there."`
	Key        string   `env:"PARLEY_API_KEY" help:"API key of that box."`
	CA         string   `name:"ca" placeholder:"FILE" help:"The certificate of its authority (PEM), if it has one of its own."`

	Settings kong.Plugins `embed:"" settings:"packs profile engines.transcriber engines.language_model engines.voice engines.threads"`
}

// Help shows the command in use.
func (benchTurnsCmd) Help() string {
	return `Examples:

  parley bench turns --json

  parley bench turns --modes 800 --sentences 12

  parley bench turns --modes semantic --only echo,backchannel

Recordings of people are said to a box in real time: sentences with a pause at the end of a phrase, which it should ` +
		`not take for the end, and finished ones; and over a speaking assistant coughs, noises, short words, ` +
		`backchannels and its own voice, which should not interrupt it, and speech that should. It takes about five ` +
		`minutes.`
}

// Run measures turn-taking.
func (cmd *benchTurnsCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	o, err := c.bench(parsed)
	if err != nil {
		return err
	}
	o.Modes, o.Sentences, o.Only, o.Recordings = cmd.Modes, cmd.Sentences, cmd.Only, cmd.Recordings
	if err := elsewhere(&o, parsed, cmd.URL, cmd.Key, cmd.CA); err != nil {
		return fmt.Errorf("bench turns: %w", err)
	}
	return c.report(ctx, cmd.JSON, bench.Turns, o)
}

// elsewhere has the box at an address measured, or where none is given one that
// is started for it.
func elsewhere(o *bench.Options, parsed *kong.Context, address, key, ca string) (err error) {
	if address == "" {
		o.Serve, err = serving(parsed, o.Config)
		return err
	}
	if o.URL, err = chatAddress(address); err != nil {
		return misuse{err}
	}
	if o.Client, err = trust(ca, o.Config); err != nil {
		return misuse{err}
	}
	o.Key = key
	return nil
}

type benchNewcomerCmd struct {
	benchFlags
	Rounds     int    `default:"3" placeholder:"N" help:"Times that everything is measured, at most 10 (3)."`
	Recordings string `placeholder:"DIR" help:"What is said: sound files (Debian's asterisk-core-sounds-en-wav)."`

	Settings kong.Plugins `embed:"" settings:"packs profile engines.transcriber engines.language_model engines.voice engines.threads"`
}

// Help shows the command in use.
func (benchNewcomerCmd) Help() string {
	return `Example:

  parley bench newcomer --rounds 1 --json

A box is started in a process and a folder of its own, and started anew in between. Timed are the first answers of ` +
		`chats whose prompt it knows from a config, after another chat was closed and after the restart; with ` +
		`prompts that it does not know; and for how long somebody else's answer falls silent while such a newcomer ` +
		`comes. A round takes about two minutes.`
}

// Run measures the newcomers.
func (cmd *benchNewcomerCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	o, err := c.bench(parsed)
	if err != nil {
		return err
	}
	o.Rounds, o.Recordings = cmd.Rounds, cmd.Recordings
	if o.Serve, err = serving(parsed, o.Config); err != nil {
		return err
	}
	return c.report(ctx, cmd.JSON, bench.Newcomer, o)
}

type benchSTTCmd struct {
	benchFlags
	Prompts    int    `default:"150" placeholder:"N" help:"Recordings whose words are counted (150)."`
	Rounds     int    `default:"15" placeholder:"N" help:"Times that each call is compared with its yardstick (15)."`
	Recordings string `placeholder:"DIR" help:"What is heard: sound files, with the words of each in a .txt file of the same name (Debian's asterisk-core-sounds-en-wav, and asterisk-core-sounds-en for the words)."`

	Settings kong.Plugins `embed:"" settings:"packs profile engines.transcriber engines.threads"`
}

// Help shows the command in use.
func (benchSTTCmd) Help() string {
	return "Examples:\n\n  parley bench stt\n\n  parley bench stt --transcriber whisper --json"
}

// Run measures the ears.
func (cmd *benchSTTCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	o, err := c.bench(parsed)
	if err != nil {
		return err
	}
	o.Prompts, o.Rounds, o.Recordings = cmd.Prompts, cmd.Rounds, cmd.Recordings
	c.endsAtOnce(unmeasured()) // it leaves nothing behind
	return c.report(ctx, cmd.JSON, bench.STT, o)
}

type benchTTSCmd struct {
	benchFlags
	Rounds    int      `default:"15" placeholder:"N" help:"Times that each call is compared with its yardstick (15)."`
	Only      []string `placeholder:"PART,…" help:"Measure only these: engine, http, long, peer, stream, memory, fair, times, words, pitch (all)."`
	Voices    []string `placeholder:"VOICE,…" help:"Voices that are listened to; all is every voice of the library (one of each pack of Piper's)."`
	Sentences int      `default:"50" placeholder:"N" help:"Sentences that each of them says, at most 50, evenly taken (50)."`
	Sample    int      `placeholder:"N" help:"Rows of the table that each of them says, evenly taken (all)."`
	Notes     string   `placeholder:"FILE" help:"Write what was heard there, line by line, and leave out what it has already: a run that was broken off goes on."`
	Table     string   `placeholder:"FILE" help:"Have the voices say this, too: a line has a locale, what is written, and what is said, with tabs between."`
	Peer      string   `placeholder:"PYTHON" help:"Compare with piper-tts from PyPI, which this Python has installed."`

	Settings kong.Plugins `embed:"" settings:"packs profile engines.voice engines.threads"`
}

// Help shows the command in use.
func (benchTTSCmd) Help() string {
	return `Examples:

  parley bench tts --json

  parley bench tts --only http,fair --rounds 5

  parley bench tts --only words --voices joe,kokoro-af-heart

  parley bench tts --only words --voices all --sentences 12 --table spoken.tsv --sample 60 --notes heard.jsonl

  parley bench tts --only peer --peer venv/bin/python

The voice is timed: by itself and over HTTP, beside its graph in plain ONNX Runtime, while a long text streams, and ` +
		`with seven others at once. All voices that are there are listened to by Whisper where its pack is there, ` +
		`else by Moonshine: which words it understands, and when it hears them begin.`
}

// Run measures the voices.
func (cmd *benchTTSCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	o, err := c.bench(parsed)
	if err != nil {
		return err
	}
	o.Rounds, o.Only, o.Voices, o.Prompts, o.Table, o.Peer = cmd.Rounds, cmd.Only, cmd.Voices, cmd.Sentences, cmd.Table,
		cmd.Peer
	o.Sample, o.Notes = cmd.Sample, cmd.Notes
	return c.report(ctx, cmd.JSON, bench.TTS, o)
}

type benchLLMCmd struct {
	benchFlags
	Rounds int `default:"7" placeholder:"N" help:"Answers beside their yardstick, at most 7 (7)."`

	Settings kong.Plugins `embed:"" settings:"packs profile engines.threads engines.language_model engines.language_model.openai engines.language_model.model engines.language_model.key_env"`
}

// Help shows the command in use.
func (benchLLMCmd) Help() string {
	return "Examples:\n\n  parley bench llm\n\n  parley bench llm --profile small --json"
}

// Run measures the language model.
func (cmd *benchLLMCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	o, err := c.bench(parsed)
	if err != nil {
		return err
	}
	o.Rounds = cmd.Rounds
	c.endsAtOnce(unmeasured()) // it leaves nothing behind
	return c.report(ctx, cmd.JSON, bench.LLM, o)
}

type benchAnswersCmd struct {
	benchFlags
	Half   string   `placeholder:"HALF" help:"Ask only the tuned half of the questions, which rules and examples were made with, the held one, or those about the assistant itself, self (all)."`
	Only   []string `placeholder:"KIND" sep:"," help:"Ask only questions of these kinds: plain, words, exception, yes, no, unknown, sum, way, edge, asked (all)."`
	Server string   `placeholder:"URL" help:"Measure a model on this server, by its OpenAI-compatible API; the same as --openai."`
	Model  string   `placeholder:"NAME" help:"The model's name on the server; the same as --openai-model."`

	Settings kong.Plugins `embed:"" settings:"packs profile engines.threads engines.language_model engines.language_model.openai engines.language_model.model engines.language_model.key_env answers.rules answers.check"`
}

// Help shows the command in use.
func (benchAnswersCmd) Help() string {
	return `Examples:

  parley bench answers --json

  parley bench answers --profile small --half held

  parley bench answers --server http://127.0.0.1:8000/v1 --model NAME

A hundred and thirty questions are asked at twelve invented desks, each with the facts in its prompt, and the ` +
		`answers are judged by what a right one holds; --json lists them. With the default model it takes about ` +
		`twelve minutes on two cores.`
}

// Run measures the answers.
func (cmd *benchAnswersCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	o, err := c.bench(parsed)
	if err != nil {
		return err
	}
	o.Half, o.Only = cmd.Half, cmd.Only
	if (cmd.Server == "") != (cmd.Model == "") {
		return misuse{errors.New("bench answers: --server and --model belong together")}
	}
	if cmd.Server != "" {
		o.Config.Engines.LanguageModel = config.LanguageModel{OpenAI: cmd.Server, Model: cmd.Model,
			KeyEnv: o.Config.Engines.LanguageModel.KeyEnv}
	}
	c.endsAtOnce(unmeasured()) // it leaves nothing behind
	return c.report(ctx, cmd.JSON, bench.Answers, o)
}

type benchToolsCmd struct {
	benchFlags
	Half       string   `placeholder:"HALF" help:"Say only the tuned half of the wishes, which the router's examples were made with, or the held one (both)."`
	RouterOnly bool     `name:"router-only" help:"Only judge which tool is wanted; write no calls and answers."`
	Only       []string `placeholder:"NAME" sep:"," help:"Talk only to these assistants: clinic, home, hotel, museum, shop, weather, or honest, who is asked what nobody told it (all)."`

	Settings kong.Plugins `embed:"" settings:"packs profile engines.threads engines.language_model engines.language_model.openai engines.language_model.model engines.language_model.key_env"`
}

// Help shows the command in use.
func (benchToolsCmd) Help() string {
	return `Examples:

  parley bench tools --half held --json

  parley bench tools --router-only

What people say to six assistants with one to eight tools is said to the language model: wishes, questions, small ` +
		`talk, corrections, a yes, a no. Counted is whether it calls the tool that is wanted, whether its arguments ` +
		`are right, and whether it asks for what was not said; timed is how much later an answer begins that needs ` +
		`none of the tools. All of it takes about twenty minutes on two slow cores, the routes alone three.`
}

// Run measures tools.
func (cmd *benchToolsCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	o, err := c.bench(parsed)
	if err != nil {
		return err
	}
	o.Half, o.Routes, o.Only = cmd.Half, cmd.RouterOnly, cmd.Only
	c.endsAtOnce(unmeasured()) // it leaves nothing behind
	return c.report(ctx, cmd.JSON, bench.Tools, o)
}

type benchAPICmd struct {
	JSON   bool `name:"json" help:"Print one JSON object."`
	Rounds int  `default:"5" placeholder:"N" help:"Times that each call is compared with its yardstick, at most 7 (5)."`

	Settings kong.Plugins `embed:"" settings:""`
}

// Help shows the command in use.
func (benchAPICmd) Help() string {
	return "Example:\n\n  parley bench api --json\n\nA database is made in the folder for temporary files: set " +
		"TMPDIR to measure another disk. It takes about a minute."
}

// Run measures the API.
func (cmd *benchAPICmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	o, err := c.bench(parsed)
	if err != nil {
		return err
	}
	o.Rounds = cmd.Rounds
	return c.report(ctx, cmd.JSON, bench.API, o)
}

type benchPluginCmd struct {
	benchFlags

	Settings kong.Plugins `embed:"" settings:""`
}

// Help shows the command in use.
func (benchPluginCmd) Help() string {
	return "Example:\n\n  parley bench plugin --json\n\nThe modules are in the program; nothing is installed. It " +
		"takes about half a minute."
}

// Run measures plugins.
func (cmd *benchPluginCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	o, err := c.bench(parsed)
	if err != nil {
		return err
	}
	return c.report(ctx, cmd.JSON, bench.Plugin, o)
}

// bench are the options of a benchmark before its own flags.
func (c *console) bench(parsed *kong.Context) (bench.Options, error) {
	cfg, err := c.config(parsed)
	o := bench.Defaults()
	o.Config, o.Log = cfg, c.quietLogger(cfg.Log)
	o.Progress = func(line string) { fmt.Fprintln(c.err, line) }
	return o, err
}

// report runs a benchmark and prints what it found.
func (c *console) report(ctx context.Context, json bool, run func(context.Context, bench.Options) (bench.Report, error),
	o bench.Options) error {
	r, err := run(ctx, o)
	if ctx.Err() != nil {
		return unmeasured()
	}
	if err != nil {
		if _, wrong := errors.AsType[*bench.ErrOption](err); wrong {
			err = misuse{err}
		}
		return fmt.Errorf("bench: %w", err)
	}
	if json {
		return c.json(r)
	}
	return r.WriteTable(c.out)
}

// unmeasured is how a benchmark ends that is broken off.
func unmeasured() interrupted {
	return interrupted{kept: "nothing is kept", next: "a benchmark counts only as a whole"}
}

// serving is the command line of a box with the settings of this one.
func serving(parsed *kong.Context, cfg config.Config) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding the program to start a box: %w", err)
	}
	line := []string{self, "serve"}
	if cfg.File != "" {
		line = append(line, "--config", cfg.File)
	}
	for _, flag := range parsed.Flags() {
		if flag.Set && flag.Tag.Has("setting") {
			line = append(line, "--"+flag.Name, fmt.Sprint(parsed.FlagValue(flag)))
		}
	}
	return line, nil
}
