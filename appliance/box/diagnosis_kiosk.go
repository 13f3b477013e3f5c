package box

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"parley/appliance/audio/soundcard"
	"parley/appliance/config"
	"parley/firmware/doctor"
	"parley/store"
)

// examineKiosk checks the devices that a kiosk needs, if the settings enable one. It
// opens none of them: a running box has them open.
func examineKiosk(k config.Kiosk) []doctor.Finding {
	if !k.Enabled {
		return nil
	}
	inputs, outputs, err := soundcard.List()
	if err != nil {
		return []doctor.Finding{{
			Part:   "kiosk",
			Health: doctor.Problem,
			What:   err.Error(),
			Mend: "install PulseAudio or PipeWire, or run this as the user that runs the box: a sound server belongs " +
				"to one user's session",
		}}
	}
	found := []doctor.Finding{
		examineDevice("microphone", soundcard.Input, inputs, k.Input),
		examineDevice("loudspeaker", soundcard.Output, outputs, k.Output),
	}
	if k.Keyboard != "" {
		found = append(found, examineFile("keyboard", k.Keyboard, unix.R_OK, "input"))
	}
	if k.GPIO != (config.GPIO{}) {
		found = append(found, examineFile("button", k.GPIO.Chip, unix.R_OK|unix.W_OK, "gpio"))
	}
	return found
}

// examineKioskChat checks the account and the config of chats at the kiosk, if the
// settings enable one. Without a database there is no finding: the first start
// creates the account. The error is only ctx's.
func examineKioskChat(ctx context.Context, cfg config.Config) ([]doctor.Finding, error) {
	k := cfg.Kiosk
	if !k.Enabled {
		return nil, nil
	}
	records, err := store.Join(ctx, cfg.Data)
	if err != nil {
		return nil, context.Cause(ctx)
	}
	defer records.Close()
	_, settings, err := KioskChat(ctx, records, k)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return []doctor.Finding{{
			Part:   "kiosk",
			Health: doctor.Problem,
			What:   "no chat can start: " + err.Error(),
			Mend:   "set kiosk.config_id and kiosk.account to ones that exist, or create them (see docs/console.md)",
		}}, nil
	case k.Config == "":
		return []doctor.Finding{{Part: "kiosk", Health: doctor.OK,
			What: "account " + k.Account + ", the box's default assistant"}}, nil
	}
	return []doctor.Finding{{Part: "kiosk", Health: doctor.OK,
		What: fmt.Sprintf("account %s, config %s (%s)", k.Account, k.Config, settings.ConfigID)}}, nil
}

// examineDevice checks the device that a setting names, or the default device.
func examineDevice(part string, kind soundcard.Kind, all []soundcard.Device, wanted string) doctor.Finding {
	if wanted != "" {
		d, err := soundcard.Choose(all, kind, wanted)
		if err != nil {
			return doctor.Finding{
				Part:   part,
				Health: doctor.Problem,
				What:   err.Error(),
				Mend:   "plug it in, or set kiosk.devices to one that parley doctor --devices lists",
			}
		}
		return doctor.Finding{Part: part, Health: doctor.OK, What: fmt.Sprintf("%s (%s)", d.Name, d.ID)}
	}
	d, err := soundcard.DefaultDevice(all, kind)
	switch _, monitor := errors.AsType[soundcard.ErrMonitor](err); {
	case monitor:
		return doctor.Finding{
			Part:   part,
			Health: doctor.Problem,
			What:   err.Error(),
			Mend:   "plug in a microphone, or name one with kiosk.devices",
		}
	case err != nil:
		return doctor.Finding{
			Part:   part,
			Health: doctor.Problem,
			What:   "there is none",
			Mend:   "plug one in, and check that the user of the box is in the group audio",
		}
	case d.ID == "":
		return doctor.Finding{Part: part, Health: doctor.OK, What: "the system's default"}
	}
	return doctor.Finding{Part: part, Health: doctor.OK,
		What: fmt.Sprintf("%s (%s), the system's default", d.Name, d.ID)}
}

// examineFile checks whether this user may use a device file.
func examineFile(part, path string, how uint32, group string) doctor.Finding {
	switch err := unix.Access(path, how); {
	case err == nil:
		return doctor.Finding{Part: part, Health: doctor.OK, What: path}
	case errors.Is(err, unix.EACCES):
		return doctor.Finding{
			Part:   part,
			Health: doctor.Problem,
			What:   "this user may not use " + path,
			Mend:   "usermod -aG " + group + " USER, and restart the box",
		}
	default:
		return doctor.Finding{
			Part:   part,
			Health: doctor.Problem,
			What:   fmt.Sprintf("%s: %v", path, err),
			Mend:   "plug it in, or name another one",
		}
	}
}
