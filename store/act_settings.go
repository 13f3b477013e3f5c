package store

import (
	"context"
	"maps"
	"slices"
)

// SettingChange is a setting that has another value than at the last start.
type SettingChange struct{ Name, Before, Now string }

// RecordSettings stores the settings of this start, by name, and records an act of the box
// for each whose value is another one than at the last start; describe returns it. The
// first start has nothing to compare with. The values must not be secret.
func (s *Store) RecordSettings(ctx context.Context, now map[string]string,
	describe func(SettingChange) Act) (changed []SettingChange, err error) {
	err = s.change(ctx, "recording the settings", func(ctx context.Context, c conn) error {
		changed = nil
		before := map[string]string{}
		if _, err := query(ctx, c, func(row scanner) (none struct{}, err error) {
			var name, value string
			err = row.Scan(&name, &value)
			before[name] = value
			return none, err
		}, `SELECT name, value FROM setting`); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(now)) {
			was, known := before[name]
			if known && was == now[name] {
				continue
			}
			if err := execute(ctx, c, `
				INSERT INTO setting (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2`,
				name, now[name]); err != nil {
				return err
			}
			if !known { // the first start, or a setting that this version has added
				continue
			}
			change := SettingChange{name, was, now[name]}
			changed = append(changed, change)
			if err := insertAct(ctx, c, describe(change)); err != nil {
				return err
			}
		}
		return nil
	})
	return changed, err
}
