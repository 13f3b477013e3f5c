package appliance

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/internal/packtest"
)

// What the README gives a newcomer to copy does what it says.

// readme returns the first block of the README that is written in a language and
// has these words.
func readme(t *testing.T, language, with string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllSubmatch(text, -1) {
		if strings.Contains(string(m[1]), with) {
			return string(m[1])
		}
	}
	t.Fatalf("the README has nothing in %s with %q", language, with)
	return ""
}

func TestTheReadmesPageOpensOneChatHoweverOftenItsButtonIsClicked(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join("testdata", "page.cjs"))
	cmd.Stdin = strings.NewReader(readme(t, "html", ""))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// desk is the README's desk.py, with stand-ins for the programs that record and
// play: the one says the question and is silent then, the other listens.
type desk struct {
	cmd *exec.Cmd
	out io.Reader
}

func startDesk(t *testing.T, env ...string) *desk {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"desk.py": readme(t, "python", "front desk"),
		"arecord": "#!/bin/bash\nsox -q " + packtest.Recording(t, question) +
			" -t raw -e signed -b 16 -r 16000 -c 1 - pad 0 3\nexec sleep 60\n",
		"aplay": "#!/bin/bash\nexec cat >/dev/null\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	python := filepath.Join(installed(t, "py-client"), "bin", "python")
	cmd := exec.CommandContext(t.Context(), python, "-u", filepath.Join(dir, "desk.py"))
	cmd.Env = append(os.Environ(),
		append([]string{"PATH=" + dir + ":" + os.Getenv("PATH"), "PARLEY_API_KEY="}, env...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &desk{cmd, out}
}

// end returns the rest of what the desk says, and its exit code.
func (d *desk) end(t *testing.T) (string, int) {
	t.Helper()
	said, err := io.ReadAll(d.out)
	if err != nil {
		t.Error(err)
	}
	if exit := (*exec.ExitError)(nil); d.cmd.Wait() != nil && !errors.As(err, &exit) && d.cmd.ProcessState == nil {
		t.Error("it did not run")
	}
	return string(said), d.cmd.ProcessState.ExitCode()
}

func TestTheReadmesDeskEndsWithOneLine(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "PARLEY_URL=ws://" + free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	for name, env := range map[string][]string{
		"without a key": {nobody},
		"without a box": {nobody, "PARLEY_API_KEY=key"},
	} {
		said, code := startDesk(t, env...).end(t)
		if code != 1 || !strings.HasPrefix(said, "desk.py: ") || strings.Count(said, "\n") != 1 {
			t.Errorf("%s: code %d, %q", name, code, said)
		}
	}
}

func theReadmesDeskAnswersAndEndsOnCtrlC(t *testing.T, b *runningBox) {
	d := startDesk(t, "PARLEY_URL=ws"+strings.TrimPrefix(b.url, "http"), "PARLEY_API_KEY="+b.key)
	over := time.AfterFunc(time.Minute, func() { _ = syscall.Kill(-d.cmd.Process.Pid, syscall.SIGKILL) })
	defer over.Stop()
	lines := bufio.NewReader(d.out)
	for _, who := range []string{"Visitor: ", "Desk: "} {
		if line, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(line, who) {
			t.Fatalf("%v, %q, want what %s says", err, line, who)
		}
	}
	// As a terminal does: all of its group are told.
	if err := syscall.Kill(-d.cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	d.out = lines
	said, code := d.end(t)
	// Python's own word on a player that ends just then.
	said = regexp.MustCompile(`Loop <.*> that handles pid \d+ is closed\n+`).ReplaceAllString(said, "")
	if said = strings.TrimRight(said, "\n") + "\n"; code != 0 || strings.Contains(said, "Traceback") ||
		!strings.HasSuffix(said, "\nThe desk is closed.\n") {
		t.Errorf("code %d, %q", code, said)
	}
}
