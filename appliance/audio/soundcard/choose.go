package soundcard

import (
	"fmt"
	"strings"
)

// ErrNoDevice is a device name that matches no device, or several.
type ErrNoDevice struct {
	Name  string
	Kind  Kind
	Known []Device // all devices, or those that match
	Many  bool     // several match
}

// Error lists the devices.
func (e ErrNoDevice) Error() string {
	var names []string
	for _, d := range e.Known {
		names = append(names, fmt.Sprintf("%q (%s)", d.Name, d.ID))
	}
	switch {
	case e.Many:
		return fmt.Sprintf("%.80q matches several %ss: %s: use one of the ids", e.Name, e.Kind.words(),
			strings.Join(names, ", "))
	case len(names) == 0:
		return fmt.Sprintf("no %s matches %.80q: there is none", e.Kind.words(), e.Name)
	}
	return fmt.Sprintf("no %s matches %.80q: there are %s", e.Kind.words(), e.Name, strings.Join(names, ", "))
}

// Choose returns the device of a kind with an id, a name, or a unique part of either, in any
// case. The error is an ErrNoDevice.
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
		return Device{}, ErrNoDevice{
			Name:  wanted,
			Kind:  kind,
			Known: found,
			Many:  true,
		}
	}
	return Device{}, ErrNoDevice{Name: wanted, Kind: kind, Known: all}
}

// ErrMonitor is a microphone that records what a loudspeaker plays. PulseAudio has one for each
// loudspeaker, and makes it the default if there is no other microphone: a box that listened to
// it would talk to itself.
type ErrMonitor struct{ Device Device }

// Error says what to do.
func (e ErrMonitor) Error() string {
	return fmt.Sprintf("there is no microphone: the system's default is %q (%s), which records what the box plays: "+
		"plug one in, or name it", e.Device.Name, e.Device.ID)
}

// DefaultDevice returns the system's default device of a kind. Its ID is empty if the system
// does not say which device that is. The error is an ErrMonitor, or reports that there is no
// device.
func DefaultDevice(all []Device, kind Kind) (Device, error) {
	if len(all) == 0 {
		return Device{}, fmt.Errorf("there is no %s: the system lists none", kind.words())
	}
	for _, d := range all {
		switch {
		case !d.Default:
		case kind == Input && strings.HasSuffix(d.ID, ".monitor"):
			return Device{}, ErrMonitor{d}
		default:
			return d, nil
		}
	}
	return Device{Kind: kind, System: all[0].System}, nil
}
