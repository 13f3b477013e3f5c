package box

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/appliance/config"
	"parley/firmware/doctor"
	"parley/fleet/fleettest"
	"parley/store"
)

func TestDoctorSaysWhetherTheBoxReachesItsHub(t *testing.T) {
	f := fleettest.Start(t)
	text, err := f.Join(t, "kiosk").Text()
	if err != nil {
		t.Fatal(err)
	}
	cfg := config.Config{Data: t.TempDir()}
	cfg.Fleet.Join = filepath.Join(t.TempDir(), "kiosk.join")
	if err := os.WriteFile(cfg.Fleet.Join, text, 0o600); err != nil {
		t.Fatal(err)
	}
	records, err := store.Open(t.Context(), cfg.Data, fleettest.Log(t))
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	find := func(health doctor.Health, says string) {
		t.Helper()
		found, err := examineFleet(t.Context(), cfg)
		if err != nil || len(found) != 1 || found[0].Health != health || !strings.Contains(found[0].What, says) {
			t.Errorf("found %+v, %v; want %q", found, err, says)
		}
	}
	find(doctor.OK, "box kiosk of the hub test hub; the box has not joined yet")
	if err := records.JoinFleet(t.Context(), store.Fleet{Box: "kiosk", Hub: "test hub"}); err != nil {
		t.Fatal(err)
	}
	if err := records.ApplyWant(t.Context(), store.Want{Revision: 7, Hub: "test hub"}); err != nil {
		t.Fatal(err)
	}
	find(doctor.OK, "runs revision 7 with 0 managed things; 1 facts wait")
	cfg.Fleet.Join += ".lost"
	find(doctor.Problem, "kiosk.join.lost")
	cfg.Fleet.Join = ""
	if found, err := examineFleet(t.Context(), cfg); err != nil || found != nil {
		t.Errorf("found %+v, %v of a box in no fleet", found, err)
	}
}
