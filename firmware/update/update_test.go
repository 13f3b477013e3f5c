package update

import (
	"crypto/ed25519"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/firmware/release"
)

// killsVariable is the number of power cuts at random moments. One takes a few seconds.
const killsVariable = "PARLEY_TEST_UPDATE_KILLS"

func (tr tree) want(what string, want ...state) {
	tr.t.Helper()
	tr.wantOne(what, tr.boot(), want...)
}

func (tr tree) wantOne(what string, got state, want ...state) {
	tr.t.Helper()
	for _, w := range want {
		if reflect.DeepEqual(got, w) {
			return
		}
	}
	log, _ := os.ReadFile(filepath.Join(tr.root, "/var/lib/parley-update", logName))
	tr.t.Errorf("%s: %+v, want %+v\n%s", what, got, want, log)
}

func TestUpdateReplacesEverything(t *testing.T) {
	dir := inside(t)
	if dir == "" {
		return
	}
	tr := prepared(t, dir, "good")
	told := tr.apply(0, 0)
	if last := told[len(told)-1]; last != "the box is at 0.1.1" {
		t.Errorf("told %q", told)
	}
	tr.want("after the update", newState)
}

func TestVersionThatFailsIsReplacedByTheOldOne(t *testing.T) {
	dir := inside(t)
	if dir == "" {
		return
	}
	for _, kind := range []string{"exits", "unready", "silent", "uninstallable"} {
		tr := prepared(t, dir, kind)
		told := strings.Join(tr.apply(0, 0), "\n")
		if !strings.Contains(told, "going back to 0.1.0") {
			t.Errorf("%s: told %s", kind, told)
		}
		if aside := readOne(filepath.Join(tr.root, dataFolder, "parley.db-of-0.1.1-*Z")); kind == "silent" &&
			aside != "2 hello\n" {
			t.Errorf("the database of the failed version holds %q", aside)
		}
		tr.want(kind, oldState)
	}
}

func TestPowerCutAtAnyActLeavesOneWholeVersion(t *testing.T) {
	dir := inside(t)
	if dir == "" {
		return
	}
	good := prepared(t, dir, "good")
	silent := prepared(t, dir, "silent")
	forward := cutAtEach(good, 1, newState)
	cutAtEach(silent, forward, oldState)
}

// cutAtEach has an update cut at each act from the nth, and returns how many there are. The
// old state has to come back, or the one in which the update ends without a cut.
func cutAtEach(tr tree, n int, end state) int {
	for ; ; n++ {
		trial := tr.grow()
		told := trial.apply(n, 0)
		if len(told) < n {
			trial.want("not cut", end)
			trial.fell()
			return n - 1
		}
		trial.want(fmt.Sprintf("cut after %q", told), oldState, end)
		trial.fell()
	}
}

func TestPowerCutAtAnyMomentLeavesOneWholeVersion(t *testing.T) {
	kills, _ := strconv.Atoi(os.Getenv(killsVariable))
	if kills == 0 {
		t.Skipf("%s is the number of power cuts", killsVariable)
	}
	dir := inside(t)
	if dir == "" {
		return
	}
	for _, kind := range []string{"good", "silent"} {
		tr := prepared(t, dir, kind)
		whole := tr.grow()
		begun := time.Now()
		whole.apply(0, 0)
		takes := time.Since(begun)
		whole.fell()
		seen := map[string]int{}
		for range kills / 4 {
			after := rand.N(takes)
			trial := tr.grow()
			told := trial.apply(0, after)
			found := trial.packageStatus()
			trial.want(fmt.Sprintf("%s, cut after %v, %q", kind, after, told), oldState, newState)
			seen[fmt.Sprintf("cut at %q with the package %s: %s", told, found, trial.version())]++
			trial.fell()
			trial = tr.grow() // the same without the end of its children
			got := trial.stateAfter(trial.command("killed", after.String()))
			trial.wantOne(fmt.Sprintf("%s, killed after %v", kind, after), got, oldState, newState)
			seen["updater killed: "+trial.version()]++
			trial.fell()
		}
		for what, n := range seen {
			t.Logf("%s: %3d times %s", kind, n, what)
		}
	}
}

// packageStatus returns what dpkg was doing with the package.
func (tr tree) packageStatus() string {
	out, _ := exec.Command("dpkg-query", "--admindir", filepath.Join(tr.root, "var/lib/dpkg"), "--show", "--showformat",
		"${db:Status-Status} ${Version}", Package).Output()
	return string(out)
}

// version returns the installed version.
func (tr tree) version() string {
	text, _ := os.ReadFile(filepath.Join(tr.root, "usr/share/parley/version"))
	return strings.TrimSpace(string(text))
}

func TestRefusedFileChangesNothing(t *testing.T) {
	dir := inside(t)
	if dir == "" {
		return
	}
	tr, key := installed(t, dir)
	_, foreign, err := ed25519.GenerateKey(nil)
	must(t, err)
	version := func(v string) func(*release.Manifest) { return func(m *release.Manifest) { m.Version = v } }
	cases := []struct {
		why    string
		key    ed25519.PrivateKey
		change func(*release.Manifest)
		damage int64 // offset from the end at which a byte changes
	}{
		{why: "not signed"},
		{why: "does not trust", key: foreign},
		{why: "0.1.0 is installed already", key: key, change: version("0.1.0")},
		{why: "0.0.9 is older", key: key, change: version("0.0.9")},
		{why: "0.1.0-rc1 is older", key: key, change: version("0.1.0-rc1")},
		{why: "for the processor arm64", key: key, change: func(m *release.Manifest) { m.Arch = "arm64" }},
		{why: "for Debian's release sid", key: key, change: func(m *release.Manifest) { m.Suite = "sid" }},
		{why: "the database has schema 1", key: key, change: func(m *release.Manifest) { m.Schema = 0 }},
		{why: "program is version 0.1.1 with schema 2", key: key, change: func(m *release.Manifest) { m.Schema = 3 }},
		{why: "is damaged", key: key, damage: 20_000},
		{why: "cut off", key: key, damage: -1},
	}
	for _, c := range cases {
		trial := tr.grow()
		trial.write("good", c.key, c.change)
		trial.damage(c.damage)
		out, err := trial.command("prepare").CombinedOutput()
		if err == nil || !strings.Contains(string(out), c.why) {
			t.Errorf("%s: %v: %s", c.why, err, out)
		}
		trial.want(c.why, oldState)
		trial.fell()
	}
}

// damage changes a byte of the release file, or cuts the last one off.
func (tr tree) damage(fromEnd int64) {
	if fromEnd == 0 {
		return
	}
	file := filepath.Join(tr.root, "release")
	text, err := os.ReadFile(file)
	must(tr.t, err)
	if fromEnd < 0 {
		text = text[:len(text)-1]
	} else {
		text[int64(len(text))-fromEnd] ^= 1
	}
	must(tr.t, os.WriteFile(file, text, 0o644))
}

func TestMachineThatCannotInstallIsLeftAlone(t *testing.T) {
	dir := inside(t)
	if dir == "" {
		return
	}
	tr, key := installed(t, dir)
	tr.write("good", key, nil)
	broken := build(t, dir, "parley-test-broken", "1", "", map[string]string{"DEBIAN/postinst": "#!/bin/false\n"})
	must(t, copyFile(broken, filepath.Join(tr.root, "broken.deb")))
	for why, role := range map[string]string{
		"is installing packages":   "locked",
		"is mounted read-only":     "readonly",
		"MB free, and the update":  "full",
		"another parley update":    "twice",
		"not installed completely": "broken",
	} {
		trial := tr.grow()
		out, err := trial.command(role).CombinedOutput()
		if err == nil || !strings.Contains(string(out), why) {
			t.Errorf("%s: %v: %s", why, err, out)
		}
		if role == "broken" {
			trial.shell("dpkg --purge parley-test-broken")
		}
		trial.want(why, oldState)
		trial.fell()
	}
}
