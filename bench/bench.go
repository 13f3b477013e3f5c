package bench

import (
	"fmt"
	"log/slog"
	"time"

	"parley/appliance/config"
)

// Options say what is measured and how much of it.
type Options struct {
	Config config.Config
	Log    *slog.Logger
	// Progress is called with what is being done, in words; nil: it is not.
	Progress func(string)
	// Recordings is a folder of speech; empty is Debian's package of prompts.
	Recordings string

	Prompts int // recordings whose words are counted (STT)
	Rounds  int // times that a call is timed
	Turns   int // forSilence each conversation (Talk)
	// Chats is how many conversations are held at once (Talk): one number after
	// the other.
	Chats []int
	// Only are kinds of questions (Answers) or assistants (Tools); none are all.
	Only []string
	// Half of what is asked: open or held (Answers), tuned or held (Tools); empty: all.
	Half string
	// RoutesOnly has no call or answer made, but only judged which tool is wanted (Tools).
	RoutesOnly bool
	// Idle is how long an idle box is watched (Talk); 0 leaves it out.
	Idle time.Duration
	// ServeCommand is the command line that runs a box, to which flags can be added (Talk).
	ServeCommand []string
}

// Defaults are enough for steady medians in a minute or so each.
func Defaults() Options {
	return Options{
		Prompts: 150,
		Rounds:  15,
		Turns:   20,
		Chats:   []int{1},
		Idle:    10 * time.Second,
	}
}

// ErrOption is an option that cannot be.
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
	if o.Idle < 0 || o.Idle > time.Hour {
		return &ErrOption{fmt.Sprintf("idle is %v; allowed are 0 to 1h", o.Idle)}
	}
	return nil
}

// announce tells what is being done.
func (o Options) announce(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(fmt.Sprintf(format, args...))
	}
}
