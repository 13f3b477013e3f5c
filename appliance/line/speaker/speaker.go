// Package speaker carries live chats over the box's own loudspeaker and
// microphone: whoever stands in front of it speaks, and hears the answer. It keeps
// the devices open, waits for somebody who wants to talk, and holds one
// conversation at a time.
package speaker

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/line"
)

// Start is what begins a conversation.
type Start string

// The ways to begin.
const (
	OnSpeech Start = "speech" // somebody speaks
	OnPhrase Start = "phrase" // somebody says a phrase
	OnKey    Start = "key"    // a key, or a request over HTTP
	OnButton Start = "button" // a button at a GPIO line, too
)

// Cue is how a person is told that a conversation begins and ends.
type Cue string

// The kinds of cues.
const (
	Tones Cue = "tones"
	Words Cue = "words" // the assistant says it
	NoCue Cue = "off"
)

// Options say how conversations are held.
type Options struct {
	Start   Start
	Phrases []string // that begin a conversation, OnPhrase
	// Silence is how long nobody says anything before a conversation ends.
	Silence time.Duration
	Cue     Cue
	// Greeting is what the assistant says first, where Cue is Words and nobody has
	// said anything yet; empty is in English. Farewell is what it says last, where
	// the silence ends the conversation; empty is in the language spoken.
	Greeting, Farewell string
	// Absent is how long a device may be gone before the conversation ends, 10 s:
	// what a sound server takes to start anew, and a plug to be put back.
	Absent time.Duration
}

// absent is the default of Options.Absent.
const absent = 10 * time.Second

// Who says whose conversation is to begin, and with which settings. It is asked
// each time.
type Who func(ctx context.Context) (account string, settings contract.ConnectSettings, err error)

// Cards are the machine's devices. The callbacks are called by their threads, and
// must not wait; stopped is called when a device stops by itself, where its system
// tells.
type Cards interface {
	// Play opens the loudspeaker, which is to hold so much sound: fill writes the next
	// samples, at rateHz. name says which it is.
	Play(holds time.Duration, fill func(out []float32), stopped func()) (device io.Closer, name string, err error)
	// Record opens the microphone: heard gets the next samples, at rateHz, and does
	// not keep them.
	Record(heard func(in []float32), stopped func()) (device io.Closer, name string, err error)
}

// rateHz is the rate of the devices, which is that of the sound to play.
const rateHz = contract.OutputRateHz

// Parts are what a Speaker is made of.
type Parts struct {
	Cards       Cards
	Host        line.Host
	Who         Who
	Cleaner     Cleaner // nil: what is heard goes on as it is
	Detector    engine.VoiceDetector
	Transcriber engine.Transcriber
	Buttons     []Button
	Log         *slog.Logger
}

// A Cleaner takes out of what is heard what was played, and noise.
type Cleaner interface {
	// Frame takes 10 ms of what was heard, and of what was played about then, all at
	// engine.SpeechRateHz.
	Frame(out, heard, played []float32)
	// Unknown says that what is played in the next frame is not known.
	PlaybackUnknown()
	// Moved says that what was played is given as much before its echo again as at
	// first, and Shaken that the echo comes at another time, which is not known.
	ReferenceMoved()
	DelayChanged()
	Close()
}

// Speaker holds conversations with whoever stands in front of the box.
type Speaker struct {
	Parts
	options Options

	heard   chan incoming
	pushes  chan push
	changes chan change
	playout *playout
	status  status

	stopping context.Context // ends when no conversation is to begin any more
	stop     context.CancelFunc
	gone     context.Context // ends when what is left is cut off
	drop     context.CancelFunc
	closing  sync.Once
	workers  group
}

// Open opens the devices and waits for somebody to talk to. Devices that are not
// there are waited for, too. A Speaker is closed in the end.
func Open(p Parts, o Options) *Speaker {
	if o.Absent == 0 {
		o.Absent = absent
	}
	s := &Speaker{
		Parts:   p,
		options: o,
		heard:   make(chan incoming, mostHeard),
		pushes:  make(chan push, 1),
		changes: make(chan change, 4),
		playout: newPlayout(),
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.gone, s.drop = context.WithCancel(context.Background())
	s.workers.log = p.Log
	s.status.set(func(n *Status) { n.State = Waiting })
	s.workers.do("the loudspeaker", func() { s.keep(output, s.openOutput) })
	s.workers.do("the microphone", func() { s.keep(input, s.openInput) })
	s.workers.do("waiting for somebody", s.attendAlways)
	for _, b := range p.Buttons {
		s.workers.do("a button", func() { s.watch(b) })
	}
	return s
}

// Close ends the conversation, after the session was told to stop, and closes the
// devices. What lasts when ctx ends is cut off. A second Close does nothing.
func (s *Speaker) Close(ctx context.Context) {
	s.closing.Do(func() { s.close(ctx) })
}

func (s *Speaker) close(ctx context.Context) {
	s.stop()
	select {
	case <-s.gone.Done(): // nobody talks any more
	case <-ctx.Done():
		s.drop()
	}
	over := make(chan struct{})
	go func() {
		s.workers.running.Wait()
		close(over)
	}()
	late := time.NewTimer(parting)
	defer late.Stop()
	select {
	case <-over:
		if s.Cleaner != nil {
			s.Cleaner.Close()
		}
	case <-late.C:
		s.Log.Error("a sound server hangs, and the box does not wait for it")
	}
}

// parting is how long devices may take to close, 1 s: a sound server that hangs
// must not keep the box from stopping.
const parting = time.Second
