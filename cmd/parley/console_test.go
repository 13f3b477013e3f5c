package main

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"parley/store"
)

// onColumns runs a command on a terminal and returns what it shows.
func onColumns(t *testing.T, columns int, environ []string, args ...string) string {
	t.Helper()
	s := onScreen(t, columns, program(t, environ, args...))
	<-s.done
	return s.text()
}

func TestTablesFitIntoANarrowTerminal(t *testing.T) {
	data := filepath.Join(t.TempDir(), "box")
	s, err := store.Open(t.Context(), data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateKey(t.Context(),
		store.NewKey{Account: "museum", Label: "the kiosk at the door, beside the cloakroom"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	environ := []string{"PARLEY_PACKS=/nowhere", "PARLEY_DATA=" + data}
	for want, args := range map[string][]string{
		"cloakroom": {"keys", "list"},
		"voice-joe": {"packs", "list"},
		"database":  {"doctor"},
	} {
		for _, columns := range []int{60, 100} {
			shown := onColumns(t, columns, environ, args...)
			if !strings.Contains(shown, want) {
				t.Errorf("%v at %d columns has no %q:\n%s", args, columns, want, shown)
			}
			for line := range strings.Lines(shown) {
				line = line[strings.LastIndex(strings.TrimRight(line, "\n"), "\r")+1:]
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > columns &&
					!strings.Contains(line, "/") {
					t.Errorf("%v: %d characters in %d columns: %q", args, n, columns, line)
				}
			}
		}
		_, piped, _ := parleyIn(t.Context(), "", append(environ, "COLUMNS=60"), args...)
		if want == "cloakroom" && !strings.Contains(piped, "the kiosk at the door, beside the cloakroom\n") {
			t.Errorf("%v is wrapped in a pipe:\n%s", args, piped)
		}
	}
}

func TestErrorsFitIntoTheTerminal(t *testing.T) {
	shown := onColumns(t, 40, nil, "serve", "--profile", "huge")
	for line := range strings.Lines(shown) {
		if len(strings.TrimRight(line, "\n")) > 40 {
			t.Errorf("%d columns: %q", len(line), line)
		}
	}
	if strings.Count(shown, "\n") < 2 || !strings.HasPrefix(shown, "parley: ") {
		t.Errorf("shown:\n%s", shown)
	}
	if shown := onColumns(t, 40, []string{"COLUMNS=200"}, "serve", "--profile", "huge"); strings.Count(shown,
		"\n") != 1 {
		t.Errorf("COLUMNS=200:\n%s", shown)
	}
}
