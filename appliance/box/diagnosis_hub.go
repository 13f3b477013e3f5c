package box

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"parley/appliance/config"
	"parley/firmware/doctor"
	"parley/fleet"
	"parley/internal/layout"
	"parley/store"
)

// isHub reports whether a data folder is that of a hub.
func isHub(data string) bool {
	_, err := os.Stat(filepath.Join(data, layout.Fleet, layout.FleetKeys))
	return err == nil
}

// lostAfter is how long after its last state a box is reported as lost. It is longer than a weekend without power.
const lostAfter = 3 * 24 * time.Hour

// examineHub checks the keys, the NATS server and the boxes of a hub.
func examineHub(ctx context.Context, cfg config.Config, pid string, running bool) ([]doctor.Finding, error) {
	found := []doctor.Finding{examineFleetKeys(cfg.Data)}
	if len(cfg.Hub.Servers) == 0 {
		port := examinePort(cfg.Hub.Listen, pid, running)
		port.Part = "NATS server"
		port.Mend = strings.ReplaceAll(port.Mend, "--listen", "--hub-listen")
		found = append(found, port)
	}
	s, err := store.Join(ctx, cfg.Data)
	if errors.Is(err, store.ErrNotFound) {
		return found, nil
	}
	if err != nil {
		return nil, err
	}
	boxes, err := s.HubBoxes(ctx)
	if err = errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	return append(found, examineBoxes(boxes, time.Now())...), nil
}

func examineFleetKeys(data string) doctor.Finding {
	file := filepath.Join(data, layout.Fleet, layout.FleetKeys)
	f := doctor.Finding{Part: "fleet keys", Health: doctor.OK, What: file + " can be read by its owner only"}
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return doctor.Finding{Part: f.Part, Health: doctor.Problem, What: err.Error(),
			Mend: "restore the folder of the hub from a backup: without this file every box must join again"}
	case info.Mode().Perm()&0o077 != 0:
		f.Health = doctor.Problem
		f.What = fmt.Sprintf("%s has mode %04o: who reads it can pose as any box and as the hub", file,
			info.Mode().Perm())
		f.Mend = "chmod 600 " + file
	}
	return f
}

// examineBoxes reports the boxes that were not heard of for long, and those that do not run what they should.
func examineBoxes(boxes []store.HubBox, now time.Time) (found []doctor.Finding) {
	var lost []string
	for _, b := range boxes {
		if b.SeenMS == 0 || now.Sub(time.UnixMilli(b.SeenMS)) > lostAfter {
			lost = append(lost, b.Name)
		}
		var s fleet.State
		if b.State == nil || json.Unmarshal(b.State, &s) != nil {
			continue
		}
		if s.Why != "" {
			found = append(found, doctor.Finding{
				Part:   "box " + b.Name,
				Health: doctor.Warning,
				What:   fmt.Sprintf("runs revision %d and not %d: %s", s.Running, s.Wanted, s.Why),
				Mend:   "roll out what it can run, or stop the roll-out: parley hub rollout",
			})
		}
	}
	all := doctor.Finding{Part: "boxes", Health: doctor.OK, What: fmt.Sprintf("the hub has %d boxes", len(boxes))}
	if len(lost) > 0 {
		all.Health = doctor.Warning
		all.What += fmt.Sprintf("; not heard of for three days: %s", strings.Join(lost, ", "))
		all.Mend = "look at their power, network and log (parley doctor on the box), or remove them: parley hub " +
			"boxes NAME --remove"
	}
	return append(found, all)
}
