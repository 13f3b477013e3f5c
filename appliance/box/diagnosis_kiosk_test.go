package box

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/appliance/audio/soundcard"
	"parley/appliance/config"
	"parley/firmware/doctor"
	"parley/store"
)

func TestExamineDeviceReportsItsFault(t *testing.T) {
	all := []soundcard.Device{
		{ID: "alsa_input.usb-Acme_Puck", Name: "Acme Puck Mono", Kind: soundcard.Input},
		{ID: "alsa_input.usb-Acme_Cam", Name: "Acme Camera", Kind: soundcard.Input},
		{
			ID:      "room.monitor",
			Name:    "Monitor of Room",
			Kind:    soundcard.Input,
			Default: true,
		},
	}
	for _, row := range []struct {
		wanted string
		health doctor.Health
		says   string
	}{
		{"puck", doctor.OK, "Acme Puck Mono"},
		{"alsa_input.usb-Acme_Cam", doctor.OK, "Acme Camera"},
		{"ACME CAMERA", doctor.OK, "Acme Camera"},
		{"acme", doctor.Problem, `several microphones: "Acme Puck Mono" (alsa_input.usb-Acme_Puck), "Acme Camera"`},
		{"webcam", doctor.Problem, `there are "Acme Puck Mono"`},
		{"", doctor.Problem, "records what the box plays"},
	} {
		f := examineDevice("microphone", soundcard.Input, all, row.wanted)
		if f.Health != row.health || !strings.Contains(f.What, row.says) ||
			(f.Mend == "") != (f.Health == doctor.OK) {
			t.Errorf("%q: %+v, want %s with %q", row.wanted, f, row.health, row.says)
		}
	}
	if f := examineDevice("microphone", soundcard.Input, nil, ""); f.Health != doctor.Problem {
		t.Errorf("without any: %+v", f)
	}
	if f := examineDevice("microphone", soundcard.Input, nil, "puck"); !strings.Contains(f.What,
		"no microphone matches \"puck\": there is none") {
		t.Errorf("without any: %+v", f)
	}
	if f := examineFile("button", filepath.Join(t.TempDir(), "gpiochip0"), 4, "gpio"); f.Health != doctor.Problem ||
		!strings.Contains(f.What, "no such file") {
		t.Errorf("%+v", f)
	}
	if f := examineFile("keyboard", os.DevNull, 4, "input"); f.Health != doctor.OK {
		t.Errorf("%+v", f)
	}
}

func TestExamineKioskChatReportsItsFault(t *testing.T) {
	cfg := config.Config{Data: t.TempDir(), Kiosk: config.Kiosk{Enabled: true, Account: "default"}}
	examine := func() []doctor.Finding {
		t.Helper()
		found, err := examineKioskChat(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if found := examine(); len(found) > 0 {
		t.Errorf("before the first start: %+v", found)
	}
	records, err := store.Open(t.Context(), cfg.Data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := records.Close(); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		kiosk  config.Kiosk
		health doctor.Health
		says   string
	}{
		{config.Kiosk{Enabled: true, Account: "museum"}, doctor.Problem, `kiosk.account: there is no account "museum"`},
	} {
		cfg.Kiosk = row.kiosk
		if found := examine(); len(found) != 1 || found[0].Health != row.health ||
			!strings.Contains(found[0].What, row.says) {
			t.Errorf("%+v: %+v, want %s with %q", row.kiosk, found, row.health, row.says)
		}
	}
	cfg.Kiosk.Enabled = false
	if found := examine(); len(found) > 0 {
		t.Errorf("without a kiosk: %+v", found)
	}
}
