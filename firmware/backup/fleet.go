package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"parley/internal/durable"
	"parley/internal/layout"
)

// keepRevoked leaves the credentials of boxes revoked that the hub has revoked since the backup, as the previous folder
// says, if it has the keys of the same fleet.
func keepRevoked(stage, data string) error {
	restored, err := readFleetKeys(stage)
	if err != nil || restored == nil {
		return err
	}
	before, err := readFleetKeys(data)
	if err != nil {
		return nil // damaged keys may be why the backup is restored
	}
	if before == nil || string(before["operator"]) != string(restored["operator"]) {
		return nil
	}
	revoked := map[string]int64{}
	for _, keys := range []map[string]json.RawMessage{before, restored} {
		var some map[string]int64
		if keys["revoked"] == nil {
			continue
		}
		if err := json.Unmarshal(keys["revoked"], &some); err != nil {
			return fmt.Errorf("%s: revoked: %w", fleetKeys, err)
		}
		maps.Copy(revoked, some)
	}
	if restored["revoked"], err = json.Marshal(revoked); err != nil {
		return err
	}
	text, err := json.MarshalIndent(restored, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(stage, filepath.FromSlash(fleetKeys)), text, 0o600)
}

// readFleetKeys reads the keys of a hub's fleet; nil if the folder has none.
func readFleetKeys(folder string) (map[string]json.RawMessage, error) {
	text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(fleetKeys)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(text, &keys); err != nil {
		return nil, fmt.Errorf("%s: %w", fleetKeys, err)
	}
	return keys, nil
}

// keepStreams moves what the NATS server of a hub stores from the previous folder into the restored one: boxes sent it
// once, and the hub reads again from there what is newer than the backup.
func keepStreams(data, aside string) error {
	if aside == "" {
		return nil
	}
	from := filepath.Join(aside, layout.Fleet, layout.FleetStore)
	to := filepath.Join(data, layout.Fleet, layout.FleetStore)
	if _, err := os.Stat(filepath.Dir(to)); errors.Is(err, fs.ErrNotExist) {
		return nil // the backup is not of a hub
	}
	err := os.Rename(from, to)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the data folder is restored; move %s to %s before the hub starts, or the facts since the "+
			"backup are lost: %w", from, to, err)
	}
	return durable.SyncFolder(filepath.Dir(to))
}
