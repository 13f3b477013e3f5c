package main

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"parley/appliance/audio"
	"parley/appliance/box"
	"parley/firmware/doctor"
	"parley/internal/layout"
	"parley/store"
)

// examined runs doctor and returns its findings by part, the last one of each part.
func examined(t *testing.T, wantCode int, args ...string) map[string]doctor.Finding {
	t.Helper()
	code, out, errs := parley(t, "", append([]string{"doctor", "--json", "--profile", "test"}, args...)...)
	var d box.Diagnosis
	if err := json.Unmarshal([]byte(out), &d); err != nil || code != wantCode || d.Healthy != (code == exitDone) {
		t.Fatalf("doctor %v: code %d, want %d: %s %s", args, code, wantCode, out, errs)
	}
	found := map[string]doctor.Finding{}
	for _, f := range d.Findings {
		if (f.Mend == "") != (f.Health == doctor.OK) {
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
		"data folder": dir, "disk": "free", "database": "intact", "recordings": "1 files", "packs": "packs",
		"libraries": "load", "hearing": "English only", "memory": "need", "clock": "", "port": listen, "webhooks": "",
		"backup": "none was made", "audit log": "none was changed", "approved answers": "English",
	} {
		if f := found[part]; f.Health == doctor.Problem || !strings.Contains(f.What, words) {
			t.Errorf("%s: %+v", part, f)
		}
	}
	if len(found) != 14 {
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
		if f.Health != doctor.Problem || !strings.Contains(f.What, c.words) || !strings.Contains(f.Mend, c.mend) {
			t.Errorf("%s: %+v, want %q, and to mend it %q", c.part, f, c.words, c.mend)
		}
	}
	code, out, errs := parley(t, "", "doctor", "--packs", t.TempDir(), "--listen", listen)
	if code != exitFailed || !strings.Contains(out, "problem") || !strings.Contains(out, "→ run: parley packs pull") ||
		strings.Count(errs, "\n") != 1 {
		t.Errorf("code %d, %s %s", code, out, errs)
	}
}

func TestDoctorKnowsARunningBox(t *testing.T) {
	dir, _ := aBox(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if f := examined(t, exitDone, "--data", dir, "--listen", l.Addr().String())["port"]; f.Health != doctor.OK ||
		!strings.Contains(f.What, "runs (process") {
		t.Errorf("%+v", f)
	}
	if f := examined(t, exitDone, "--data", dir, "--listen", freeAddress(t))["port"]; f.Health != doctor.Warning {
		t.Errorf("%+v", f)
	}
}

// recordedBox returns a data folder with an ended chat of which both sides were recorded,
// and the files.
func recordedBox(t *testing.T) (dir string, files map[store.Side]string) {
	t.Helper()
	dir, files = filepath.Join(t.TempDir(), "box"), map[store.Side]string{}
	s, err := store.Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	must(t, err)
	_, err = s.CreateKey(t.Context(), store.NewKey{Account: "home"})
	must(t, err)
	home, err := s.Account(t.Context(), "home")
	must(t, err)
	chat := store.NewChat{
		ID:        uuid.NewString(),
		GroupID:   uuid.NewString(),
		AccountID: home.ID,
		StartedMS: 1000,
		RequestID: "r",
		Recorded:  true,
	}
	must(t, s.StartChat(t.Context(), chat,
		store.Event{
			ID:          uuid.NewString(),
			AtMS:        1000,
			Type:        store.AgentMessage,
			Role:        store.Agent,
			MessageText: "Hello.",
		},
		store.Event{
			ID:   uuid.NewString(),
			AtMS: 2000,
			Type: store.UserRecordingStart,
			Role: store.User,
		}))
	for _, side := range []store.Side{store.UserSide, store.AssistantSide} {
		f, err := s.CreateRecording(chat.ID, side)
		must(t, err)
		files[side] = f.Name()
		w, err := audio.NewOggOpusWriter(f, 16000, 1, 1)
		must(t, err)
		must(t, w.Write(make([]float32, 5*16000)))
		must(t, errors.Join(w.Close(), f.Close()))
	}
	must(t, s.EndChat(t.Context(), chat.ID, store.UserEnded, 9000))
	must(t, s.Close())
	return dir, files
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestDoctorFindsWhatIsLostOfRecordings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage func(dir string, user, assistant string) error
		words  string // "": all is well
	}{
		"nothing": {func(string, string, string) error { return nil }, ""},
		"a side is gone": {func(_, _, assistant string) error {
			return os.Remove(assistant)
		}, "1 are missing, the first is "},
		"all are gone": {func(dir, _, _ string) error {
			return os.RemoveAll(filepath.Join(dir, layout.Recordings))
		}, "2 are missing"},
		"a bit is flipped": {func(_, user, _ string) error {
			return flip(user, -200)
		}, "-user.opus (it is damaged at byte "},
		"the head is": {func(_, user, _ string) error {
			return flip(user, 30)
		}, "-user.opus (it is damaged at byte 0)"},
		"it is cut off": {func(_, user, _ string) error {
			return os.Truncate(user, 700)
		}, "-user.opus (it is cut off)"},
		"it is no sound": {func(_, user, _ string) error {
			return os.WriteFile(user, []byte("words"), 0o600)
		}, "1 are incomplete"},
		"a stray file": {func(_, user, _ string) error {
			return os.WriteFile(filepath.Join(filepath.Dir(user), uuid.NewString()+"-user.opus"), nil, 0o600)
		}, "1 belong to no chat"},
	} {
		dir, files := recordedBox(t)
		must(t, c.damage(dir, files[store.UserSide], files[store.AssistantSide]))
		f := examined(t, exitDone, "--data", dir, "--listen", freeAddress(t))["recordings"]
		if (f.Health == doctor.OK) != (c.words == "") || !strings.Contains(f.What, c.words) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// flip changes the byte at an offset of a file, from its end if the offset is negative.
func flip(path string, at int) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if at < 0 {
		at += len(data)
	}
	data[at] ^= 0xff
	return os.WriteFile(path, data, 0o600)
}
