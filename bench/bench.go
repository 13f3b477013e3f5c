package bench

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"parley/appliance/config"
)

// Options say what to measure, and how much of it.
type Options struct {
	Config config.Config
	Log    *slog.Logger
	// Progress is called with a description of each step; it may be nil.
	Progress func(string)
	// Recordings is a folder of speech; empty means Debian's package of prompts.
	Recordings string

	Prompts int // number of recordings for the word error (STT, Phone)
	Rounds  int // how often to time a call
	Turns   int // of each conversation (Talk)
	// Chats has the numbers of parallel conversations, which are measured in turn (Talk).
	Chats []int
	// Only restricts the kinds of questions (Answers) or the assistants (Tools); empty:
	// all.
	Only []string
	// Half restricts the questions, requests or recordings: open or held (Answers), tuned or
	// held (Tools, Phone); empty: all, or the held ones (Phone).
	Half string
	// RoutesOnly measures only the choice of the tool, without calls and answers (Tools).
	RoutesOnly bool
	// Idle is how long to watch an idle box (Talk); 0 skips this.
	Idle time.Duration
	// Batch is a file that analysis jobs work on during half of the conversations (Talk);
	// empty: there are none.
	Batch string
	// Programs has programs use OpenAI's API of the box during half of the conversations (Talk).
	Programs bool
	// Boxes has the numbers of boxes of a hub, which are measured in turn (Fleet).
	Boxes []int
	// ServeCommand is the command line that runs a box (Talk) or a hub (Fleet), without flags of its own.
	ServeCommand []string
	Expression   ExpressionData
	// Desks is a folder of desks with approved answers (Approved); empty: those in the program.
	Desks string
	// Judge also measures with the language model as the judge of open questions (Approved), for some minutes.
	Judge bool
}

// Defaults returns options for stable medians in about a minute each.
func Defaults() Options {
	return Options{
		Prompts: 150,
		Rounds:  15,
		Turns:   20,
		Chats:   []int{1},
		Idle:    10 * time.Second,
	}
}

// ErrOption is an invalid option.
type ErrOption struct{ Why string }

func (e *ErrOption) Error() string { return e.Why }

func (o Options) check() error {
	type limits struct {
		name      string
		value     int
		low, high int
	}
	all := []limits{{"prompts", o.Prompts, 1, 10000}, {"rounds", o.Rounds, 1, 10000}, {"turns", o.Turns, 1, 1000}}
	if len(o.Chats) == 0 {
		return &ErrOption{"chats names no number; allowed are 1 to 100, several with commas between"}
	}
	for _, n := range o.Chats {
		all = append(all, limits{"chats", n, 1, 100})
	}
	for _, c := range all {
		if c.value < c.low || c.value > c.high {
			return &ErrOption{fmt.Sprintf("%s is %d; allowed are %d to %d", c.name, c.value, c.low, c.high)}
		}
	}
	if o.Batch != "" {
		if f, err := os.Stat(o.Batch); err != nil || !f.Mode().IsRegular() {
			return &ErrOption{fmt.Sprintf("batch is %q, which is not a file", o.Batch)}
		}
	}
	if o.Idle < 0 || o.Idle > time.Hour {
		return &ErrOption{fmt.Sprintf("idle is %v; allowed are 0 to 1h", o.Idle)}
	}
	return nil
}

// announce reports a step to Progress.
func (o Options) announce(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(fmt.Sprintf(format, args...))
	}
}
