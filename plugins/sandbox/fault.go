package sandbox

import (
	"errors"
	"fmt"
)

// Kind is the kind of a fault.
type Kind string

const (
	Failed  Kind = "failed"   // the plugin reports an error
	Trapped Kind = "trapped"  // out of bounds, unreachable code, stack overflow
	Late    Kind = "late"     // its time was up
	TooMuch Kind = "too_much" // more output or memory than allowed
	Refused Kind = "refused"  // it requested what it was not granted
	Busy    Kind = "busy"     // no instance became free in time; not its fault
	Unready Kind = "unready"  // it cannot be called like this: no such tool, a missing setting
	Gone    Kind = "gone"     // the caller gave up, or the module was closed
)

// Fault is why a call has no result. Message is for people and may be shown to the model:
// it contains no path of the box and no secret, unless the plugin put it there.
type Fault struct {
	Kind    Kind
	Message string
}

func (f *Fault) Error() string { return f.Message }

// Blames reports whether the plugin is to blame, so that the fault counts for its breaker.
func (f *Fault) Blames() bool {
	switch f.Kind {
	case Busy, Unready, Gone:
		return false
	}
	return true
}

func fault(k Kind, format string, args ...any) *Fault {
	return &Fault{k, fmt.Sprintf(format, args...)}
}

// ErrUnfit says why a module cannot be run here.
type ErrUnfit struct{ Why string }

func (e ErrUnfit) Error() string { return e.Why }

func unfit(format string, args ...any) error { return ErrUnfit{fmt.Sprintf(format, args...)} }

// AsFault returns the fault in err. For any other error it is a fault of kind Failed.
func AsFault(err error) *Fault {
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	return &Fault{Failed, err.Error()}
}
