package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/firmware"
	"parley/store"
)

// examined runs doctor and returns its findings by part; of those of one part,
// the last.
func examined(t *testing.T, wantCode int, args ...string) map[string]firmware.Finding {
	t.Helper()
	code, out, errs := parley(t, "", append([]string{"doctor", "--json", "--profile", "test"}, args...)...)
	var d diagnosis
	if err := json.Unmarshal([]byte(out), &d); err != nil || code != wantCode || d.Healthy != (code == exitDone) {
		t.Fatalf("doctor %v: code %d, want %d: %s %s", args, code, wantCode, out, errs)
	}
	found := map[string]firmware.Finding{}
	for _, f := range d.Findings {
		if (f.Mend == "") != (f.Health == firmware.Well) {
			t.Errorf("%+v does not say what to do", f)
		}
		found[f.Part] = f
	}
	return found
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestDoctorFindsNothingWrongWithAWholeBox(t *testing.T) {
	dir, _ := aBox(t)
	listen := freeAddress(t)
	found := examined(t, exitDone, "--data", dir, "--listen", listen)
	for part, words := range map[string]string{
		"data folder": dir, "disk": "free", "database": "sound", "recordings": "1 files", "packs": "packs",
		"libraries": "load", "memory": "need", "clock": "", "port": listen,
	} {
		if f := found[part]; f.Health == firmware.Trouble || !strings.Contains(f.What, words) {
			t.Errorf("%s: %+v", part, f)
		}
	}
	if len(found) != 9 {
		t.Errorf("%d parts", len(found))
	}
	// Before the first start there is nothing, and nothing is made.
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	examined(t, exitDone, "--data", nowhere, "--listen", listen)
	if _, err := os.Stat(nowhere); err == nil {
		t.Error("doctor has made the data folder")
	}
}

func TestDoctorSaysWhatIsWrong(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	damaged := t.TempDir()
	if err := os.WriteFile(filepath.Join(damaged, "parley.db"), []byte("this was a database once"), 0o600); err != nil {
		t.Fatal(err)
	}
	listen := freeAddress(t)
	for _, c := range []struct {
		part, words, mend string
		args              []string
	}{
		{"port", "in use", "--listen", []string{"--listen", taken.Addr().String()}},
		{"database", "damaged", "parley restore", []string{"--data", damaged, "--listen", listen}},
		{"packs", "missing", "parley packs pull", []string{"--packs", t.TempDir(), "--listen", listen}},
		{"libraries", "libonnxruntime.so", "parley packs pull", []string{"--packs", t.TempDir(), "--listen", listen}},
	} {
		f := examined(t, exitFailed, c.args...)[c.part]
		if f.Health != firmware.Trouble || !strings.Contains(f.What, c.words) || !strings.Contains(f.Mend, c.mend) {
			t.Errorf("%s: %+v, want %q, and to mend it %q", c.part, f, c.words, c.mend)
		}
	}
	code, out, errs := parley(t, "", "doctor", "--packs", t.TempDir(), "--listen", listen)
	if code != exitFailed || !strings.Contains(out, "problem") || !strings.Contains(out, "→ run: parley packs pull") || strings.Count(errs, "\n") != 1 {
		t.Errorf("code %d, %s %s", code, out, errs)
	}
}

func TestDoctorKnowsARunningBox(t *testing.T) {
	dir, _ := aBox(t)
	release, err := store.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if f := examined(t, exitDone, "--data", dir, "--listen", l.Addr().String())["port"]; f.Health != firmware.Well || !strings.Contains(f.What, "runs (process") {
		t.Errorf("%+v", f)
	}
	if f := examined(t, exitDone, "--data", dir, "--listen", freeAddress(t))["port"]; f.Health != firmware.Doubt {
		t.Errorf("%+v", f)
	}
}
