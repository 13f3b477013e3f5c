package bench

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/engine"
)

func TestThePromptsOfTheReferenceAreFound(t *testing.T) {
	all, err := recordings("")
	if err != nil {
		t.Fatal(err)
	}
	some := scored(all, referencePrompts)
	if len(some) != referencePrompts {
		t.Fatalf("%d prompts, want %d", len(some), referencePrompts)
	}
	if first := some[0]; first.Name != "tt-allbusy" || first.duration() > maxRecording {
		t.Errorf("the longest is %s, %v", first.Name, first.duration())
	}
	for i, r := range some {
		if i > 0 && r.duration() > some[i-1].duration() {
			t.Errorf("%s is longer than the one before it", r.Name)
		}
		if strings.ContainsAny(r.Text, "[(") {
			t.Errorf("%s is %q, which nobody says", r.Name, r.Text)
		}
	}
}

func TestTurnsAreDifferentAndWithoutPauses(t *testing.T) {
	all, err := recordings("")
	if err != nil {
		t.Fatal(err)
	}
	some := turns(all, 20)
	names := map[string]bool{}
	for _, r := range some {
		names[r.Name] = true
		if d := r.duration(); d < shortestTurn || d > longestTurn {
			t.Errorf("%s is %v long", r.Name, d)
		}
		if p := longestPause(r.PCM, engine.SpeechRateHz); p > longestTurnPause {
			t.Errorf("%s has a pause of %v", r.Name, p)
		}
	}
	if len(names) != 20 {
		t.Errorf("20 turns are %d recordings", len(names))
	}
	if again := turns(all, 20); !slices.EqualFunc(some, again, func(a, b recording) bool { return a.Name == b.Name }) {
		t.Error("the same turns come out differently")
	}
	if n := len(turns(all[:1], 3)); n != 0 {
		t.Errorf("%d turns of a minute-long recording", n)
	}
}

func TestAFolderOfOnesOwnIsReadWithItsWords(t *testing.T) {
	dir := t.TempDir()
	for name, d := range map[string]time.Duration{"short": time.Second, "long": 2 * time.Second} {
		wav := audio.EncodeWAV(tone(d, -6), testRateHz)
		if err := os.WriteFile(filepath.Join(dir, name+".WAV"), wav, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "short.txt"), []byte("Beep.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := recordings(dir)
	if err != nil || len(all) != 2 || all[0].Name != "long" || all[0].Text != "" || all[1].Text != "Beep.\n" {
		t.Fatalf("%v, %v", all, err)
	}
	if some := scored(all, 10); len(some) != 1 || some[0].Name != "short" {
		t.Errorf("judged are %d recordings", len(some))
	}
	for path, want := range map[string]string{
		t.TempDir():                   "no recordings in",
		filepath.Join(dir, "nothing"): "no such file",
	} {
		if _, err := recordings(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "broken.mp3"), []byte("no sound"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := recordings(dir); err == nil || !strings.Contains(err.Error(), "broken.mp3") {
		t.Errorf("a broken recording: %v", err)
	}
}

func TestSpeechIsAsLongAsAsked(t *testing.T) {
	all := []recording{{PCM: tone(time.Second, -6)}, {PCM: tone(time.Second, -6)}}
	for _, d := range []time.Duration{500 * time.Millisecond, 1500 * time.Millisecond, 3 * time.Second} {
		if got := (recording{PCM: speechOf(all, d)}).duration(); got != d {
			t.Errorf("%v of speech are %v", d, got)
		}
	}
}

func TestMissingRecordingsSayWhichPackagesHaveThem(t *testing.T) {
	_, err := debianPrompts(debianRecordings, filepath.Join(t.TempDir(), "core-sounds-en.txt.gz"))
	if err == nil || !strings.Contains(err.Error(),
		"apt-get install asterisk-core-sounds-en-wav asterisk-core-sounds-en,") {
		t.Errorf("without the words: %v", err)
	}
}
