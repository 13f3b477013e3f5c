package speaker

import (
	"context"
	"sync"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/language"
	"parley/appliance/line"
)

// ending is why a chat ends.
type ending string

const (
	endAsked  ending = "ended by a key, a button or a request"
	endSaid   ending = "ended by the user's words"
	endSilent ending = "silence"
	endAbsent ending = "the microphone or the loudspeaker is missing"
)

const (
	// soundQueue bounds the pieces of 10 ms that wait for the session, to 2 s: on a busy
	// machine it takes as long to start.
	soundQueue = 200
	// maxHear is the most sound that the session is given at once.
	maxHear = 2 * earHz
	// maxThinking is how long an answer may take before the silence counts, 2 minutes: a
	// model that has said nothing by then will not answer.
	maxThinking = 2 * time.Minute
	// farewellTimeout bounds the making and playing of a farewell.
	farewellTimeout = 10 * time.Second
)

// Call is one chat at the box's own speaker. It implements connection.Line.
type Call struct {
	speaker   *Speaker
	userBegan bool // the user spoke before the chat began
	sound     chan []float32
	ends      chan ending   // the first reason to end it
	activity  chan struct{} // something was said
	reports   chan struct{} // requests reportPlayed to report
	lifecycle *line.Lifecycle

	mu       sync.Mutex
	thinking time.Time // since when an answer is made; zero if none is
	answered bool      // the assistant has said something
	language string    // of the newest user message
	sent     int       // samples of the newest sentence that were queued
	sentID   string
}

func newCall(s *Speaker, spoken bool) *Call {
	return &Call{
		speaker:   s,
		userBegan: spoken,
		sound:     make(chan []float32, soundQueue),
		ends:      make(chan ending, 1),
		activity:  make(chan struct{}, 1),
		reports:   make(chan struct{}, 1),
		lifecycle: line.NewLifecycle(s.gone, s.Log, nil),
	}
}

// end ends the call. It returns at once; the first reason counts.
func (c *Call) end(why ending) {
	select {
	case c.ends <- why:
	default:
	}
}

// hear takes over clean sound of the microphone; voiced means that somebody speaks.
func (c *Call) hear(pcm []float32, voiced bool) {
	if voiced {
		notify(c.activity)
	}
	if len(pcm) == 0 {
		return
	}
	select {
	case c.sound <- pcm:
	default: // the session is more than two seconds behind
	}
}

// report requests a report of the playback.
func (c *Call) report() { notify(c.reports) }

// run runs the chat.
func (c *Call) run() {
	s := c.speaker
	s.playout.forget()
	if !c.userBegan {
		s.cue(toneBegin)
	}
	session, err := c.open(s.stopping)
	if err != nil {
		c.openFailed(err)
		return
	}
	c.lifecycle.Go("hearing", func() { c.feed(session) })
	c.lifecycle.Go("reporting playback", func() { c.reportPlayed(session) })
	c.greet(session)
	why := c.follow(session)
	session.HangUp()
	<-session.Done()
	c.endSound(why)
}

// open starts the chat.
func (c *Call) open(ctx context.Context) (line.Session, error) {
	s := c.speaker
	account, settings, err := s.Who(ctx)
	if err != nil {
		return nil, err
	}
	slot, err := s.Host.Reserve(account)
	if err != nil {
		return nil, err
	}
	session, err := slot.Open(ctx, connection.Opening{
		Account:    account,
		Kind:       "speaker",
		Settings:   settings,
		Line:       c,
		Unbuffered: true,
		RealTime:   true,
	})
	if err != nil {
		slot.Release()
	}
	return session, err
}

// openFailed logs that the chat cannot start, and plays the tone for a failure.
func (c *Call) openFailed(err error) {
	if c.speaker.stopping.Err() != nil {
		return
	}
	c.speaker.Log.Error("cannot start a chat at the kiosk", "err", err)
	c.speaker.cue(toneFailed)
}

// greet greets a user who has not spoken yet.
func (c *Call) greet(session line.Session) {
	o := c.speaker.options
	if o.Cue != Words || c.userBegan {
		return
	}
	text := o.Greeting
	if text == "" {
		text = greeting
	}
	_ = session.Receive(contract.AssistantInput{Text: text}) // on an error the session is over, which ends the call
}

const greeting = "Hello, how can I help you?"

// follow waits for the end of the chat and returns the reason; empty if the session ended
// it.
func (c *Call) follow(session line.Session) ending {
	silence := c.speaker.options.Silence
	quiet := time.NewTimer(silence)
	defer quiet.Stop()
	for {
		select {
		case <-session.Done():
			return ""
		case why := <-c.ends:
			if why != endAbsent {
				c.speaker.playout.cut()
			}
			return why
		case <-c.activity:
			quiet.Reset(silence)
		case <-quiet.C:
			if !c.idle(time.Now()) {
				quiet.Reset(silence)
				continue
			}
			c.farewell(session)
			return endSilent
		case <-c.lifecycle.Gone().Done():
			return ""
		}
	}
}

// speaking reports whether the assistant is being played.
func (c *Call) speaking() bool {
	select {
	case <-c.speaker.playout.whenDrained():
		return false
	default:
		return true
	}
}

// idle reports whether neither side is speaking or preparing an answer.
func (c *Call) idle(now time.Time) bool {
	if c.speaking() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.thinking.IsZero() || now.Sub(c.thinking) > maxThinking
}

// farewell makes the assistant say goodbye, if the cue is words.
func (c *Call) farewell(session line.Session) {
	if c.speaker.options.Cue != Words {
		return
	}
	text := c.speaker.options.Farewell
	c.mu.Lock()
	if text == "" {
		text = language.Of(c.language).Goodbye()
	}
	c.thinking = time.Now() // until its AssistantEnd
	c.mu.Unlock()
	if session.Receive(contract.AssistantInput{Text: text}) != nil {
		return
	}
	late := time.NewTimer(farewellTimeout)
	defer late.Stop()
	for {
		select {
		case <-session.Done():
			return
		case <-c.ends:
			return
		case <-late.C:
			return
		case <-c.activity: // a sentence was sent or played
			if c.idle(time.Now()) {
				c.speaker.sleep(c.speaker.playout.delay())
				return
			}
		}
	}
}

// feed passes the microphone's sound to the session.
func (c *Call) feed(session line.Session) {
	for {
		select {
		case <-c.lifecycle.Gone().Done():
			return
		case pcm := <-c.sound:
			pcm = c.gather(pcm)
			for len(pcm) > 0 {
				n := min(len(pcm), maxHear)
				if session.Hear(pcm[:n:n]) != nil {
					return
				}
				pcm = pcm[n:]
			}
		}
	}
}

// gather returns the sound and what waits after it.
func (c *Call) gather(pcm []float32) []float32 {
	for {
		select {
		case next := <-c.sound:
			pcm = append(pcm, next...)
		default:
			return pcm
		}
	}
}

// reportPlayed reports to the session how far the assistant was played.
func (c *Call) reportPlayed(session line.Session) {
	for {
		select {
		case <-c.lifecycle.Gone().Done():
			return
		case <-c.speaker.playout.progressed:
		case <-c.reports:
		}
		if id, upTo := c.speaker.playout.progress(time.Now()); id != "" {
			session.Played(id, upTo)
			notify(c.activity)
		}
	}
}

// endSound ends the sound of the chat: it plays the assistant's last words if the session
// ended the chat, and then a tone.
func (c *Call) endSound(why ending) {
	s := c.speaker
	failed := why == "" && c.failed()
	switch {
	case s.gone.Err() != nil:
		return
	case failed:
		s.playout.cut()
		s.cue(toneFailed)
		return
	case why == "":
		c.playOut()
	}
	s.Log.Info("chat at the kiosk ended", "why", why.words())
	s.cue(toneEnd)
}

func (e ending) words() string {
	if e == "" {
		return "the assistant, the config or the box ended it"
	}
	return string(e)
}

// playOut waits until the assistant's last words were played.
func (c *Call) playOut() {
	select {
	case <-c.speaker.playout.whenDrained():
		c.speaker.sleep(c.speaker.playout.delay())
	case <-c.ends:
		c.speaker.playout.cut()
	case <-c.speaker.stopping.Done():
	}
}

// failed reports whether the session ended with an error.
func (c *Call) failed() bool {
	select {
	case <-c.lifecycle.Closing():
		code, _ := c.lifecycle.Closed()
		return code != contract.CloseNormal
	default:
		return true // the session has not closed the line
	}
}

// close ends what is left of the call.
func (c *Call) close() {
	c.lifecycle.Drop(line.ErrClosed)
	c.lifecycle.Wait()
}
