package appliance

import (
	"context"
	"encoding/json"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/fleet"
	"parley/internal/layout"
)

// killedVariable has the flags of the box that a test runs in a process of its own, and kills.
const killedVariable = "PARLEY_TEST_KILLED_BOX"

// TestAKilledBoxHasOneRevisionOrTheOther kills a box at random moments while it applies wants that
// differ in everything. Each time, all rows belong to one revision and the plugin's files are
// there. In the end the box runs the last one.
func TestAKilledBoxHasOneRevisionOrTheOther(t *testing.T) {
	if text := os.Getenv(killedVariable); text != "" {
		var flags map[string]string
		if err := json.Unmarshal([]byte(text), &flags); err != nil {
			t.Fatal(err)
		}
		t.Fatal(runBareBox(context.Background(), flags, slog.New(slog.DiscardHandler)))
	}
	kills := 8
	if os.Getenv("PARLEY_FULL_TESTS") != "" {
		kills = 200
	}
	b := joinBareBox(t)
	put := func(revision int64) {
		t.Helper()
		if err := b.hub.PutWant(t.Context(), "kiosk", fullRemoteWant(t, b.hub, revision)); err != nil {
			t.Fatal(err)
		}
	}
	// What the box has when it runs an even and an odd revision.
	var whole [2][]string
	revision := int64(0)
	b.start(t)
	for range whole {
		revision++
		put(revision)
		next(t, b.states, func(s fleet.State) bool { return s.Running == revision && s.Waits == "" })
		whole[revision%2] = withoutNumber(b.contents(t))
	}
	b.stop()
	if slices.Equal(whole[0], whole[1]) {
		t.Fatal("the two revisions are the same")
	}
	for range kills {
		kill := b.startProcess(t)
		for range 1 + rand.IntN(3) {
			revision++
			put(revision)
			// A moment in which the box starts, fetches, applies, restarts or does nothing.
			<-time.After(time.Duration(rand.IntN(500)) * time.Millisecond)
		}
		kill()
		b.checkWhole(t, whole)
	}
	b.start(t)
	next(t, b.states, func(s fleet.State) bool { return s.Running == revision && s.Waits == "" })
	b.stop()
	if got := withoutNumber(b.contents(t)); !slices.Equal(got, whole[revision%2]) {
		t.Errorf("in the end the box has\n%s\nand not\n%s", strings.Join(got, "\n"),
			strings.Join(whole[revision%2], "\n"))
	}
}

// withoutNumber leaves out the number of the revision.
func withoutNumber(contents string) []string {
	lines := strings.Split(contents, "\n")
	return slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "running") })
}

// startProcess starts the box in a process of its own. kill kills it.
func (b *bareBox) startProcess(t *testing.T) (kill func()) {
	t.Helper()
	flags, err := json.Marshal(b.flags)
	if err != nil {
		t.Fatal(err)
	}
	itself, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), itself, "-test.timeout=0", "-test.run=^"+regexp.QuoteMeta(t.Name())+"$")
	cmd.Env = append(os.Environ(), killedVariable+"="+string(flags))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread() // Pdeathsig is sent when the thread that started the process ends
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() {
		defer runtime.UnlockOSThread()
		if err := cmd.Process.Kill(); err != nil {
			t.Errorf("the box ended before it was killed: %v", err)
		}
		_ = cmd.Wait() // says that it was killed
	}
}

// checkWhole checks that all rows are of one revision, that the plugin has its files, and that
// the file with the settings is whole.
func (b *bareBox) checkWhole(t *testing.T, whole [2][]string) {
	t.Helper()
	files := func(all []string) (list []string) {
		return slices.DeleteFunc(slices.Clone(all), func(l string) bool { return !strings.HasPrefix(l, "file ") })
	}
	rows := func(all []string) (list []string) {
		return slices.DeleteFunc(slices.Clone(all), func(l string) bool { return strings.HasPrefix(l, "file ") })
	}
	got := withoutNumber(b.contents(t))
	is := -1
	for i := range whole {
		if slices.Equal(rows(got), rows(whole[i])) {
			is = i
		}
	}
	if is < 0 {
		t.Fatalf("the box has\n%s\nwhich is neither\n%s\nnor\n%s", strings.Join(got, "\n"),
			strings.Join(whole[0], "\n"), strings.Join(whole[1], "\n"))
	}
	settings := false
	for _, file := range files(got) {
		settings = settings || strings.HasPrefix(file, "file "+layout.FleetSettings) &&
			(slices.Contains(whole[0], file) || slices.Contains(whole[1], file))
	}
	if !settings {
		t.Errorf("the file with the settings of the hub is not whole: %s", strings.Join(files(got), "\n"))
	}
	for _, file := range files(whole[is]) {
		if strings.HasPrefix(file, "file "+layout.Plugins+"/") && !slices.Contains(got, file) {
			t.Errorf("the plugin of the revision that the box has lacks %s", file)
		}
	}
}
