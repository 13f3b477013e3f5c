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

// readmeProgram returns the README's only program.
func readmeProgram(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	programs := regexp.MustCompile("(?s)```python\n(.*?)```").FindAllSubmatch(text, -1)
	if len(programs) != 1 {
		t.Fatalf("the README has %d programs in Python, want 1", len(programs))
	}
	program := string(programs[0][1])
	if lines := strings.Count(program, "\n"); lines > 20 {
		t.Errorf("the README's program has %d lines, want 20 at most", lines)
	}
	return program
}

// exampleFile returns the text of a file in examples/.
func exampleFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "examples", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestReadmeFitsOnAPage(t *testing.T) {
	info, err := os.Stat(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 6<<10 {
		t.Errorf("the README has %d bytes, want 6 KiB at most", info.Size())
	}
}

func TestReadmeClientAndExampleToolWork(t *testing.T) {
	t.Parallel()
	b := startBox(t, withScriptedModel(t))
	for name, program := range map[string]struct{ text, input, want string }{
		"README": {readmeProgram(t), "Good morning.\n\n", "You: Box: You said: Good morning.\nYou: "},
		"train.py": {exampleFile(t, "train.py"), "", "The assistant asks for Linz\n" +
			"The tool says: The next train to Linz leaves at 2:12 pm from platform 3.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), filepath.Join(clientFolder(t, "py-client"), "bin", "python"),
				"-c", program.text)
			cmd.Stdin = strings.NewReader(program.input)
			cmd.Env = append(os.Environ(), "PARLEY_URL=ws"+strings.TrimPrefix(b.url, "http"), "PARLEY_API_KEY="+b.key)
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != program.want {
				t.Errorf("%v: it prints %q, want %q", err, out, program.want)
			}
		})
	}
}

func TestExamplePageOpensOneChatHoweverOftenItsButtonIsClicked(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join("testdata", "page.cjs"))
	cmd.Stdin = strings.NewReader(exampleFile(t, "page.html"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// desk is a running examples/desk.py. Fakes replace the programs that record and
// play: arecord plays a recorded question and then silence, aplay discards what it gets.
type desk struct {
	cmd *exec.Cmd
	out io.Reader
}

func startDesk(t *testing.T, env ...string) *desk {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"desk.py": exampleFile(t, "desk.py"),
		"arecord": "#!/bin/bash\nsox -q " + packtest.Recording(t, question) +
			" -t raw -e signed -b 16 -r 16000 -c 1 - pad 0 3\nexec sleep 60\n",
		"aplay": "#!/bin/bash\nexec cat >/dev/null\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	python := filepath.Join(clientFolder(t, "py-client"), "bin", "python")
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

// wait waits until the desk ends, and returns the rest of its output and its exit code.
func (d *desk) wait(t *testing.T) (string, int) {
	t.Helper()
	output, err := io.ReadAll(d.out)
	if err != nil {
		t.Error(err)
	}
	if err := d.cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return string(output), d.cmd.ProcessState.ExitCode()
}

func TestExampleDeskFailsWithOneLine(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	unused := "PARLEY_URL=ws://" + free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	for name, env := range map[string][]string{
		"without a key": {unused},
		"without a box": {unused, "PARLEY_API_KEY=key"},
	} {
		output, code := startDesk(t, env...).wait(t)
		if code != 1 || !strings.HasPrefix(output, "desk.py: ") || strings.Count(output, "\n") != 1 {
			t.Errorf("%s: code %d, %q", name, code, output)
		}
	}
}

func theDeskAnswersAndEndsOnCtrlC(t *testing.T, b *runningBox) {
	d := startDesk(t, "PARLEY_URL=ws"+strings.TrimPrefix(b.url, "http"), "PARLEY_API_KEY="+b.key)
	timeout := time.AfterFunc(time.Minute, func() { _ = syscall.Kill(-d.cmd.Process.Pid, syscall.SIGKILL) })
	defer timeout.Stop()
	lines := bufio.NewReader(d.out)
	for _, speaker := range []string{"Visitor: ", "Desk: "} {
		if line, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(line, speaker) {
			t.Fatalf("%v: it prints %q, want a line that begins with %q", err, line, speaker)
		}
	}
	// A terminal signals the whole process group.
	if err := syscall.Kill(-d.cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	d.out = lines
	output, code := d.wait(t)
	// Python prints this line itself when a player ends at the same moment.
	output = regexp.MustCompile(`Loop <.*> that handles pid \d+ is closed\n+`).ReplaceAllString(output, "")
	if output = strings.TrimRight(output, "\n") + "\n"; code != 0 || strings.Contains(output, "Traceback") ||
		!strings.HasSuffix(output, "\nThe desk is closed.\n") {
		t.Errorf("code %d, %q", code, output)
	}
}
