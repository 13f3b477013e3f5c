package phone

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/enginetest"
	"parley/appliance/line"
)

// stage is a Server with fake legs and chats, in simulated time.
type stage struct {
	*Server
	t     *testing.T
	desk  *desk
	said  *heardWords
	log   *logged
	dials chan *dial // calls that the box makes
	who   Assistant  // answers every number but 404
	over  sync.WaitGroup
}

// perform runs a test on a stage.
func perform(t *testing.T, o Options, play func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{
			t:     t,
			desk:  &desk{opened: make(chan *talk, 99)},
			said:  &heardWords{},
			log:   &logged{},
			dials: make(chan *dial, 9),
			who: Assistant{
				Account:  "museum",
				Name:     "Museum",
				Settings: contract.ConnectSettings{ConfigID: "guide"},
				Recorded: true,
				Voice:    &speaks{},
			},
		}
		assistant := func() (Assistant, error) { return s.who, nil }
		s.Server = New(Parts{
			Host: s.desk,
			Answers: func(_ context.Context, number string) (Assistant, error) {
				if number == "404" {
					return Assistant{}, contract.ErrNotFound{What: "extension", ID: number}
				}
				return assistant()
			},
			Assistant: func(context.Context, string, contract.ConnectSettings) (Assistant, error) {
				return assistant()
			},
			Trunks:      []string{"desk"},
			CanDial:     s.canDial,
			Dial:        s.dial,
			Detector:    enginetest.Detector(loudIsVoice),
			Transcriber: s.said,
			Log:         slog.New(slog.NewTextHandler(s.log, nil)),
		}, o)
		play(s)
		s.Stop()
		s.desk.stop()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		s.Close(ctx)
		s.over.Wait()
		if n := s.desk.slots(); n != 0 {
			t.Errorf("%d slots were not released", n)
		}
		if live, _ := s.Calls(); len(live) != 0 {
			t.Errorf("there are still calls: %+v", live)
		}
	})
}

// invite calls the box.
func (s *stage) invite(from, to string) *caller {
	c := &caller{leg: newLeg()}
	s.over.Go(func() { s.Invited(s.t.Context(), Caller{From: from, To: to, Trunk: "desk"}, c) })
	synctest.Wait()
	return c
}

// canDial refuses the addresses of another telephone system.
func (s *stage) canDial(_, to string) error {
	if strings.HasSuffix(to, "@elsewhere") {
		return errors.New("the trunk does not serve elsewhere")
	}
	return nil
}

// dial is the Dial of the stage: the test answers it.
func (s *stage) dial(ctx context.Context, d Dialled) (Leg, error) {
	call := &dial{Dialled: d, answer: make(chan answered, 1), ended: ctx.Done()}
	s.dials <- call
	late := time.NewTimer(d.Ring)
	defer late.Stop()
	select {
	case a := <-call.answer:
		return a.leg, a.err
	case <-late.C:
		return nil, DialError{By: contract.ByNobody, Reason: "nobody answered"}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

type dial struct {
	Dialled
	answer chan answered
	ended  <-chan struct{}
}

type answered struct {
	leg Leg
	err error
}

// picksUp answers a call of the box.
func (d *dial) picksUp() *leg {
	l := newLeg()
	d.answer <- answered{leg: l}
	synctest.Wait()
	return l
}

// dialled returns the call that the box makes.
func (s *stage) dialled() *dial {
	s.t.Helper()
	synctest.Wait()
	select {
	case d := <-s.dials:
		return d
	default:
		s.t.Fatal("the box calls nobody")
		return nil
	}
}

// talking returns the chat that has begun.
func (s *stage) talking() *talk {
	s.t.Helper()
	synctest.Wait()
	select {
	case c := <-s.desk.opened:
		return c
	default:
		s.t.Fatal("no chat has begun")
		return nil
	}
}

// caller is somebody who calls the box.
type caller struct {
	leg *leg

	mu       sync.Mutex
	rang     bool
	picked   bool
	rejected int
	retry    time.Duration
	slow     bool // gives up before the box answers
}

func (c *caller) Ring() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rang = true
	return nil
}

func (c *caller) Reject(status int, retryAfter time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rejected, c.retry = status, retryAfter
	return nil
}

func (c *caller) Answer(ctx context.Context) (Leg, error) {
	if c.slow {
		return nil, errors.New("the caller gave up")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.picked = true
	return c.leg, nil
}

// leg is a fake telephone, which plays in simulated time.
type leg struct {
	done chan struct{}
	once sync.Once

	mu       sync.Mutex
	hear     func([]float32)
	press    func(rune)
	onHold   func(bool)
	onPlayed func(string, time.Duration)
	until    time.Time // when all that was played has been heard
	relayed  int       // samples
	pressed  string
	referred string
	refer    error
	cuts     int
	hungUp   bool
	why      error
	panics   bool
	deaf     bool // the box never learns that it was heard
}

func newLeg() *leg { return &leg{done: make(chan struct{})} }

func (l *leg) Listen(hear func([]float32), press func(rune)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hear, l.press = hear, press
}

func (l *leg) Play(s contract.Sound) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.panics {
		panic("the leg")
	}
	if now := time.Now(); l.until.Before(now) {
		l.until = now
	}
	l.until = l.until.Add(time.Duration(len(s.PCM)) * time.Second / contract.OutputRateHz)
	if l.onPlayed != nil && s.Last {
		l.onPlayed(s.ID, time.Second)
	}
	return nil
}

func (l *leg) HeldBack() int { return 0 }

func (l *leg) Unsent() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(0, time.Until(l.until))
}

func (l *leg) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = time.Time{}
	l.cuts++
}

func (l *leg) Drained() <-chan struct{} {
	heard := make(chan struct{})
	if l.deaf {
		return heard
	}
	time.AfterFunc(l.Unsent(), func() { close(heard) })
	return heard
}

func (l *leg) OnPlayed(f func(string, time.Duration)) { l.onPlayed = f }
func (l *leg) OnHold(f func(bool))                    { l.onHold = f }

func (l *leg) Relay(pcm []float32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.relayed += len(pcm)
}

func (l *leg) Press(_ context.Context, digits string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pressed += digits
	return nil
}

func (l *leg) Transfer(_ context.Context, to string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.referred = to
	return l.refer
}

func (l *leg) HangUp() { l.end(true, nil) }

func (l *leg) end(byBox bool, why error) {
	l.once.Do(func() {
		l.mu.Lock()
		l.hungUp, l.why = byBox, why
		l.mu.Unlock()
		close(l.done)
	})
}

func (l *leg) Done() <-chan struct{} { return l.done }

func (l *leg) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.why
}

func (l *leg) Stats() contract.PhoneMedia { return contract.PhoneMedia{Codec: "PCMU", PacketsLost: 3} }

// sent are what the box has sent to a leg besides sound.
type sent struct {
	relayed           int // samples
	pressed, referred string
}

func (l *leg) sent() sent {
	l.mu.Lock()
	defer l.mu.Unlock()
	return sent{l.relayed, l.pressed, l.referred}
}

// over reports whether the call is over, and who ended it.
func (l *leg) over() (over, byBox bool) {
	synctest.Wait()
	select {
	case <-l.done:
		l.mu.Lock()
		defer l.mu.Unlock()
		return true, l.hungUp
	default:
		return false, false
	}
}

// speaks lets the person speak, or be silent, in frames of 20 ms.
func (l *leg) speaks(d time.Duration, loud bool) {
	const frame = engine.SpeechRateHz / 50
	for range d / (20 * time.Millisecond) {
		time.Sleep(20 * time.Millisecond)
		pcm := make([]float32, frame)
		for i := range pcm {
			if loud {
				pcm[i] = 0.5 - float32(i/20%2)
			}
		}
		l.hear(pcm)
		synctest.Wait()
	}
}

// keys lets the person press keys, one each 200 ms.
func (l *leg) keys(keys string) {
	for _, k := range keys {
		l.press(k)
		time.Sleep(200 * time.Millisecond)
	}
	synctest.Wait()
}

// loudIsVoice treats loud frames as voice.
func loudIsVoice(frame []float32) (float32, error) { return enginetest.LevelDetector(0.2)(frame) }

// heardWords are the transcriber's results, in order.
type heardWords struct {
	mu    sync.Mutex
	texts []string
}

func (w *heardWords) say(texts ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, texts...)
}

func (w *heardWords) Transcribe(context.Context, []float32, engine.TranscribeOptions) (engine.Transcript, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.texts) == 0 {
		return engine.Transcript{}, nil
	}
	text := w.texts[0]
	w.texts = w.texts[1:]
	return engine.Transcript{Text: text, Language: "en"}, nil
}

// speaks is a voice that speaks ten characters a second.
type speaks struct {
	mu   sync.Mutex
	said []string
}

func (v *speaks) Language() string { return "en" }

func (v *speaks) Speak(_ context.Context, text string, play func([]float32) error) error {
	v.mu.Lock()
	v.said = append(v.said, text)
	v.mu.Unlock()
	return play(make([]float32, len(text)*contract.OutputRateHz/10))
}

// heard returns what the voice has said since the last call.
func (s *stage) spoken() string {
	synctest.Wait()
	v := s.who.Voice.(*speaks)
	v.mu.Lock()
	defer v.mu.Unlock()
	said := strings.Join(v.said, " ")
	v.said = nil
	return said
}

// logged is a log.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) contains(words string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), words)
}

// desk is a host whose chats a test controls.
type desk struct {
	opened  chan *talk
	refuses error

	mu    sync.Mutex
	taken int
	live  []*talk
}

func (d *desk) Reserve(string) (line.Slot, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refuses != nil {
		return nil, d.refuses
	}
	d.taken++
	return &chair{d: d}, nil
}

func (d *desk) slots() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.taken
}

// stop ends all chats, like a box that stops.
func (d *desk) stop() {
	d.mu.Lock()
	live := slices.Clone(d.live)
	d.mu.Unlock()
	for _, t := range live {
		t.end(contract.CloseNormal)
	}
}

type chair struct {
	d    *desk
	once sync.Once
}

func (c *chair) Release() {
	c.once.Do(func() {
		c.d.mu.Lock()
		defer c.d.mu.Unlock()
		c.d.taken--
	})
}

func (c *chair) Open(_ context.Context, o connection.Opening) (line.Session, error) {
	t := &talk{Opening: o, chair: c, done: make(chan struct{})}
	c.d.mu.Lock()
	c.d.live = append(c.d.live, t)
	c.d.mu.Unlock()
	_ = o.Line.Send(context.Background(), contract.ChatMetadata{ChatID: "chat"})
	c.d.opened <- t
	return t, nil
}

// talk is a chat that records what it gets.
type talk struct {
	connection.Opening
	chair *chair
	done  chan struct{}
	once  sync.Once

	mu     sync.Mutex
	got    []contract.ClientMessage
	heard  int // samples
	loud   int // those that are loud
	played string
	left   bool
	panics bool
}

func (t *talk) Receive(m contract.ClientMessage) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.got = append(t.got, m)
	return nil
}
func (t *talk) Audio() *contract.AudioConfiguration { return nil }
func (t *talk) Fault(contract.Code, string) error   { return nil }
func (t *talk) Done() <-chan struct{}               { return t.done }
func (t *talk) CutOff(error)                        { t.end(contract.CloseNormal) }
func (t *talk) HangUp() {
	t.mu.Lock()
	t.left = true
	t.mu.Unlock()
	t.end(contract.CloseNormal)
}
func (t *talk) Played(id string, _ time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.played = id
}

func (t *talk) Hear(pcm []float32) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.panics {
		panic("the ear")
	}
	t.heard += len(pcm)
	for _, v := range pcm {
		if v > 0.2 || v < -0.2 {
			t.loud++
		}
	}
	return nil
}

// voice returns how much was heard, and how much of it was loud.
func (t *talk) voice() (heard, loud time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Duration(t.heard) * time.Second / engine.SpeechRateHz,
		time.Duration(t.loud) * time.Second / engine.SpeechRateHz
}

// messages returns the messages that the chat got since the last call.
func (t *talk) messages() []contract.ClientMessage {
	synctest.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	got := t.got
	t.got = nil
	return got
}

func (t *talk) end(code int) {
	t.once.Do(func() {
		t.Line.Close(code, "")
		t.chair.Release()
		close(t.done)
	})
}

func (t *talk) over() bool {
	synctest.Wait()
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// says lets the assistant speak for d.
func (t *talk) says(id string, d time.Duration) error {
	pcm := make([]float32, int(d*contract.OutputRateHz/time.Second))
	return t.Line.Play(context.Background(), contract.Sound{ID: id, PCM: pcm, Last: true})
}

// broken is a voice that fails.
type broken struct{}

func (broken) Language() string { return "en" }

func (broken) Speak(context.Context, string, func([]float32) error) error {
	return errors.New("no voice")
}

// crashing is a voice that panics.
type crashing struct{}

func (crashing) Language() string { return "en" }

func (crashing) Speak(context.Context, string, func([]float32) error) error { panic("the voice") }
