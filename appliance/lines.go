package appliance

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	pion "github.com/pion/webrtc/v4"

	"parley/appliance/api"
	"parley/appliance/audio/clean"
	"parley/appliance/audio/soundcard"
	"parley/appliance/box"
	"parley/appliance/chat"
	"parley/appliance/config"
	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/line/speaker"
	"parley/appliance/line/webrtc"
	"parley/appliance/line/ws"
	"parley/appliance/voices"
)

// openLines opens the lines for clients: WebSocket, and WebRTC unless the settings
// turn it off.
func (a *appliance) openLines() (err error) {
	a.sockets = ws.NewServer(a.admission, a.cfg.Origins, ws.Timing{}, a.log)
	if a.calls, err = a.openCalls(); err != nil {
		return err
	}
	a.onClose(a.calls.cutOff)
	if err := a.openPhone(); err != nil {
		return err
	}
	a.kiosk = &kiosk{enabled: a.cfg.Kiosk.Enabled}
	return nil
}

// openCalls listens for calls over WebRTC: at the address of the settings, or at that
// of HTTP.
func (a *appliance) openCalls() (calls, error) {
	at := a.cfg.WebRTC.Listen
	if at == config.Off {
		return calls{}, nil
	}
	n := webrtc.Network{Address: at, Public: a.cfg.WebRTC.Public}
	if len(a.cfg.WebRTC.Servers) > 0 {
		n.Servers = []pion.ICEServer{{
			URLs:       a.cfg.WebRTC.Servers,
			Username:   a.cfg.WebRTC.Username,
			Credential: os.Getenv(a.cfg.WebRTC.PasswordEnv),
		}}
	}
	if at == "" {
		n.Address = a.listener.Addr().String()
	}
	s, err := webrtc.Open(a.admission, n, webrtc.Timing{}, a.log)
	if err != nil && at == "" && strings.HasSuffix(a.cfg.Listen, ":0") {
		// The system chose a port that is free for TCP; UDP gets its own.
		host, _, _ := net.SplitHostPort(n.Address)
		n.Address = net.JoinHostPort(host, "0")
		s, err = webrtc.Open(a.admission, n, webrtc.Timing{}, a.log)
	}
	return calls{s}, err
}

// calls are the calls over WebRTC. The zero value takes none.
type calls struct{ *webrtc.Server }

// api returns nil where the box takes no calls.
func (c calls) api() api.Calls {
	if c.Server == nil {
		return nil
	}
	return c
}

// Close waits for the calls to end.
func (c calls) Close(ctx context.Context) error {
	if c.Server == nil {
		return nil
	}
	return c.Server.Close(ctx)
}

// cutOff ends the calls at once, if Close did not end them before.
func (c calls) cutOff() { _ = c.Close(ended()) }

// ended returns a context that has ended.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// startPhone lets calls by telephone in.
func (a *appliance) startPhone() {
	a.phone.start(voices.NewForChats(a.voices, a.engines, a.log), a.engines.Detector, a.engines.Transcriber)
}

// control gives the API access to chats: it starts chats over WebSockets, and lets
// other clients follow and steer live chats.
type control struct {
	*ws.Server
	admission *admission
}

// Follow serves a client that connects to a live chat of the account.
func (c control) Follow(w http.ResponseWriter, r *http.Request, account, chatID string, sound bool,
	auth connection.Authorization) error {
	session, err := c.live(account, chatID)
	if err != nil {
		return err
	}
	if !session.Info().Connectable {
		return contract.ErrForbidden{
			Why: "the client of this chat lets nobody connect to it; it has to open it with allow_connection=true"}
	}
	return c.Server.Follow(w, r, followed{session}, sound, auth)
}

// Steer sends a message to a live chat of the account, as its client does.
func (c control) Steer(account, chatID string, m contract.ClientMessage) error {
	session, err := c.live(account, chatID)
	if err != nil {
		return err
	}
	return followed{session}.Steer(m)
}

// Turns returns the newest turns of a live chat of the account.
func (c control) Turns(account, chatID string) ([]contract.ReturnTurn, error) {
	session, err := c.live(account, chatID)
	if err != nil {
		return nil, err
	}
	return session.Turns(), nil
}

// live finds a live chat of the account. A chat of another account is not found.
func (c control) live(account, chatID string) (*chat.Session, error) {
	if host := c.admission.host.Load(); host != nil {
		if s, ok := host.Find(chatID); ok && s.Info().Account == account {
			return s, nil
		}
	}
	return nil, notLive(chatID)
}

// notLive is the error for a chat that has ended and for one that never was.
func notLive(chatID string) error { return contract.ErrNotFound{What: "live chat", ID: chatID} }

// followed is a chat.Session with the types of package ws.
type followed struct{ session *chat.Session }

// Listen returns a listener that receives all messages to the chat's client.
func (f followed) Listen(sound bool) (ws.Listener, error) {
	l, err := f.session.Listen(sound)
	if errors.Is(err, chat.ErrOver) {
		return nil, notLive(f.session.ID())
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Steer sends a message to the chat, as its client does.
func (f followed) Steer(m contract.ClientMessage) error {
	err := f.session.Steer(m)
	if errors.Is(err, chat.ErrOver) {
		return notLive(f.session.ID())
	}
	return err
}

// kiosk is the line of the box's own loudspeaker and microphone. Its routes are open
// before the line is, and answer 503 until then.
type kiosk struct {
	line    atomic.Pointer[speaker.Speaker]
	enabled bool
}

// soundThreads is how many threads may run Go code beyond one a core. The threads of
// the loudspeaker and the microphone have priority in the system, but they would wait
// for a Go thread that the system has suspended.
const soundThreads = 2

// startKiosk opens the line of the kiosk if the settings enable one.
func (a *appliance) startKiosk() {
	k := a.cfg.Kiosk
	if !k.Enabled {
		return
	}
	log := a.log.With("line", "speaker")
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), runtime.NumCPU()+soundThreads))
	var cleaner speaker.Cleaner
	c, err := clean.Open(clean.Options{RateHz: engine.SpeechRateHz, Noise: clean.MildNoise, Gain: true})
	if err != nil {
		log.Error("no echo cancellation: the box will hear its own loudspeaker", "err", err)
	} else {
		cleaner = c
	}
	a.kiosk.line.Store(speaker.Open(speaker.Parts{
		Cards:   cards{k, new(soundcard.Opener)},
		Cleaner: cleaner,
		Host:    a.admission,
		Who: func(ctx context.Context) (account string, settings contract.ConnectSettings, err error) {
			return box.KioskChat(ctx, a.records, k)
		},
		Detector:    a.engines.Detector,
		Transcriber: a.engines.Transcriber,
		Buttons:     buttons(k, a.console.Terminal),
		Log:         log,
	}, speaker.Options{
		Start:    speaker.Start(k.Start),
		Phrases:  k.Phrases,
		Silence:  time.Duration(k.SilenceS) * time.Second,
		Cue:      speaker.Cue(k.Cue),
		Greeting: k.Greeting,
		Farewell: k.Farewell,
	}))
	a.onClose(a.kiosk.cutOff)
}

// buttons returns the buttons of the settings, and the Enter key of the terminal if a
// key starts a chat.
func buttons(k config.Kiosk, terminal bool) []speaker.Button {
	var all []speaker.Button
	if k.Keyboard != "" {
		all = append(all, speaker.Keyboard(k.Keyboard))
	}
	if g := k.GPIO; g != (config.GPIO{}) {
		all = append(all, speaker.GPIO(g.Chip, g.Line, g.High))
	}
	if k.Start == config.KioskOnKey && terminal {
		all = append(all, speaker.Terminal())
	}
	return all
}

// cards opens the sound devices of the settings.
type cards struct {
	kiosk config.Kiosk
	on    *soundcard.Opener
}

// outPeriodMS is about how much sound the loudspeaker requests at a time.
const outPeriodMS = 15

// Play opens the loudspeaker.
func (c cards) Play(holds time.Duration, fill func([]float32), stopped func()) (io.Closer, string, error) {
	return named(c.on.Play(soundcard.Config{
		Device:   c.kiosk.Output,
		PeriodMS: outPeriodMS,
		HoldMS:   int(holds.Milliseconds()),
		Name:     "Parley",
	}, fill, stopped))
}

// Record opens the microphone.
func (c cards) Record(heard func([]float32), stopped func()) (io.Closer, string, error) {
	return named(c.on.Record(soundcard.Config{
		Device:   c.kiosk.Input,
		PeriodMS: speaker.InPeriodMS,
		HoldMS:   speaker.InHoldMS,
		Name:     "Parley",
	}, heard, stopped))
}

func named(s *soundcard.Stream, err error) (io.Closer, string, error) {
	if err != nil {
		return nil, "", err
	}
	return s, s.Device.Name, nil
}

// api returns nil where the box has no kiosk.
func (k *kiosk) api() api.BoxSpeaker {
	if !k.enabled {
		return nil
	}
	return k
}

// with calls do with the line, if it is open.
func (k *kiosk) with(do func(*speaker.Speaker)) error {
	s := k.line.Load()
	if s == nil {
		return errLoading
	}
	do(s)
	return nil
}

// Begin starts a chat.
func (k *kiosk) Begin() error { return k.with((*speaker.Speaker).Begin) }

// End ends the chat.
func (k *kiosk) End() error { return k.with((*speaker.Speaker).End) }

// Status returns the state of the line.
func (k *kiosk) Status() (now contract.BoxKiosk, err error) {
	err = k.with(func(s *speaker.Speaker) {
		status := s.Status()
		now = contract.BoxKiosk{
			State:  string(status.State),
			ChatID: status.ChatID,
			Input:  contract.BoxDevice(status.Input),
			Output: contract.BoxDevice(status.Output),
		}
	})
	return now, err
}

// Close waits for the chat to end, and closes the line.
func (k *kiosk) Close(ctx context.Context) {
	if s := k.line.Load(); s != nil {
		s.Close(ctx)
	}
}

// cutOff ends the chat at once, if Close did not end it before.
func (k *kiosk) cutOff() { k.Close(ended()) }
