package bench

import (
	"fmt"
	"log/slog"
	"net/http"
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

	Calls   int           // that are held at once (Calls)
	Loss    float64       // of the packets of a call, in percent (Calls)
	Jitter  time.Duration // by which they come late at most (Calls)
	Prompts int           // recordings (STT), or sentences (TTS), whose words are counted
	Rounds  int           // times that a call is compared with its yardstick
	Turns   int           // of each conversation (Talk)
	// Chats is how many conversations are held at once (Talk): one number after
	// the other.
	Chats []int
	// With is what the conversations have besides (Talk): interim, tools.
	With []string
	// Modes are the ways to find the end of a turn: silences in milliseconds, or
	// semantic; and Sentences how many of each sort are said in each (Turns).
	Modes     []string
	Sentences int
	// Only are the sorts of things that are said (Turns): hesitations, endings,
	// or a kind of disturbance; or kinds of questions (Answers), or parts (TTS);
	// none are all.
	Only []string
	// Voices are those that are judged; none are all packs that hold one. Table is
	// a file of what is written and what is said for it, by which they are judged
	// too; Peer a Python with piper-tts to be compared with; both may be empty (TTS).
	Voices      []string
	Table, Peer string
	// Sample is how many rows of the table are said, evenly taken out of it; 0: all.
	// Notes is a file of what was heard, by which a run that was broken off is taken
	// up; empty: none (TTS).
	Sample int
	Notes  string
	// Half of what is asked: open or held (Answers), tuned or held (Tools); empty: all.
	Half string
	// Routes has no call or answer made, but only judged which tool is wanted (Tools).
	Routes bool
	// Drift is how long two devices' clocks differ (Echo).
	Drift time.Duration
	// Idle is how long an idle box is watched (Talk); 0 leaves it out.
	Idle time.Duration
	// Most is how many live conversations are tried at most, and Within for how
	// long with each language model; IdleChats is how many idle ones are opened
	// (Chats).
	Most      int
	Within    time.Duration
	IdleChats int
	// Server is the base URL of an OpenAI-compatible server, and ServerModel the
	// name of its model; where they are empty a stand-in answers (Chats).
	Server, ServerModel string
	// Serve is the command line that runs a box, to which flags can be added;
	// URL and Key are a box that runs already, which is measured instead where
	// URL is set (Talk).
	Serve    []string
	seats    int // of the box that is started, where it matters; 0: enough
	URL, Key string
	Client   *http.Client // that trusts it; nil trusts whom the system trusts
}

// Defaults are enough for steady medians in a minute or so each.
func Defaults() Options {
	return Options{
		Prompts:   150,
		Rounds:    15,
		Turns:     20,
		Chats:     []int{1},
		Idle:      10 * time.Second,
		Modes:     []string{"500", "800", semanticMode},
		Sentences: 24,
		Most:      64,
		Within:    10 * time.Minute,
		IdleChats: 2000,
		Drift:     30 * time.Minute,
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
	if o.URL != "" && o.Key == "" {
		return &ErrOption{"a box that runs already wants a key (--key or PARLEY_API_KEY): parley keys create makes one"}
	}
	return checkBurdens(o.With)
}

// say tells what is being done.
func (o Options) say(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(fmt.Sprintf(format, args...))
	}
}
