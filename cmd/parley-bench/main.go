// Command parley-bench measures this machine and a box on it: one benchmark, one report.
// It is for developers of Parley and is not installed.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"parley/appliance/audio"
	"parley/appliance/config"
	"parley/appliance/engine/espeak"
	"parley/appliance/media"
	"parley/bench"
)

// commandLine holds the commands and flags of parley-bench.
type commandLine struct {
	JSON   bool   `name:"json" help:"Print one JSON object instead of a table."`
	Config string `placeholder:"FILE" help:"Read settings from this file (else ./parley.yaml)."`

	Talk struct {
		Turns      int           `default:"20" help:"Turns of each conversation (${default})."`
		Chats      []int         `default:"1" placeholder:"N,…" help:"Parallel conversations, one run each."`
		Idle       time.Duration `default:"10s" help:"How long to watch the idle box; 0 skips this (${default})."`
		Recordings string        `placeholder:"DIR" help:"${recordings} (Debian's)."`
		Batch      string        `placeholder:"FILE" help:"Compare with an analysis job with this long file running."`
		Programs   bool          `help:"Compare with programs that use OpenAI's API of the box."`
		Parley     string        `placeholder:"FILE" help:"Program that runs the box (parley beside this one)."`
	} `cmd:"" help:"Talk to a box in real time, and time its answers."`
	STT struct {
		Prompts    int    `default:"150" help:"Number of recordings for the word error (${default})."`
		Rounds     int    `default:"15" help:"How often to time each call (${default})."`
		Recordings string `placeholder:"DIR" help:"${recordings}, each with its words in NAME.txt (Debian's)."`
	} `cmd:"" name:"stt" help:"Measure speech-to-text: word error, time, memory."`
	TTS struct {
		Rounds int `default:"15" help:"How often to speak each sentence (${default})."`
	} `cmd:"" name:"tts" help:"Measure text-to-speech: time to the first sound, speed, memory."`
	LLM struct {
		Rounds int `default:"7" help:"How often to time each answer, at most 7 (${default})."`
	} `cmd:"" name:"llm" help:"Measure the language model: tokens per second, first token, memory."`
	Answers struct {
		Half string   `placeholder:"HALF" help:"Only the open half of the cases, or the held half (both)."`
		Only []string `placeholder:"KIND,…" help:"Only cases of these kinds (all)."`
	} `cmd:"" help:"Measure how often the language model, as the box runs it, answers right."`
	Approved struct {
		Desks string `placeholder:"DIR" help:"Desks: folders as in bench/desks (those in the program)."`
		Judge bool   `help:"Also measure with the language model as the judge, for some minutes."`
	} `cmd:"" help:"Measure how often the right approved answer is found, and a wrong one is given."`
	Tools struct {
		Half       string   `placeholder:"HALF" help:"Only the tuned half of the requests, or the held half (both)."`
		RouterOnly bool     `help:"Only route requests to tools; generate no calls and answers."`
		Only       []string `placeholder:"NAME,…" help:"Only these assistants (all)."`
	} `cmd:"" help:"Measure tools: when the model calls one, with which arguments, at what cost."`
	API struct {
		Rounds int `default:"5" help:"How often to compare each call with its yardstick, at most 7 (${default})."`
	} `cmd:"" name:"api" help:"Measure the REST API: reads and durable writes, compared with the same SQL."`
	Expression struct {
		Texts  string `placeholder:"FILE" help:"Labelled texts, as in GoEmotions' test.tsv."`
		Voices string `placeholder:"DIR" help:"The wav files of EmoDB."`
		Faces  string `placeholder:"DIR" help:"Pictures, in a folder for each class of FER2013."`
	} `cmd:"" help:"Measure the scores of feelings on labelled data that you name, and the speed of analysis."`
	Phone struct {
		Prompts    int    `default:"40" help:"Number of recordings (${default})."`
		Half       string `default:"held" placeholder:"HALF" help:"The tuned half of the recordings (${default})."`
		Recordings string `placeholder:"DIR" help:"${recordings}, each with its words in NAME.txt (Debian's)."`
	} `cmd:"" help:"Measure hearing over a telephone: words, interruptions, ends of turns, with packets lost."`
	Fleet struct {
		Boxes  []int         `default:"3,30,300" placeholder:"N,…" help:"Numbers of boxes, one run each (${default})."`
		Idle   time.Duration `default:"10s" help:"How long to watch the idle hub; 0 skips this (${default})."`
		Parley string        `placeholder:"FILE" help:"Program that runs the hub (parley beside this one)."`
	} `cmd:"" help:"Measure a hub with simulated boxes: how fast things arrive, its door."`
	Plugin struct{} `cmd:"" help:"Measure plugins: calls compared with plain wazero, a restart with fifty, memory."`
}

func main() {
	espeak.Main()
	audio.Main()
	media.Main()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run runs one command line and returns the exit code: 0 success, 1 failure, 2 usage
// error.
func run(ctx context.Context, args []string, out, complaints io.Writer) int {
	err := measure(ctx, args, out, complaints)
	if err == nil {
		return 0
	}
	fmt.Fprintln(complaints, "parley-bench:", err)
	_, wrong := errors.AsType[*bench.ErrOption](err)
	if _, unread := errors.AsType[*kong.ParseError](err); unread || wrong {
		return 2
	}
	return 1
}

func measure(ctx context.Context, args []string, out, complaints io.Writer) error {
	var line commandLine
	parser, err := kong.New(&line, kong.Name("parley-bench"), kong.Writers(out, complaints), kong.Description(
		"Measures this machine and a box on it. Settings come from PARLEY_… variables and parley.yaml."),
		kong.Vars{"recordings": "Folder of speech as sound files"})
	if err != nil {
		return err
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return err
	}
	cfg, err := config.Load(config.Sources{Environ: os.Environ(), File: line.Config})
	if err != nil {
		return &bench.ErrOption{Why: err.Error()}
	}
	o := bench.Defaults()
	o.Config = cfg
	o.Log = slog.New(slog.NewTextHandler(complaints, &slog.HandlerOptions{Level: slog.LevelWarn}))
	o.Progress = func(doing string) { fmt.Fprintln(complaints, doing) }
	run, err := line.benchmark(parsed.Command(), &o)
	if err != nil {
		return err
	}
	r, err := run(ctx, o)
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted: only a whole benchmark gives figures")
	case err != nil:
		return err
	case line.JSON:
		return json.NewEncoder(out).Encode(r)
	}
	return r.WriteTable(out)
}

// benchmark returns the benchmark that the command line names, after setting its options.
func (l *commandLine) benchmark(name string, o *bench.Options) (
	run func(context.Context, bench.Options) (bench.Report, error), err error,
) {
	switch name {
	case "talk":
		o.Turns, o.Chats, o.Idle, o.Recordings = l.Talk.Turns, l.Talk.Chats, l.Talk.Idle, l.Talk.Recordings
		o.Batch, o.Programs = l.Talk.Batch, l.Talk.Programs
		o.ServeCommand, err = l.command(l.Talk.Parley, "serve")
		return bench.Talk, err
	case "stt":
		o.Prompts, o.Rounds, o.Recordings = l.STT.Prompts, l.STT.Rounds, l.STT.Recordings
		return bench.STT, nil
	case "tts":
		o.Rounds = l.TTS.Rounds
		return bench.TTS, nil
	case "llm":
		o.Rounds = l.LLM.Rounds
		return bench.LLM, nil
	case "answers":
		o.Half, o.Only = l.Answers.Half, l.Answers.Only
		return bench.Answers, nil
	case "approved":
		o.Desks, o.Judge = l.Approved.Desks, l.Approved.Judge
		return bench.Approved, nil
	case "tools":
		o.Half, o.RoutesOnly, o.Only = l.Tools.Half, l.Tools.RouterOnly, l.Tools.Only
		return bench.Tools, nil
	case "api":
		o.Rounds = l.API.Rounds
		return bench.API, nil
	case "expression":
		o.Expression = bench.ExpressionData(l.Expression)
		return bench.Expression, nil
	case "fleet":
		o.Boxes, o.Idle = l.Fleet.Boxes, l.Fleet.Idle
		o.ServeCommand, err = l.command(l.Fleet.Parley, "hub")
		return bench.Fleet, err
	case "phone":
		o.Prompts, o.Half, o.Recordings = l.Phone.Prompts, l.Phone.Half, l.Phone.Recordings
		return bench.Phone, nil
	}
	return bench.Plugin, nil
}

// command returns the command line of a box or a hub with the settings of this one. Without a program it is the one
// beside this.
func (l *commandLine) command(program, name string) ([]string, error) {
	if program == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("finding the program to start a box: %w", err)
		}
		program = filepath.Join(filepath.Dir(self), "parley")
	}
	if _, err := os.Stat(program); err != nil {
		return nil, &bench.ErrOption{Why: fmt.Sprintf("--parley: %v: build it with make build", err)}
	}
	line := []string{program, name}
	if l.Config != "" {
		line = append(line, "--config", l.Config)
	}
	return line, nil
}
