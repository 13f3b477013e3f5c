package appliance

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/fleet"
	"parley/internal/disk"
	"parley/internal/machine"
	"parley/internal/version"
)

// state returns what the box says of itself to the hub.
func (m *member) state(ctx context.Context) fleet.State {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	s := fleet.State{
		Version:   version.String(),
		Address:   m.address(),
		Authority: string(m.identity.Authority()),
		Waits:     *m.waits.Load(),
		Load:      machine.Load(),
	}
	now, err := m.health.Health(ctx)
	if err != nil {
		s.Problems = append(s.Problems, "the state of the box cannot be read: "+err.Error())
	}
	s.Ready, s.Missing = now.Ready, now.Missing
	s.Live, s.Seats = now.Chats.Live, now.Chats.Seats
	s.AddedMS = now.Answers.AddedP95MS
	s.Cores = now.Cores.Machine
	s.DiskFree, s.DiskTotal = now.Disk.Free, now.Disk.Total
	s.MemoryFree, s.MemoryTotal = now.Memory.Available, now.Memory.Total
	t := machine.ReadTemperatures()
	s.CoreCelsius, s.DiskCelsius = t.Cores, t.Disks
	if now.Disk.Total > 0 && now.Disk.Free < 2*disk.Spare {
		s.Problems = append(s.Problems, fmt.Sprintf("the disk has %d MB left", now.Disk.Free/1e6))
	}
	if now.Webhooks.Dead > 0 {
		s.Problems = append(s.Problems, fmt.Sprintf("%d webhooks could not be delivered", now.Webhooks.Dead))
	}
	if c := now.Certificate; c != nil && !c.Renewed && time.Until(time.UnixMilli(c.EndsOn)) < certificateWarning {
		s.Problems = append(s.Problems, "the certificate ends on "+time.UnixMilli(c.EndsOn).Format(time.DateOnly))
	}
	s.Problems = append(s.Problems, m.overridden(ctx)...)
	return s
}

// certificateWarning is how long before its end a certificate that the box does not renew
// becomes a problem: time for somebody to get a new one.
const certificateWarning = 14 * 24 * time.Hour

// overridden lists the settings of the hub that the box's own settings override.
func (m *member) overridden(ctx context.Context) (problems []string) {
	settings, err := m.records.FleetSettings(ctx)
	if err != nil {
		return nil // the next state has them
	}
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		if _, from := m.cfg.Value(key); from != config.FromHub && from != "" && m.cfg.Given(key) {
			problems = append(problems,
				fmt.Sprintf("the hub's setting %s does not hold, since %s sets it too", key, from))
		}
	}
	return problems
}

// reachable returns a name or address of the machine that others can use; empty if there is
// none.
func reachable(names []string) string {
	if len(names) > 0 {
		return names[0]
	}
	for _, ip := range machine.Addresses() {
		if ip.Is4() && ip.IsGlobalUnicast() {
			return ip.String()
		}
	}
	return ""
}

// inFleet returns what the box knows of its fleet; nil if it is in none.
func (a *appliance) inFleet(ctx context.Context) *contract.BoxFleet {
	m := a.member.Load()
	if m == nil {
		return nil
	}
	f := &contract.BoxFleet{Box: m.link.Name(), Hub: m.link.Hub(), Waits: *m.waits.Load()}
	f.Connected, f.Reason = m.link.Connected()
	f.Running, f.Wanted, f.Problem = m.agent.Status()
	var err error
	if f.FactsWaiting, f.FactsDropped, err = m.records.FleetWaiting(ctx); err != nil && ctx.Err() == nil {
		a.log.Warn("cannot count what the hub does not know", "err", err)
	}
	return f
}
