package webhook

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"parley/store"
)

// documented returns the block of the documentation in a language.
func documented(t *testing.T, language string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "webhooks.md"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindSubmatch(text)
	if m == nil {
		t.Fatalf("nothing in the documentation is in %s", language)
	}
	return string(m[1])
}

// The documented receivers, unmodified except for the port, accept what comes from the box
// and refuse the rest.
func TestDocumentedReceiversVerifySignatures(t *testing.T) {
	for _, r := range []struct{ language, command, file string }{
		{"python", "python3", "receiver.py"},
		{"js", "node", "receiver.cjs"},
	} {
		t.Run(r.language, func(t *testing.T) {
			b := newBox(t)
			free, err := net.Listen("tcp", "127.0.0.1:0")
			b.must(err)
			address := free.Addr().String()
			free.Close()
			_, port, _ := net.SplitHostPort(address)
			script := filepath.Join(t.TempDir(), r.file)
			b.must(os.WriteFile(script, []byte(strings.Replace(documented(t, r.language), "9000", port, 1)), 0o600))
			cmd := exec.CommandContext(t.Context(), r.command, script)
			cmd.Env = append(os.Environ(), "SIGNING_KEY="+b.key)
			out, err := cmd.StdoutPipe()
			b.must(err)
			complaint := &strings.Builder{}
			cmd.Stderr = complaint
			b.must(cmd.Start())
			defer func() {
				_ = cmd.Process.Kill()
				_, _ = io.Copy(io.Discard, out)
				_ = cmd.Wait()
			}()
			lines := bufio.NewScanner(out)
			said := func() string {
				if !lines.Scan() {
					t.Fatalf("there is no more output: %s", complaint)
				}
				return lines.Text()
			}
			for deadline := time.Now().Add(time.Minute); ; <-time.After(20 * time.Millisecond) {
				if conn, err := net.Dial("tcp", address); err == nil {
					conn.Close()
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("it does not listen: %s", complaint)
				}
			}

			b.send()
			chat := b.begin("http://" + address + "/")
			b.call(chat, 7)
			b.end(chat)
			for _, event := range []string{"chat_started", `"number":7,"text":"ä <&> 字 \u0000"`, "USER_ENDED"} {
				if line := said(); !strings.Contains(line, event) || !strings.Contains(line, chat) {
					t.Errorf("the output is %s, want %s", line, event)
				}
			}
			b.waitUntilEmpty()

			c := newClient("Parley/test", true, nil)
			defer c.close()
			forged := store.Delivery{URL: "http://" + address + "/", Body: `{"event_name":"chat_ended"}`,
				SigningKey: "guessed"}
			if err := c.send(t.Context(), forged); fmt.Sprint(err) != "answered 401 Unauthorized" {
				t.Errorf("a forged one: %v", err)
			}
			if line := said(); line != "not from the box" {
				t.Errorf("for a forged webhook the output is %s", line)
			}
		})
	}
}
