package box

import (
	"path/filepath"

	"parley/appliance/config"
	"parley/appliance/recording"
	"parley/internal/disk"
	"parley/internal/layout"
)

// RecordingLimits returns how much of its disk the settings allow to recordings.
func RecordingLimits(cfg config.Config) (recording.Limits, error) {
	size, err := disk.Size(disk.Nearest(filepath.Join(cfg.Data, layout.Recordings)))
	return recording.Limits{
		Days:         cfg.Limits.RecordingsDays,
		Bytes:        cfg.Limits.Recordings.Of(size),
		AccountBytes: cfg.Limits.DiskPerAccount.Of(size),
	}, err
}
