package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/internal/layout"
)

// member returns the sources of a box in a fleet, and its data folder.
func member(t *testing.T, file string) (s Sources, data string) {
	s = newSources(t, "fleet:\n  join: /kiosk.join\n"+file)
	return s, load(t, s).Data
}

func TestSettingsOfTheHubCountLessThanThoseOfTheBox(t *testing.T) {
	s, data := member(t, "tools:\n  timeout: 40\n")
	write(t, filepath.Join(data, "x"), "")
	hub := map[string]string{"tools.timeout": "20", "retention.keep": "text for 7 days", "lexicon": "Nguyen=/wɪn/"}
	if err := WriteHubSettings(data, hub); err != nil {
		t.Fatal(err)
	}
	c := load(t, s)
	if c.Tools.TimeoutS != 40 || c.Retention.Audio || c.Retention.Days != 7 {
		t.Errorf("got the timeout %d and retention %+v", c.Tools.TimeoutS, c.Retention)
	}
	if _, from := c.Value("retention.keep"); from != FromHub {
		t.Errorf("retention.keep comes from %s", from)
	}
	changed := []string{"retention.keep", "lexicon"}
	if keys := load(t, withoutHub(t, s, data)).Differences(c); !slices.Equal(keys, changed) {
		t.Errorf("the hub changes %v", keys)
	}
}

// withoutHub removes the settings of the hub.
func withoutHub(t *testing.T, s Sources, data string) Sources {
	if err := WriteHubSettings(data, nil); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestABoxInNoFleetIgnoresTheSettingsOfAHub(t *testing.T) {
	s := newSources(t, "")
	data := load(t, s).Data
	write(t, filepath.Join(data, layout.FleetSettings), "tools.timeout: \"20\"\n")
	if c := load(t, s); c.Tools.TimeoutS != 30 {
		t.Errorf("got the timeout %d", c.Tools.TimeoutS)
	}
}

// A box must start, whatever is in the file.
func TestSettingsOfTheHubThatAreNotAllowedChangeNothing(t *testing.T) {
	for _, text := range []string{
		"tools.timeout: \"20\"\nlisten: \"0.0.0.0:80\"\n", "tools.timeout: \"0\"\n", "fleet.chats: \"true\"\n", "a: [",
		"data: \"/tmp\"\n", "nonsense: \"1\"\n", "models.allow: \"0.0.0.0/0\"\n",
	} {
		s, data := member(t, "")
		write(t, filepath.Join(data, layout.FleetSettings), text)
		c := load(t, s)
		if c.Tools.TimeoutS != 30 || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "settings of the hub") {
			t.Errorf("%q: got the timeout %d and the warnings %q", text, c.Tools.TimeoutS, c.Warnings)
		}
	}
}

func TestAHubLearnsWhichSettingItCannotMake(t *testing.T) {
	s, _ := member(t, "")
	c := load(t, s)
	for key, value := range map[string]string{
		"listen": "0.0.0.0:80", "data": "/tmp", "tls": "off", "models.allow": "10.0.0.0/8", "fleet.join": "/x",
		"webhooks.allow_private": "true", "plugin_signatures.required": "false", "tools.timeout": "soon", "packs": "/p",
		"engines.language_model.key_env": "HOME", "batch.private_urls": "true", "web_search.url": "http://h",
	} {
		if _, err := c.WithHub(map[string]string{key: value}); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s=%s: the error is %v", key, value, err)
		}
	}
	with, err := c.WithHub(map[string]string{"limits.recordings": "10GB for 7 days"})
	if err != nil || with.Limits.RecordingsDays != 7 {
		t.Errorf("got %+v, %v", with.Limits, err)
	}
	if _, err := os.Stat(filepath.Join(c.Data, layout.FleetSettings)); err == nil {
		t.Error("checking settings has written them")
	}
}

func TestEachKeyThatAHubMayMakeIsASetting(t *testing.T) {
	if len(RemoteSettings()) != len(remote) {
		t.Errorf("of %v only %v are settings", remote, RemoteSettings())
	}
}
