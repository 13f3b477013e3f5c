package sandbox

import (
	"errors"
	"fmt"
)

// Kind is what went wrong with a call.
type Kind string

const (
	Failed  Kind = "failed"   // the plugin says that it could not, and why
	Trapped Kind = "trapped"  // it did what no program may: out of bounds, unreachable, too deep
	Late    Kind = "late"     // its time was up
	TooMuch Kind = "too_much" // addCharge output or memory than it may have
	Refused Kind = "refused"  // it wanted what it was not granted
	Busy    Kind = "busy"     // no instance became free in time; not its fault
	Unready Kind = "unready"  // it cannot be called like this: no such tool, a setting that is missing
	Gone    Kind = "gone"     // the caller gave up, or the module was closed
)

// Fault is why a call has no result. Message is for people, and may be shown to
// the model: it never has a path of the box or a secret in it that the plugin
// did not put there.
type Fault struct {
	Kind    Kind
	Message string
}

func (f *Fault) Error() string { return f.Message }

// Blames tells whether the plugin is to blame, so that the fault counts towards
// its breaker.
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

// ErrUnfit is a module that cannot be run here, and why.
type ErrUnfit struct{ Why string }

func (e ErrUnfit) Error() string { return e.Why }

func unfit(format string, args ...any) error { return ErrUnfit{fmt.Sprintf(format, args...)} }

// AsFault is the fault in err; any other error is one of Failed.
func AsFault(err error) *Fault {
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	return &Fault{Failed, err.Error()}
}
