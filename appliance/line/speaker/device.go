package speaker

import (
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"time"
)

// kind is one of the two devices.
type kind int

const (
	input kind = iota
	output
)

func (k kind) String() string {
	if k == input {
		return "microphone"
	}
	return "loudspeaker"
}

// change reports that a device has appeared or disappeared.
type change struct {
	kind  kind
	there bool
}

const (
	// microphoneQueue bounds the pieces of sound from the microphone that wait, to one
	// second. More is dropped and replaced by silence, because a longer delay would break
	// the conversation.
	microphoneQueue = 100
	// InPeriodMS is the length of the microphone's pieces of sound, and InHoldMS how much
	// it buffers while the machine is too busy to take them.
	InPeriodMS, InHoldMS = 10, 500
	// beatInterval is how often a device is checked for life: a stream that a sound server
	// has dropped reports nothing, it just falls silent.
	beatInterval = time.Second
	// firstRetry and lastRetry bound the interval between attempts to open a missing
	// device, which doubles each time. Five seconds after plugging in is soon enough, and
	// costs nothing.
	firstRetry, lastRetry = 500 * time.Millisecond, 5 * time.Second
	// stableAfter is how long a device has to work for the interval to start over.
	stableAfter = 10 * time.Second
)

// opener opens a device. beats counts up while it works; stopped is called if it reports
// that it has stopped.
type opener func(beats *atomic.Int64, stopped func()) (device io.Closer, name string, err error)

// incoming is a piece of sound of the microphone.
type incoming struct {
	pcm  []float32 // at rateHz
	at   time.Time // time of arrival
	lost int       // samples dropped before it
}

func (s *Speaker) openInput(beats *atomic.Int64, stopped func()) (io.Closer, string, error) {
	lost := 0 // used by the device's thread
	return s.Cards.Record(func(in []float32) {
		beats.Add(1)
		select {
		case s.microphone <- incoming{slices.Clone(in), time.Now(), lost}:
			lost = 0
		default: // one second waits
			lost = min(lost+len(in), rateHz)
		}
	}, stopped)
}

func (s *Speaker) openOutput(beats *atomic.Int64, stopped func()) (io.Closer, string, error) {
	return s.Cards.Play(s.playout.openBuffer(), func(out []float32) {
		beats.Add(1)
		s.playout.fill(out)
	}, stopped)
}

// keepOpen keeps a device open until the line ends, and reopens it when it is lost.
func (s *Speaker) keepOpen(k kind, open opener) {
	log := s.Log.With("device", k.String())
	wait, said := firstRetry, ""
	for s.gone.Err() == nil {
		var beats atomic.Int64
		stopped := make(chan struct{}, 1)
		begun := time.Now()
		device, name, err := open(&beats, func() { notify(stopped) })
		if err == nil {
			if said == "" {
				log.Info("a sound device is open", "name", name)
			} else {
				log.Info("a sound device is back", "name", name)
			}
			said = ""
			s.setDevice(k, name, nil)
			err = s.watchDevice(k, &beats, stopped)
		}
		if errors.Is(err, errReopen) {
			log.Info("loudspeaker underrun: enlarging its buffer", "ms", s.playout.nextBuffer().Milliseconds())
			_ = device.Close()
			continue
		}
		if err != nil && s.gone.Err() == nil {
			s.setDevice(k, name, err) // before Close, which a hanging sound server may block
			if err.Error() != said {
				said = err.Error()
				log.Error("cannot open a sound device; trying again", "err", err)
			}
		}
		if device != nil {
			_ = device.Close()
		}
		if time.Since(begun) > stableAfter {
			wait = firstRetry
		}
		s.sleep(wait)
		wait = min(2*wait, lastRetry)
	}
}

// watchDevice returns when a device does not work any more, with the reason, or nil when
// the line ends.
func (s *Speaker) watchDevice(k kind, beats *atomic.Int64, stopped <-chan struct{}) error {
	var again chan struct{}
	if k == output {
		again = s.playout.reopen
	}
	look := time.NewTicker(beatInterval)
	defer look.Stop()
	last := int64(-1)
	for silent := 0; ; {
		select {
		case <-s.gone.Done():
			return nil
		case <-stopped:
			return errStopped
		case <-again:
			return errReopen
		case <-look.C:
			now := beats.Load()
			if now != last {
				last, silent = now, 0
				continue
			}
			if silent++; silent >= maxMissedBeats {
				return errNoBeats
			}
		}
	}
}

// maxMissedBeats is the number of missed beats in a row after which a device counts as
// lost. A loaded machine may delay everything by a second, and some sound servers take two
// to start.
const maxMissedBeats = 3

// setDevice publishes the state of a device.
func (s *Speaker) setDevice(k kind, name string, err error) {
	s.status.set(func(n *Status) {
		d := &n.Input
		if k == output {
			d = &n.Output
		}
		*d = DeviceStatus{Name: name, Open: err == nil}
		if err != nil {
			d.Trouble = err.Error()
		}
	})
	select {
	case s.changes <- change{k, err == nil}:
	case <-s.gone.Done():
	}
}

// sleep waits for d, or until the line ends.
func (s *Speaker) sleep(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.gone.Done():
	}
}

func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
