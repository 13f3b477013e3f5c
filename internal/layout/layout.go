// Package layout names the files and folders of a box.
package layout

import (
	"fmt"
	"io/fs"
	"path/filepath"
)

// Files and folders of the data folder.
const (
	Database      = "parley.db" // with -wal and -shm while it is open
	Lock          = "parley.lock"
	Address       = "parley.address" // address of the box that serves the folder
	WebhookSignal = ".bell"          // empty; a write to it wakes the box to send webhooks
	PluginSignal  = ".plugins"       // empty; a write to it tells the box that plugins changed
	KeySignal     = ".keys"          // empty; a write to it tells the box that keys were revoked
	LogSignal     = ".logs"          // empty; a write to it wakes the followers of plugin logs
	Recordings    = "recordings"     // a folder with an Ogg/Opus file for each side of each chat
	Prompts       = "prompts"        // a folder with cached prompts of language models; may be deleted
	AnswerSound   = "answers"        // a folder with the sound of approved answers; may be deleted
	Batch         = "batch"          // a folder with a folder for each analysis job: uploads, results, artifacts
	Settings      = "parley.yaml"
	Authority     = "ca.crt"        // the certificate that clients trust; the only file here that others may read
	FirstKey      = "first-key.env" // the secrets of the first key, until the operator deletes it
	// Plugins is a folder with the files of plugins.
	Plugins = "plugins"
	// PluginCache is a folder with the compiled plugins; may be deleted.
	PluginCache = "plugin-cache"
	// PluginKey is the key that decrypts the plugins' secrets in the database. It is in
	// no backup, so that a backup reveals none of them.
	PluginKey = "plugins.key"
	// RecordingsNotice says from when on the box deletes recordings beyond its limits.
	RecordingsNotice = "recordings-notice.json"
	// FleetSettings has the settings that the hub of the fleet has made, as the database has
	// them. It is in no backup.
	FleetSettings = "fleet.yaml"
	// FleetPlugins is a folder with the plugin files that the hub wants on the box; may be deleted.
	FleetPlugins = "fleet-plugins"
	// Fleet is a folder of a hub: the keys of its fleet, and what its NATS server stores.
	Fleet = "fleet"
	// FleetKeys, in Fleet, has the keys, and which credentials are revoked.
	FleetKeys = "trust.json"
	// FleetStore, in Fleet, is a folder with what the NATS server stores.
	FleetStore = "store"
	// LastBackup says when the newest backup was made. It is in no backup.
	LastBackup = "last-backup.json"
)

// DataMode is the mode of the data folder: other users may pass through it to the
// Authority, but not list it.
const DataMode fs.FileMode = 0o711

// DatabaseCopies is a pattern ([filepath.Match]) for the copies of the database that
// upgrades make.
const DatabaseCopies = "parley-before-v*.db"

// DatabaseCopy returns the name of the copy that is made before the database is migrated
// to a schema version.
func DatabaseCopy(schema int64) string { return fmt.Sprintf("parley-before-v%d.db", schema) }

// The default folders, as users write them.
const (
	DefaultData  = "~/.local/share/parley"
	DefaultPacks = "~/.cache/parley/packs"
	// Those of a box that runs as a system service, as the Debian package installs it.
	SystemData     = "/var/lib/parley"
	SystemPacks    = "/var/cache/parley/packs"
	SystemSettings = "/etc/parley"            // the folder of its Settings
	Updates        = "/var/lib/parley-update" // of parley update, for root alone
)

// InHome returns a default folder with home in place of ~.
func InHome(home, folder string) string {
	return filepath.Join(home, filepath.FromSlash(folder[len("~/"):]))
}
