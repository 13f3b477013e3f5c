package packtest

import (
	"bufio"
	"compress/gzip"
	"os"
	"regexp"
	"strings"
	"testing"
)

// Where Debian's asterisk-core-sounds-en-wav has its prompts, spoken by one
// woman at 8 kHz, and asterisk-core-sounds-en the words of each.
const (
	recordings  = "/usr/share/asterisk/sounds/en_US_f_Allison/"
	words       = "/usr/share/doc/asterisk-core-sounds-en/core-sounds-en.txt.gz"
	installHint = "%v: install Debian's asterisk-core-sounds-en-wav (`make packs` does)"
)

// Recording returns the path of a recording of a person, a WAV file at 8 kHz: one of
// Debian's prompts, by name. It fails the test if there is none.
func Recording(t testing.TB, name string) string {
	t.Helper()
	path := recordings + name + ".wav"
	if _, err := os.Stat(path); err != nil {
		t.Fatalf(installHint, err)
	}
	return path
}

// wordsLine matches a line of the list: a name and the spoken words. Brackets would
// contain sounds that are not words.
var wordsLine = regexp.MustCompile(`^([\w\-/]+):\s*([^\[(]+)$`)

// Words returns the words of the recordings, as far as they are known, by name. It fails
// the test if there is no list.
func Words(t testing.TB) map[string]string {
	t.Helper()
	f, err := os.Open(words)
	if err != nil {
		t.Fatalf(installHint, err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	transcripts := map[string]string{}
	lines := bufio.NewScanner(z)
	for lines.Scan() {
		m := wordsLine.FindStringSubmatch(strings.TrimSpace(lines.Text()))
		if m == nil {
			continue
		}
		if _, err := os.Stat(recordings + m[1] + ".wav"); err == nil { // not all were recorded
			transcripts[m[1]] = m[2]
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return transcripts
}
