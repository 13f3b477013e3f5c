// Package layout says where a box keeps what it keeps, and what it is called
// there.
package layout

import (
	"fmt"
	"io/fs"
	"path/filepath"
)

// What lies in the data folder.
const (
	Database      = "parley.db" // beside it -wal and -shm while it is open
	Lock          = "parley.lock"
	Address       = "parley.address" // where the box listens that runs on the folder
	WebhookSignal = ".bell"          // empty: whoever writes to it lets the box know that there is something to send
	PluginSignal  = ".plugins"       // empty: whoever writes to it lets the box know that plugins were changed
	KeySignal     = ".keys"          // empty: whoever writes to it lets the box know that keys were revoked
	LogSignal     = ".logs"          // empty: whoever writes to it lets those know who follow the logs of plugins
	Recordings    = "recordings"     // a folder: for each side of each chat an Ogg/Opus file
	Prompts       = "prompts"        // a folder: what language models computed of prompts; may be deleted
	Settings      = "parley.yaml"
	Authority     = "ca.crt"        // for clients to trust; the one thing in it that others may read
	FirstKey      = "first-key.env" // the secrets of the first key, until somebody deletes it
	// Plugins is a folder: what plugins are made of.
	Plugins = "plugins"
	// PluginCache is a folder: plugins as machine code; may be deleted.
	PluginCache = "plugin-cache"
	// PluginKey is the key that opens the secrets of plugins, in the database. No
	// backup has it: without it those in a backup are nobody's.
	PluginKey = "plugins.key"
	// RecordingsNotice says from when on recordings are deleted that are too old or
	// too much.
	RecordingsNotice = "recordings-notice.json"
	// LastBackup says when the newest backup was made. No backup has it.
	LastBackup = "last-backup.json"
)

// DataMode is the mode of the data folder: others may pass through it to the
// Authority, and not look into it.
const DataMode fs.FileMode = 0o711

// DatabaseCopies is a pattern ([filepath.Match]) of the copies of the database that
// upgrades put aside.
const DatabaseCopies = "parley-before-v*.db"

// DatabaseCopy is the name of the copy of the database that was made before its schema
// was brought to a version.
func DatabaseCopy(schema int64) string { return fmt.Sprintf("parley-before-v%d.db", schema) }

// Where the folders lie by default, as people write it.
const (
	DefaultData  = "~/.local/share/parley"
	DefaultPacks = "~/.cache/parley/packs"
	SystemData   = "/var/lib/parley" // of a box that is a service of the machine
)

// InHome returns a default folder in the home folder home.
func InHome(home, folder string) string {
	return filepath.Join(home, filepath.FromSlash(folder[len("~/"):]))
}
