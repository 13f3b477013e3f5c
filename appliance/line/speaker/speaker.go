// Package speaker carries live chats over the box's own loudspeaker and microphone: a
// person in front of the box speaks and hears the answer. It keeps the devices open, waits
// for somebody who wants to talk, and holds one chat at a time.
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

// Start is what begins a chat.
type Start string

// The ways to begin a chat.
const (
	OnSpeech Start = "speech" // somebody speaks
	OnPhrase Start = "phrase" // somebody says a phrase
	OnKey    Start = "key"    // a key, or a request over HTTP
	OnButton Start = "button" // also a button at a GPIO line
)

// Cue is how a person learns that a chat begins and ends.
type Cue string

// The kinds of cues.
const (
	Tones Cue = "tones"
	Words Cue = "words" // the assistant says it
	NoCue Cue = "off"
)

// Options say how chats are held.
type Options struct {
	Start   Start
	Phrases []string // that begin a chat, OnPhrase
	// Silence is how long nobody says anything before a chat ends.
	Silence time.Duration
	Cue     Cue
	// Greeting is what the assistant says first, if Cue is Words and nobody has spoken yet;
	// empty means an English one. Farewell is what it says last, if the silence ends the
	// chat; empty means one in the language of the chat.
	Greeting, Farewell string
	// Absent is how long a device may be gone before the chat ends, 10 s: as long as a
	// sound server takes to restart, or a plug to be put back.
	Absent time.Duration
}

// defaultAbsent is the default of Options.Absent.
const defaultAbsent = 10 * time.Second

// Who returns the account and the settings of the next chat.
type Who func(ctx context.Context) (account string, settings contract.ConnectSettings, err error)

// Cards are the sound devices. Their threads call the callbacks, which must not block;
// stopped is called when a device stops by itself, if its system reports that.
type Cards interface {
	// Play opens the loudspeaker with a buffer of that length. fill writes the next
	// samples, at rateHz. name is the device's name.
	Play(holds time.Duration, fill func(out []float32), stopped func()) (device io.Closer, name string, err error)
	// Record opens the microphone. heard gets the next samples, at rateHz, and must not
	// retain them.
	Record(heard func(in []float32), stopped func()) (device io.Closer, name string, err error)
}

// rateHz is the rate of the devices, which is that of the sound to play.
const rateHz = contract.OutputRateHz

// Parts are what a Speaker is made of.
type Parts struct {
	Cards       Cards
	Host        line.Host
	Who         Who
	Cleaner     Cleaner // nil: sound is not cleaned
	Detector    engine.VoiceDetector
	Transcriber engine.Transcriber
	Buttons     []Button
	Log         *slog.Logger
}

// A Cleaner removes what was played, and noise, from the microphone's sound.
type Cleaner interface {
	// Frame cleans 10 ms of sound, with what was played at about that time, all at
	// engine.SpeechRateHz.
	Frame(out, heard, played []float32)
	// PlaybackUnknown says that it is not known what is played in the next frame.
	PlaybackUnknown()
	// ReferenceMoved says that the delay between playback and echo is the initial one
	// again, and DelayChanged that it has changed to an unknown value.
	ReferenceMoved()
	DelayChanged()
	Close()
}

// Speaker holds chats with the people in front of the box.
type Speaker struct {
	Parts
	options Options

	microphone chan incoming
	commands   chan command
	changes    chan change
	playout    *playout
	status     status

	stopping context.Context // ends when no more chats may begin
	stop     context.CancelFunc
	gone     context.Context // ends when what is left is dropped
	drop     context.CancelFunc
	closing  sync.Once
	workers  group
}

// Open opens the devices and waits for somebody to talk to. It also waits for missing
// devices. The caller closes the Speaker.
func Open(p Parts, o Options) *Speaker {
	if o.Absent == 0 {
		o.Absent = defaultAbsent
	}
	s := &Speaker{
		Parts:      p,
		options:    o,
		microphone: make(chan incoming, microphoneQueue),
		commands:   make(chan command, 1),
		changes:    make(chan change, 4),
		playout:    newPlayout(),
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.gone, s.drop = context.WithCancel(context.Background())
	s.workers.log = p.Log
	s.status.set(func(n *Status) { n.State = Waiting })
	s.workers.do("the loudspeaker", func() { s.keepOpen(output, s.openOutput) })
	s.workers.do("the microphone", func() { s.keepOpen(input, s.openInput) })
	s.workers.do("waiting for a chat", s.attendAlways)
	for _, b := range p.Buttons {
		s.workers.do("a button", func() { s.watch(b) })
	}
	return s
}

// Close ends the chat, after the session was told to stop, and closes the devices. When ctx
// ends, it drops what is left. A second Close does nothing.
func (s *Speaker) Close(ctx context.Context) {
	s.closing.Do(func() { s.close(ctx) })
}

func (s *Speaker) close(ctx context.Context) {
	s.stop()
	select {
	case <-s.gone.Done(): // no chat any more
	case <-ctx.Done():
		s.drop()
	}
	over := make(chan struct{})
	go func() {
		s.workers.running.Wait()
		close(over)
	}()
	late := time.NewTimer(closeTimeout)
	defer late.Stop()
	select {
	case <-over:
		if s.Cleaner != nil {
			s.Cleaner.Close()
		}
	case <-late.C:
		s.Log.Error("sound server hangs; not waiting for it")
	}
}

// closeTimeout bounds the closing of the devices, 1 s: a sound server that hangs must not
// keep the box from stopping.
const closeTimeout = time.Second
