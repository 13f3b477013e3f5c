package soundcard

import (
	"fmt"
	"strings"
)

// ErrNoDevice is what is wrong with a name that no device has, or several.
type ErrNoDevice struct {
	Wanted string
	Kind   Kind
	Known  []Device // all, or those that are meant alike
	Many   bool     // several are meant
}

// Error says which devices there are.
func (e ErrNoDevice) Error() string {
	var names []string
	for _, d := range e.Known {
		names = append(names, fmt.Sprintf("%q (%s)", d.Name, d.ID))
	}
	switch {
	case e.Many:
		return fmt.Sprintf("%.80q names several %ss: %s: use one of the ids", e.Wanted, e.Kind.words(), strings.Join(names, ", "))
	case len(names) == 0:
		return fmt.Sprintf("no %s is called %.80q: there is none at all", e.Kind.words(), e.Wanted)
	}
	return fmt.Sprintf("no %s is called %.80q: there are %s", e.Kind.words(), e.Wanted, strings.Join(names, ", "))
}

// Choose returns the device, of those of one kind, that is meant by its id, its
// name, or a part of either that no other has. Upper and lower case are alike.
// The error is an ErrNoDevice.
func Choose(all []Device, kind Kind, wanted string) (Device, error) {
	want := strings.ToLower(strings.TrimSpace(wanted))
	for _, fits := range []func(d Device) bool{
		func(d Device) bool { return d.ID == wanted },
		func(d Device) bool { return strings.EqualFold(d.ID, want) || strings.EqualFold(d.Name, want) },
		func(d Device) bool {
			return strings.Contains(strings.ToLower(d.Name), want) || strings.Contains(strings.ToLower(d.ID), want)
		},
	} {
		var found []Device
		for _, d := range all {
			if want != "" && fits(d) {
				found = append(found, d)
			}
		}
		switch len(found) {
		case 0:
			continue
		case 1:
			return found[0], nil
		}
		return Device{}, ErrNoDevice{Wanted: wanted, Kind: kind, Known: found, Many: true}
	}
	return Device{}, ErrNoDevice{Wanted: wanted, Kind: kind, Known: all}
}
