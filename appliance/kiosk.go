package appliance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"sync/atomic"
	"time"

	"parley/appliance/api"
	"parley/appliance/audio/clean"
	"parley/appliance/audio/soundcard"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engines"
	aloud "parley/appliance/line/speaker"
	"parley/store"
)

// openKiosk opens the line of the box's own speaker, where the settings want it.
func openKiosk(cfg config.Config, opened *engines.Set, admission *admission, records *store.Store, terminal bool,
	log *slog.Logger) kiosk {
	k := cfg.Kiosk
	if !k.Enabled {
		return kiosk{}
	}
	log = log.With("line", "speaker")
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), runtime.NumCPU()+soundThreads))
	var cleaner aloud.Cleaner
	if c, err := clean.Open(clean.Options{RateHz: engine.SpeechRateHz, Noise: clean.MildNoise,
		Gain: true}); err != nil {
		log.Error("the box hears itself: the echo of its loudspeaker cannot be taken out", "err", err)
	} else {
		cleaner = c
	}
	return kiosk{aloud.Open(aloud.Parts{
		Cards:       cards{&k, new(soundcard.Sticky)},
		Cleaner:     cleaner,
		Host:        admission,
		Who:         visitor{k, records}.who,
		Detector:    opened.Detector,
		Transcriber: opened.Transcriber,
		Buttons:     buttons(k, terminal),
		Log:         log,
	}, aloud.Options{
		Start:    aloud.Start(k.Start),
		Phrases:  k.Phrases,
		Silence:  time.Duration(k.SilenceS) * time.Second,
		Cue:      aloud.Cue(k.Cue),
		Greeting: k.Greeting,
		Farewell: k.Farewell,
	})}
}

// soundThreads is how many threads of Go may run beyond one a core: those of the
// loudspeaker and the microphone go before all others at the system, and would wait
// all the same for one of Go's that the system has put off, for as long as it does.
const soundThreads = 2

// buttons are those that the settings name, and Enter, where a key begins a
// conversation and there is a terminal.
func buttons(k config.Kiosk, terminal bool) []aloud.Button {
	var all []aloud.Button
	if k.Keyboard != "" {
		all = append(all, aloud.Keyboard(k.Keyboard))
	}
	if g := k.GPIO; g != (config.GPIO{}) {
		all = append(all, aloud.GPIO(g.Chip, g.Line, g.High))
	}
	if k.Start == config.KioskOnKey && terminal {
		all = append(all, aloud.Terminal())
	}
	return all
}

// cards are the devices that the settings name.
type cards struct {
	kiosk *config.Kiosk
	on    *soundcard.Sticky
}

// outPeriodMS is about how much sound the loudspeaker asks for at a time.
const outPeriodMS = 15

// Play opens the loudspeaker.
func (c cards) Play(holds time.Duration, fill func([]float32), stopped func()) (io.Closer, string, error) {
	return named(c.on.Play(soundcard.Wanted{
		Device:   c.kiosk.Output,
		PeriodMS: outPeriodMS,
		HoldMS:   int(holds.Milliseconds()),
		Name:     "Parley",
	}, fill, stopped))
}

// Record opens the microphone.
func (c cards) Record(heard func([]float32), stopped func()) (io.Closer, string, error) {
	return named(c.on.Record(soundcard.Wanted{
		Device:   c.kiosk.Input,
		PeriodMS: aloud.InPeriodMS,
		HoldMS:   aloud.InHoldMS,
		Name:     "Parley",
	}, heard, stopped))
}

func named(s *soundcard.Stream, err error) (io.Closer, string, error) {
	if err != nil {
		return nil, "", err
	}
	return s, s.Device.Name, nil
}

// visitor is who stands in front of the box.
type visitor struct {
	kiosk   config.Kiosk
	records *store.Store
}

// who is the account and the config that the settings name. They are looked up
// each time: both may be made, and changed, while the box runs.
func (v visitor) who(ctx context.Context) (account string, settings contract.ConnectSettings, err error) {
	ctx, cancel := context.WithTimeout(ctx, trying)
	defer cancel()
	a, err := v.records.Account(ctx, v.kiosk.Account)
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("kiosk.account: there is no account %.80q: parley keys list shows those that are",
			v.kiosk.Account)
	}
	if err == nil && v.kiosk.Config != "" {
		if settings.ConfigID, err = ConfigID(ctx, v.records, a, v.kiosk.Config); err != nil {
			err = fmt.Errorf("kiosk.config_id: %w", err)
		}
	}
	return a.ID, settings, err
}

// ConfigID is the id of the config of an account that is meant by an id or a name.
// The error says what there is.
func ConfigID(ctx context.Context, s *store.Store, a store.Account, named string) (string, error) {
	if _, err := s.ResourceName(ctx, a.ID, store.KindConfig, named); err == nil {
		return named, nil
	}
	all, _, err := s.List(ctx, a.ID, store.ResourceFilter{Kind: store.KindConfig, Name: named}, store.Page{Size: 2})
	if err != nil {
		return "", err
	}
	switch len(all) {
	case 0:
		return "", fmt.Errorf("account %s has no config whose id or name is %.80q; GET /v0/evi/configs lists them",
			a.Name, named)
	case 1:
		return all[0].ID, nil
	}
	return "", fmt.Errorf("several configs are called %.80q: give the id of one", named)
}

// kiosk is the line of the box's own speaker; the zero value is none.
type kiosk struct{ *aloud.Speaker }

// Close waits for its conversation to end.
func (k kiosk) Close(ctx context.Context) {
	if k.Speaker != nil {
		k.Speaker.Close(ctx)
	}
}

// cutOff ends it at once, where that was not done in order.
func (k kiosk) cutOff() {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	k.Close(now)
}

// kioskDoor is the way to the kiosk over HTTP: it is there before the kiosk is.
type kioskDoor struct {
	atomic.Pointer[aloud.Speaker]
	enabled bool
}

// api is the door as the API has it.
func (d *kioskDoor) api() api.BoxSpeaker {
	if !d.enabled {
		return nil
	}
	return d
}

// through does something with the kiosk.
func (d *kioskDoor) through(do func(*aloud.Speaker)) error {
	s := d.Load()
	if s == nil {
		return contract.ErrUnavailable{Why: "the models are being loaded", RetryAfter: warming}
	}
	do(s)
	return nil
}

// Begin begins a conversation.
func (d *kioskDoor) Begin() error { return d.through((*aloud.Speaker).Begin) }

// End ends it.
func (d *kioskDoor) End() error { return d.through((*aloud.Speaker).End) }

// Status is how the kiosk is.
func (d *kioskDoor) Status() (now contract.BoxKiosk, err error) {
	err = d.through(func(s *aloud.Speaker) {
		is := s.Status()
		now = contract.BoxKiosk{
			State:  string(is.State),
			ChatID: is.ChatID,
			Input:  contract.BoxDevice(is.Input),
			Output: contract.BoxDevice(is.Output),
		}
	})
	return now, err
}
