package speaker

import (
	"errors"
	"sync"
)

var (
	errStopped = errors.New("the device has stopped: it was unplugged, or its sound server ended")
	errReopen  = errors.New("the device is to be opened anew, to hold more sound")
	errNoBeats = errors.New("the device takes and brings no more sound: it was unplugged, or its sound server hangs")
)

// State is the state of the line.
type State string

// The states.
const (
	Waiting State = "waiting" // for somebody who wants to talk
	Talking State = "talking"
)

// Status is the status of the line.
type Status struct {
	State  State
	ChatID string // when Talking, once it is known
	Input  DeviceStatus
	Output DeviceStatus
}

// DeviceStatus is the status of a device.
type DeviceStatus struct {
	Name    string
	Open    bool
	Trouble string // why it is not open
}

// status is a Status for concurrent use.
type status struct {
	mu  sync.Mutex
	now Status
}

func (s *status) set(change func(*Status)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.now)
}

func (s *status) get() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Status returns the current status.
func (s *Speaker) Status() Status { return s.status.get() }
