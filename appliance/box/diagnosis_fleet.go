package box

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"parley/appliance/config"
	"parley/firmware/doctor"
	"parley/fleet/bus"
	"parley/store"
)

const (
	// joinPatience is how long doctor waits for a connection to the hub: a TLS handshake over
	// a phone network takes two seconds.
	joinPatience = 8 * time.Second
	// joinWarning is how long before its end a join file becomes a warning.
	joinWarning = 30 * 24 * time.Hour
)

// examineFleet checks whether a box that belongs to a fleet reaches its hub and runs what the
// hub wants. The error is only ctx's.
func examineFleet(ctx context.Context, cfg config.Config) ([]doctor.Finding, error) {
	if cfg.Fleet.Join == "" {
		return nil, nil
	}
	f := doctor.Finding{Part: "fleet", Health: doctor.Problem}
	join, err := bus.ReadJoin(cfg.Fleet.Join)
	if err != nil {
		f.What, f.Mend = err.Error(), "get the file again from the hub: parley hub boxes NAME --join"
		return []doctor.Finding{f}, nil
	}
	known := "the box has not joined yet; it does when it starts"
	if member := memberText(ctx, cfg.Data); member != "" {
		known = member
	}
	why, err := reachHub(ctx, join)
	if err != nil {
		return nil, err
	}
	f.Health, f.What = doctor.OK, fmt.Sprintf("box %s of the hub %s; %s", join.Box, join.Hub, known)
	if ends := join.Expires(); !ends.IsZero() && time.Until(ends) < joinWarning {
		f.Health = doctor.Warning
		f.What += "; its join file ends on " + ends.Format(time.DateOnly)
		f.Mend = "get a new file from the hub: parley hub boxes NAME --join"
	}
	if why != "" {
		f.Health = doctor.Warning
		f.What = fmt.Sprintf("box %s does not reach the hub %s: %s; %s", join.Box, join.Hub, why, known)
		f.Mend = "the box works alone until then, and sends everything later; check the network and the hub"
	}
	return []doctor.Finding{f}, nil
}

// reachHub connects to the hub as the box does, and returns why that fails. The error is only
// ctx's.
func reachHub(ctx context.Context, join bus.Join) (why string, err error) {
	b, err := bus.Dial(join, bus.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err.Error(), nil
	}
	defer b.Close()
	limit := time.NewTimer(joinPatience)
	defer limit.Stop()
	for {
		is, why := b.Connected()
		if is {
			return "", nil
		}
		select {
		case <-b.Changed():
		case <-limit.C:
			return why, nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// memberText says what the database knows of the fleet; empty if the box has not joined.
func memberText(ctx context.Context, data string) string {
	s, err := store.Join(ctx, data)
	if err != nil {
		return "" // another finding says why
	}
	defer s.Close()
	member, err := s.Fleet(ctx)
	if errors.Is(err, store.ErrNotFound) {
		return ""
	}
	managed, e := s.Managed(ctx)
	waiting, dropped, e2 := s.FleetWaiting(ctx)
	if err := errors.Join(err, e, e2); err != nil {
		return err.Error()
	}
	text := fmt.Sprintf("runs revision %d with %d managed things; %d facts wait", member.Running, len(managed), waiting)
	if member.Running == 0 {
		text = fmt.Sprintf("the hub has not said yet what to run; %d facts wait", waiting)
	}
	if dropped > 0 {
		text += fmt.Sprintf(", and %d were dropped because the hub was away for too long", dropped)
	}
	return text
}
