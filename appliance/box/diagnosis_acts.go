package box

import (
	"context"
	"errors"
	"fmt"

	"parley/firmware/doctor"
	"parley/store"
)

// examineActs checks the hashes of the audit log. If the database cannot be read, another
// finding says why. The error is only ctx's.
func examineActs(ctx context.Context, data string) ([]doctor.Finding, error) {
	s, err := store.Join(ctx, data)
	if err != nil {
		return nil, context.Cause(ctx)
	}
	acts, err := s.CheckActs(ctx)
	if closed := s.Close(); closed != nil || err != nil && !errors.Is(err, store.ErrActsChanged) {
		return nil, context.Cause(ctx)
	}
	f := doctor.Finding{Part: "audit log", Health: doctor.OK, What: fmt.Sprintf("%d acts, none was changed", acts)}
	if err != nil {
		f.Health, f.What = doctor.Problem, err.Error()
		f.Mend = "compare the log with the one in a backup; find out who can write the data folder"
	}
	return []doctor.Finding{f}, nil
}
