package speaker

import (
	"errors"
	"sync"
)

var (
	errStopped  = errors.New("the device has stopped: it was unplugged, or its sound server ended")
	errAgain    = errors.New("the device is to be opened anew, to hold more sound")
	errLifeless = errors.New("the device takes and brings no more sound: it was unplugged, or its sound server hangs")
)

// State is what the line does.
type State string

// The states.
const (
	Waiting State = "waiting" // for somebody who wants to talk
	Talking State = "talking"
)

// Status is how the line is.
type Status struct {
	State  State
	ChatID string // Talking, as soon as the conversation has one
	Input  DeviceStatus
	Output DeviceStatus
}

// DeviceStatus is how a device is.
type DeviceStatus struct {
	Name    string
	Open    bool
	Trouble string // where it is not
}

// status is a Status that many write and read.
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

// Status is how the line is now.
func (s *Speaker) Status() Status { return s.status.get() }
