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

// ending is why a call is to end.
type ending string

const (
	endAsked  ending = "asked by a key, a button or a request"
	endSaid   ending = "asked by the person"
	endSilent ending = "nobody said anything any more"
	endAbsent ending = "the microphone or the loudspeaker is gone"
)

const (
	// mostSound is how many pieces of 10 ms may wait for the session: 2 s. It is
	// behind as long while it begins on a busy machine.
	mostSound = 200
	// longestHeard is how much sound the session is given at once.
	longestHeard = 2 * downHz
	// longestThought is how long an answer may take before the silence counts, 2
	// minutes: a model that has not said anything by then does not any more.
	longestThought = 2 * time.Minute
	// leaving is how long a farewell may take to be made and said.
	leaving = 10 * time.Second
)

// Call is one conversation at the box's own speaker. It is a chat.Line.
type Call struct {
	speaker *Speaker
	spoken  bool // the person spoke before it began
	sound   chan []float32
	ends    chan ending   // why it is to end, the first of them
	touched chan struct{} // somebody said something
	reports chan struct{} // the session is to be told how far it has come
	life    *line.Lifecycle

	mu       sync.Mutex
	thinking time.Time // since when an answer is made; zero: none is
	answered bool      // something was said to the person
	language string    // of what the person said last
	sent     int       // samples of the sentence that is played newest
	sentID   string
}

func newCall(s *Speaker, spoken bool) *Call {
	return &Call{
		speaker: s,
		spoken:  spoken,
		sound:   make(chan []float32, mostSound),
		ends:    make(chan ending, 1),
		touched: make(chan struct{}, 1),
		reports: make(chan struct{}, 1),
		life:    line.NewLifecycle(s.gone, s.Log, nil),
	}
}

// end has the call end. It returns at once; the first reason counts.
func (c *Call) end(why ending) {
	select {
	case c.ends <- why:
	default:
	}
}

// heard takes clean sound of the microphone, which it owns; voiced says that
// somebody speaks.
func (c *Call) heard(pcm []float32, voiced bool) {
	if voiced {
		ring(c.touched)
	}
	if len(pcm) == 0 {
		return
	}
	select {
	case c.sound <- pcm:
	default: // the session is more than two seconds behind
	}
}

// report has the session told how far the assistant was heard.
func (c *Call) report() { ring(c.reports) }

// run holds the conversation.
func (c *Call) run() {
	s := c.speaker
	s.playout.forget()
	if !c.spoken {
		s.cue(toneBegin)
	}
	session, err := c.open(s.stopping)
	if err != nil {
		c.refused(err)
		return
	}
	c.life.Go("hearing", func() { c.feed(session) })
	c.life.Go("telling what was played", func() { c.tell(session) })
	c.greet(session)
	why := c.follow(session)
	session.HangUp()
	<-session.Done()
	c.leave(why)
}

// open begins the conversation.
func (c *Call) open(ctx context.Context) (line.Session, error) {
	s := c.speaker
	account, settings, err := s.Who(ctx)
	if err != nil {
		return nil, err
	}
	seat, err := s.Host.Reserve(account)
	if err != nil {
		return nil, err
	}
	session, err := seat.Open(ctx, connection.Opening{
		Account:    account,
		Kind:       "speaker",
		Settings:   settings,
		Line:       c,
		Unbuffered: true,
		RealTime:   true,
	})
	if err != nil {
		seat.Release()
	}
	return session, err
}

// refused says that there is no conversation.
func (c *Call) refused(err error) {
	if c.speaker.stopping.Err() != nil {
		return
	}
	c.speaker.Log.Error("no conversation can begin at the box's own speaker", "err", err)
	c.speaker.cue(toneFailed)
}

// greet says something to who has said nothing yet.
func (c *Call) greet(session line.Session) {
	o := c.speaker.options
	if o.Cue != Words || c.spoken {
		return
	}
	text := o.Greeting
	if text == "" {
		text = greeting
	}
	_ = session.Receive(contract.AssistantInput{Text: text}) // a session that is over ends the call by itself
}

const greeting = "Hello, how can I help you?"

// follow waits for the end of the conversation, and says why it came. An empty
// reason: the session ended it.
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
		case <-c.touched:
			quiet.Reset(silence)
		case <-quiet.C:
			if !c.idle(time.Now()) {
				quiet.Reset(silence)
				continue
			}
			c.farewell(session)
			return endSilent
		case <-c.life.Gone().Done():
			return ""
		}
	}
}

// speaking tells whether the assistant is heard.
func (c *Call) speaking() bool {
	select {
	case <-c.speaker.playout.empties():
		return false
	default:
		return true
	}
}

// idle tells whether neither side has anything to say.
func (c *Call) idle(now time.Time) bool {
	if c.speaking() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.thinking.IsZero() || now.Sub(c.thinking) > longestThought
}

// farewell has the assistant say goodbye, where words are the cue.
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
	late := time.NewTimer(leaving)
	defer late.Stop()
	for {
		select {
		case <-session.Done():
			return
		case <-c.ends:
			return
		case <-late.C:
			return
		case <-c.touched: // a sentence was said, or played
			if c.idle(time.Now()) {
				c.speaker.rest(c.speaker.playout.delay())
				return
			}
		}
	}
}

// feed gives the session what was heard.
func (c *Call) feed(session line.Session) {
	for {
		select {
		case <-c.life.Gone().Done():
			return
		case pcm := <-c.sound:
			pcm = c.more(pcm)
			for len(pcm) > 0 {
				n := min(len(pcm), longestHeard)
				if session.Hear(pcm[:n:n]) != nil {
					return
				}
				pcm = pcm[n:]
			}
		}
	}
}

// more is the sound with what waits behind it.
func (c *Call) more(pcm []float32) []float32 {
	for {
		select {
		case next := <-c.sound:
			pcm = append(pcm, next...)
		default:
			return pcm
		}
	}
}

// tell tells the session how far the assistant was heard.
func (c *Call) tell(session line.Session) {
	for {
		select {
		case <-c.life.Gone().Done():
			return
		case <-c.speaker.playout.news:
		case <-c.reports:
		}
		if id, upTo := c.speaker.playout.progress(time.Now()); id != "" {
			session.Played(id, upTo)
			ring(c.touched)
		}
	}
}

// leave ends what is heard of the conversation: what the assistant said last is
// played, unless somebody wants to hear no more.
func (c *Call) leave(why ending) {
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
	s.Log.Info("a conversation at the box's own speaker has ended", "why", why.words())
	s.cue(toneEnd)
}

func (e ending) words() string {
	if e == "" {
		return "the assistant, the config or the box ended it"
	}
	return string(e)
}

// playOut waits until what the assistant said last was heard.
func (c *Call) playOut() {
	select {
	case <-c.speaker.playout.empties():
		c.speaker.rest(c.speaker.playout.delay())
	case <-c.ends:
		c.speaker.playout.cut()
	case <-c.speaker.stopping.Done():
	}
}

// failed tells whether the session ended with an error.
func (c *Call) failed() bool {
	select {
	case <-c.life.Closing():
		code, _ := c.life.Closed()
		return code != contract.CloseNormal
	default:
		return true // it did not close the line
	}
}

// close ends what is left of a call, however it ended.
func (c *Call) close() {
	c.life.Drop(line.ErrClosed)
	c.life.Wait()
}

// Send takes a message for the person, who reads none: it tells how the
// conversation goes.
func (c *Call) Send(_ context.Context, m contract.ServerMessage) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.life.Err(); err != nil {
		return err
	}
	switch m := m.(type) {
	case contract.ChatMetadata:
		c.speaker.status.set(func(n *Status) { n.ChatID = m.ChatID })
	case contract.UserMessage:
		if m.Interim {
			break
		}
		c.language, c.thinking = m.Language, time.Now()
		if !m.FromText && language.Stops(m.Message.Content) {
			c.end(endSaid)
		}
	case contract.AssistantMessage:
		c.answered = true
	case contract.AssistantEnd:
		c.thinking = time.Time{}
	case contract.WebSocketError:
		c.thinking = time.Time{}
		if m.Code.CloseCode() == contract.CloseNormal {
			break // its time is over
		}
		c.speaker.Log.Warn("the conversation at the box's own speaker has an error", "code", m.Code, "message",
			m.Message)
	default:
		return nil
	}
	ring(c.touched)
	return nil
}

// Play queues sound for the loudspeaker.
func (c *Call) Play(_ context.Context, s contract.Sound) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.life.Err(); err != nil {
		return err
	}
	if s.ID != c.sentID || s.Index == 0 {
		c.sentID, c.sent = s.ID, 0
	}
	from := c.sent
	c.sent += len(s.PCM)
	return c.speaker.playout.play(s, from)
}

// Kept is 0: what Play was given is on its way.
func (c *Call) HeldBack() int { return 0 }

// Unsent is 0: what is played is told.
func (c *Call) Unsent() time.Duration { return 0 }

// Cut drops the sound that the loudspeaker was not given. What it holds is heard
// for as long.
func (c *Call) Cut() { c.speaker.playout.cut() }

// Close notes how the session has ended.
func (c *Call) Close(code int, reason string) { c.life.Close(code, reason) }
