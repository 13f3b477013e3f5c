package speaker

import (
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"time"
)

// kind is which of the two devices.
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

// change is a device that has come or gone.
type change struct {
	kind  kind
	there bool
}

const (
	// mostHeard is how many pieces of sound from the microphone may wait, a second of
	// them: more is dropped, for a conversation that is later than that is none, and
	// silence stands for it.
	mostHeard = 100
	// InPeriodMS is how much sound the microphone hands over at a time, and InHoldMS
	// how much it holds where the machine is too busy to take it.
	InPeriodMS, InHoldMS = 10, 500
	// lifeless is how often a device is looked at for whether it still lives: a
	// stream that a sound server has thrown out says nothing, it falls silent.
	lifeless = time.Second
	// firstRetry and lastRetry bound how long is waited for a device that is not
	// there: it doubles each time. Five seconds after a plug is put in is soon
	// enough for who put it there, and costs nothing.
	firstRetry, lastRetry = 500 * time.Millisecond, 5 * time.Second
	// steady is how long a device has to live for the waiting to begin anew.
	steady = 10 * time.Second
)

// opener opens a device: beats goes up while it lives, stopped is called where it
// says that it does not.
type opener func(beats *atomic.Int64, stopped func()) (device io.Closer, name string, err error)

// incoming is a piece of sound of the microphone.
type incoming struct {
	pcm  []float32 // at rateHz
	at   time.Time // when it came
	lost int       // samples before it that nobody took
}

func (s *Speaker) openInput(beats *atomic.Int64, stopped func()) (io.Closer, string, error) {
	lost := 0 // of the device's thread
	return s.Cards.Record(func(in []float32) {
		beats.Add(1)
		select {
		case s.heard <- incoming{slices.Clone(in), time.Now(), lost}:
			lost = 0
		default: // nobody took the last second
			lost = min(lost+len(in), rateHz)
		}
	}, stopped)
}

func (s *Speaker) openOutput(beats *atomic.Int64, stopped func()) (io.Closer, string, error) {
	return s.Cards.Play(s.playout.hold(), func(out []float32) {
		beats.Add(1)
		s.playout.fill(out)
	}, stopped)
}

// keep keeps a device open until the line ends, and opens it again when it is
// lost.
func (s *Speaker) keep(k kind, open opener) {
	log := s.Log.With("device", k.String())
	wait, said := firstRetry, ""
	for s.gone.Err() == nil {
		var beats atomic.Int64
		stopped := make(chan struct{}, 1)
		begun := time.Now()
		device, name, err := open(&beats, func() { ring(stopped) })
		if err == nil {
			if said == "" {
				log.Info("a sound device is open", "name", name)
			} else {
				log.Info("a sound device is back", "name", name)
			}
			said = ""
			s.note(k, name, nil)
			err = s.live(k, &beats, stopped)
		}
		if errors.Is(err, errAgain) {
			log.Info("the loudspeaker ran dry: it is to hold more sound", "ms", s.playout.wanted().Milliseconds())
			_ = device.Close()
			continue
		}
		if err != nil && s.gone.Err() == nil {
			s.note(k, name, err) // before it is closed: a server that hangs keeps that waiting
			if err.Error() != said {
				said = err.Error()
				log.Error("a sound device cannot be used, and is waited for", "err", err)
			}
		}
		if device != nil {
			_ = device.Close()
		}
		if time.Since(begun) > steady {
			wait = firstRetry
		}
		s.rest(wait)
		wait = min(2*wait, lastRetry)
	}
}

// live returns when a device lives no more, and why; nil: the line ends.
func (s *Speaker) live(k kind, beats *atomic.Int64, stopped <-chan struct{}) error {
	var again chan struct{}
	if k == output {
		again = s.playout.again
	}
	look := time.NewTicker(lifeless)
	defer look.Stop()
	last := int64(-1)
	for silent := 0; ; {
		select {
		case <-s.gone.Done():
			return nil
		case <-stopped:
			return errStopped
		case <-again:
			return errAgain
		case <-look.C:
			now := beats.Load()
			if now != last {
				last, silent = now, 0
				continue
			}
			if silent++; silent >= mostLifeless {
				return errLifeless
			}
		}
	}
}

// mostLifeless is how many looks in a row a device may seem dead: a machine under
// load holds all of it up for a second, and some servers take two to begin.
const mostLifeless = 3

// note tells who is to know that a device has come or gone.
func (s *Speaker) note(k kind, name string, err error) {
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

// rest waits, unless the line ends.
func (s *Speaker) rest(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.gone.Done():
	}
}

func ring(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
