package speaker

import (
	"context"
	"errors"
	"io"
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

// stage is a Speaker with fake devices and conversations, in simulated time. It hears
// silence unless a person speaks.
type stage struct {
	*Speaker
	t     *testing.T
	cards *fakeCards
	desk  *desk
	said  *heardWords
	log   *logged
}

// perform runs a test on a stage.
func perform(t *testing.T, o Options, play func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{
			t:     t,
			cards: &fakeCards{there: [2]bool{true, true}},
			desk:  &desk{opened: make(chan *talk, 9)},
			said:  &heardWords{},
			log:   &logged{},
		}
		if o.Silence == 0 {
			o.Silence = 20 * time.Second
		}
		if o.Cue == "" {
			o.Cue = NoCue
		}
		s.Speaker = Open(Parts{
			Cards:       s.cards,
			Host:        s.desk,
			Detector:    enginetest.Detector(loudIsVoice),
			Transcriber: s.said,
			Log:         slog.New(slog.NewTextHandler(s.log, nil)),
			Who: func(context.Context) (string, contract.ConnectSettings, error) {
				return "museum", contract.ConnectSettings{ConfigID: "guide"}, nil
			},
		}, o)
		synctest.Wait()
		play(s)
		s.desk.stop()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s.Close(ctx)
		if n := s.desk.seats(); n != 0 {
			t.Errorf("%d slots were not released", n)
		}
		if n := s.cards.open(); n != 0 {
			t.Errorf("%d devices were left open", n)
		}
	})
}

// pass lets time pass, in which the devices play and record; loud: a person speaks.
func (s *stage) pass(d time.Duration, loud bool) {
	s.t.Helper()
	const step = 10 * time.Millisecond
	for range d / step {
		time.Sleep(step)
		s.cards.step(loud)
		synctest.Wait()
	}
}

// talking returns the conversation that has begun.
func (s *stage) talking() *talk {
	s.t.Helper()
	synctest.Wait()
	select {
	case c := <-s.desk.opened:
		return c
	default:
		s.t.Fatal("no conversation has begun")
		return nil
	}
}

// quiet fails the test if a conversation has begun.
func (s *stage) quiet() {
	s.t.Helper()
	synctest.Wait()
	if len(s.desk.opened) > 0 {
		s.t.Fatal("a conversation has begun")
	}
}

// fakeCards are devices that the test plugs in and out.
type fakeCards struct {
	mu      sync.Mutex
	there   [2]bool
	opened  [2]int // how often
	now     int
	heard   func([]float32)
	fill    func([]float32)
	stopped [2]func()
	played  []float32
	frozen  bool
	poison  bool // the detector panics on this sound
}

func (c *fakeCards) take(k kind, stopped func()) (io.Closer, string, error) {
	if !c.there[k] {
		return nil, "", errors.New("no " + k.String() + " is called that: there are none")
	}
	c.opened[k]++
	c.now++
	c.stopped[k] = stopped
	return closing(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.now--
		if k == input {
			c.heard = nil
		} else {
			c.fill = nil
		}
	}), "Fake " + k.String(), nil
}

type closing func()

func (c closing) Close() error { c(); return nil }

func (c *fakeCards) Play(_ time.Duration, fill func([]float32), stopped func()) (io.Closer, string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d, name, err := c.take(output, stopped)
	if err == nil {
		c.fill = fill
	}
	return d, name, err
}

func (c *fakeCards) Record(heard func([]float32), stopped func()) (io.Closer, string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d, name, err := c.take(input, stopped)
	if err == nil {
		c.heard = heard
	}
	return d, name, err
}

func (c *fakeCards) open() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// step simulates 10 ms of the devices.
func (c *fakeCards) step(loud bool) {
	c.mu.Lock()
	heard, fill, frozen := c.heard, c.fill, c.frozen
	c.mu.Unlock()
	if frozen {
		return
	}
	out := make([]float32, rateHz/100)
	if fill != nil {
		fill(out)
		c.played = append(c.played, out...)
	}
	if heard != nil {
		in := make([]float32, rateHz/100)
		for i := range in {
			if c.poison {
				in[i] = 9
				continue
			}
			if loud { // a square wave, which survives the resampler
				in[i] = 0.5 - float32(i/60%2)
			}
		}
		heard(in)
	}
}

// unplug removes a device; told: the system reports it.
func (c *fakeCards) unplug(k kind, told bool) {
	c.mu.Lock()
	c.there[k] = false
	stopped := c.stopped[k]
	if k == input {
		c.heard = nil
	} else {
		c.fill = nil
	}
	c.mu.Unlock()
	if told {
		stopped()
	}
}

func (c *fakeCards) plug(k kind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.there[k] = true
}

// loudIsVoice treats loud frames as voice.
func loudIsVoice(frame []float32) (float32, error) {
	if slices.Max(frame) > 3 {
		panic("the detector")
	}
	return enginetest.LevelDetector(0.2)(frame)
}

// heardWords are the transcriber's results, in order.
type heardWords struct {
	mu    sync.Mutex
	texts []string
	asked int
}

func (w *heardWords) say(texts ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, texts...)
}

func (w *heardWords) Transcribe(context.Context, []float32, engine.TranscribeOptions) (engine.Transcript, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	if len(w.texts) == 0 {
		return engine.Transcript{}, nil
	}
	text := w.texts[0]
	w.texts = w.texts[1:]
	return engine.Transcript{Text: text, Language: "en"}, nil
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

func (l *logged) count(words string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), words)
}

// desk is a host whose conversations a test controls.
type desk struct {
	opened  chan *talk
	refuses error

	mu    sync.Mutex
	taken int
	live  []*talk
}

func (d *desk) Reserve(account string) (line.Slot, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refuses != nil {
		return nil, d.refuses
	}
	d.taken++
	return &chair{d: d}, nil
}

func (d *desk) refuse(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refuses = err
}

func (d *desk) seats() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.taken
}

// stop ends all conversations, like a box that shuts down.
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
	t := &talk{
		Opening: o,
		chair:   c,
		done:    make(chan struct{}),
		got:     make(chan contract.ClientMessage, 9),
	}
	c.d.mu.Lock()
	c.d.live = append(c.d.live, t)
	c.d.mu.Unlock()
	c.d.opened <- t
	return t, nil
}

// talk is a session that records what it gets.
type talk struct {
	connection.Opening
	chair *chair
	done  chan struct{}
	once  sync.Once
	got   chan contract.ClientMessage

	mu     sync.Mutex
	heard  int // samples
	loud   int // those that are loud
	id     string
	played time.Duration
	panics bool
}

func (t *talk) Receive(m contract.ClientMessage) error { t.got <- m; return nil }
func (t *talk) Audio() *contract.AudioConfiguration    { return nil }
func (t *talk) Fault(contract.Code, string) error      { return nil }
func (t *talk) Done() <-chan struct{}                  { return t.done }
func (t *talk) HangUp()                                { t.end(contract.CloseNormal) }
func (t *talk) CutOff(error)                           { t.end(contract.CloseNormal) }
func (t *talk) Played(id string, upTo time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.id, t.played = id, upTo
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

func (t *talk) sound() (heard, loud time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Duration(t.heard) * time.Second / earHz, time.Duration(t.loud) * time.Second / earHz
}

func (t *talk) told() (id string, upTo time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.id, t.played
}

func (t *talk) end(code int) {
	t.once.Do(func() {
		t.Line.Close(code, "")
		t.chair.Release()
		close(t.done)
	})
}

func (t *talk) over() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// user reports words of the user, as the session does.
func (t *talk) user(text string) {
	_ = t.Line.Send(context.Background(),
		contract.UserMessage{Language: "en", Message: contract.ChatMessage{Role: contract.RoleUser, Content: text}})
}

// says lets the assistant speak for d.
func (t *talk) says(id string, d time.Duration) error {
	pcm := make([]float32, int(d*rateHz/time.Second))
	for i := range pcm {
		pcm[i] = 0.1
	}
	if err := t.Line.Play(context.Background(), contract.Sound{ID: id, PCM: pcm, Last: true}); err != nil {
		return err
	}
	return t.Line.Send(context.Background(), contract.AssistantEnd{})
}
