package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"parley/internal/durable"
	"parley/internal/layout"
)

// Fleet decides whether the box belongs to a fleet, and what its hub gets.
type Fleet struct {
	Join       string // path of the file with which the box joins; empty: it is in no fleet
	Address    string // base URL at which others reach the box; empty: that of listen
	Chats      bool   // the hub gets chats and what became of webhooks
	Recordings bool   // the hub gets the recordings of ended chats
}

func fleetSettings() []Setting {
	return []Setting{
		{
			Key:         "fleet.join",
			Placeholder: "FILE",
			Help:        "File with which the box joins a fleet; the hub makes it (parley hub boxes NAME --add).",
			kind:        path(func(c *Config) *string { return &c.Fleet.Join }),
		},
		{
			Key:         "fleet.address",
			Placeholder: "URL",
			Help: "Base URL at which the hub and its clients reach the box, such as https://kiosk-3.local:8080; by " +
				"default they reach it at listen, unless that is loopback.",
			DefaultInWords: "that of listen",
			kind: textKind("an `http://` or `https://` URL", func(c *Config) *string { return &c.Fleet.Address },
				baseURL),
		},
		{
			Key:     "fleet.chats",
			Default: "true",
			Help:    "Send chats, and what became of their webhooks, to the hub.",
			kind:    boolean(func(c *Config) *bool { return &c.Fleet.Chats }),
		},
		{
			Key:     "fleet.recordings",
			Default: "false",
			Help:    "Send the recordings of chats to the hub when they have ended.",
			kind:    boolean(func(c *Config) *bool { return &c.Fleet.Recordings }),
		},
	}
}

// FromHub is the source of the settings that the hub of the fleet has made.
const FromHub = "the hub"

// remote are the keys of the settings that a hub may make. None of them is a path or an
// address, lets anybody in, or decides what may run.
var remote = []string{
	"turn_detection.mode", "answers.rules", "expression", "chat.max_chats", "chat.max_added_ms", "chat.sound_ahead",
	"retention.keep",
	"speech.locale", "speech.loudness_lufs", "lexicon", "voices.aliases", "speech.keep",
	"batch.max_queued", "batch.max_upload", "batch.keep_sources", "batch.results_days",
	"tools.timeout", "tools.filler_ms", "tools.answer_tokens", "plugins",
	"limits.chats_per_account", "limits.requests_per_second", "limits.request_burst", "limits.connections",
	"limits.connections_per_address", "limits.disk_per_account", "limits.recordings",
	"log.level",
}

// RemoteSettings returns the keys of the settings that a hub may make, in the order of the table.
func RemoteSettings() (keys []string) {
	for _, s := range Settings() {
		if s.Remote {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

// CheckRemote returns an error if a hub may not make a setting, or a value is not allowed.
func CheckRemote(key, value string) error {
	s, ok := findSetting(key)
	if !ok || !s.Remote {
		return fmt.Errorf("setting %.60q: a hub cannot make it; it may make %s", key,
			strings.Join(RemoteSettings(), ", "))
	}
	var c Config
	if err := s.set(&c, assignment{Setting: s, value: value}); err != nil {
		return fmt.Errorf("setting %s: %w", key, err)
	}
	return nil
}

// fromHub returns the assignments of a hub's settings.
func fromHub(settings map[string]string, home string) (list []assignment, err error) {
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		if err := CheckRemote(key, settings[key]); err != nil {
			return nil, err
		}
		s, _ := findSetting(key)
		list = append(list, assignment{Setting: s, value: settings[key], source: FromHub, home: home})
	}
	return list, nil
}

// WithHub loads the settings again, from the sources of c and with these settings of the hub.
func (c Config) WithHub(settings map[string]string) (Config, error) {
	l, err := newLoader(c.sources)
	if err != nil {
		return Config{}, err
	}
	l.hub = &settings
	return l.loadFile()
}

// Differences returns the keys of the settings that a hub may make and whose value is another
// one in d.
func (c Config) Differences(d Config) (keys []string) {
	values := map[string]string{}
	for _, e := range c.Effective() {
		values[e.Key] = e.Value
	}
	for _, e := range d.Effective() {
		if e.Remote && values[e.Key] != e.Value {
			keys = append(keys, e.Key)
		}
	}
	return keys
}

// WriteHubSettings writes the settings of the hub to a file in the data folder, from which Load
// reads them. The file is whole or as before.
func WriteHubSettings(data string, settings map[string]string) error {
	path := filepath.Join(data, layout.FleetSettings)
	if len(settings) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	var b bytes.Buffer
	b.WriteString("# The hub of the fleet has made these settings. The box writes this file; change them at the\n" +
		"# hub, or set others in parley.yaml, which has precedence.\n")
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		value, err := json.Marshal(settings[key])
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s: %s\n", key, value)
	}
	if had, err := os.ReadFile(path); err == nil && bytes.Equal(had, b.Bytes()) {
		return nil
	}
	return durable.WriteFile(path, b.Bytes(), 0o600)
}

// readHub returns the settings of the hub in a data folder. Without the file there are none.
func (l *loader) readHub(data string) ([]assignment, error) {
	path := filepath.Join(data, layout.FleetSettings)
	text, err := readLimited(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, cause(err))
	}
	read, err := parseSettings(path, l.home, text)
	if err != nil {
		return nil, err
	}
	settings := map[string]string{}
	for _, g := range read {
		settings[g.Key] = g.value
	}
	return fromHub(settings, l.home)
}
