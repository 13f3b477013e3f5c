package appliance

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/appliance/config"
	"parley/appliance/contract"
)

// examples returns the programs in a page of the documentation.
func examples(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range regexp.MustCompile("(?s)```python\n(.*?)```").FindAllSubmatch(text, -1) {
		out = append(out, string(m[1]))
	}
	return out
}

// serveExample runs a program of the documentation on another port.
func serveExample(t *testing.T, program, port string) {
	t.Helper()
	python := filepath.Join(clientFolder(t, "py-client"), "bin", "python")
	cmd := exec.Command(python, "-u", "-c", strings.ReplaceAll(program, "5000", port))
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
}

// The programs of docs/language-models.md work unmodified.
func TestDocumentedCustomModelsAnswer(t *testing.T) {
	programs := examples(t, "language-models.md")
	if len(programs) != 2 {
		t.Fatalf("%d programs", len(programs))
	}
	other := constantModel(t, "I am the model of the box.")
	b := startBox(t, func(c *config.Config) {
		c.Engines.LanguageModel = config.LanguageModel{OpenAI: other, Model: "parrot"}
		c.CustomModels = allowing(t, documentedLine(t, "language-models.md", "models:"))
	})
	for i, x := range []struct{ scheme, port string }{{"http", freePort(t)}, {"ws", freePort(t)}} {
		serveExample(t, programs[i], x.port)
		config := b.post(t, "/v0/evi/configs", `{"name":"mine `+x.scheme+`","evi_version":"4-mini",`+
			`"language_model":{"model_provider":"CUSTOM_LANGUAGE_MODEL","model_resource":"`+
			x.scheme+`://127.0.0.1:`+x.port+`/chat/completions"}}`)
		c := b.call(t, "&config_id="+config)
		for n := 1; ; n++ { // the program may still be starting
			c.send(contract.UserInput{Text: "Good morning."})
			heard := c.until("assistant_end", n, waitLimit)
			if got := assistantText(heard); strings.HasSuffix(got, "You said: Good morning.") {
				break
			} else if n == 10 || !strings.Contains(got, "I cannot answer that just now.") {
				t.Fatalf("%s: it said %q", x.scheme, got)
			}
			time.Sleep(time.Second)
		}
	}
}

// allowing returns the setting of custom models in a line of parley.yaml.
func allowing(t *testing.T, line string) config.CustomModels {
	t.Helper()
	file := filepath.Join(t.TempDir(), config.FileName)
	if err := os.WriteFile(file, []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Sources{File: file, Home: t.TempDir(), Dir: t.TempDir()})
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return c.CustomModels
}

// documentedLine returns the line of a page with that beginning.
func documentedLine(t *testing.T, page, begins string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile("(?m)^" + begins + ".*$").FindString(string(text))
	if line == "" {
		t.Fatalf("%s has no line %s", page, begins)
	}
	return line
}

// A config from before models.allow existed names a model on the box. The error in its
// chats names the missing line of parley.yaml, and with that line the model answers. A
// model in the operator's settings needs no such line.
func TestErrorNamesTheSettingThatAllowsACustomModel(t *testing.T) {
	local := constantModel(t, "I am the model of the box.")
	server := func(c *config.Config) { c.Engines.LanguageModel = config.LanguageModel{OpenAI: local, Model: "parrot"} }
	custom := constantModel(t, "I am the model of the config.") + "/chat/completions"
	post := func(b *runningBox) string {
		return b.post(t, "/v0/evi/configs", `{"name":"old","evi_version":"4-mini",`+
			`"language_model":{"model_provider":"CUSTOM_LANGUAGE_MODEL","model_resource":"`+custom+`"}}`)
	}

	b := startBox(t, server)
	c := b.call(t, "&config_id="+post(b))
	c.send(contract.UserInput{Text: "Good morning."})
	message := ""
	for _, m := range c.until("assistant_end", 1, waitLimit) {
		if e, ok := m.ServerMessage.(contract.WebSocketError); ok && e.Code == contract.ModelUnreachable {
			message = e.Message
		}
	}
	line := regexp.MustCompile(`models: \{.*\}`).FindString(message)
	if line == "" {
		t.Fatalf("the client gets %q", message)
	}
	c = b.call(t, "")
	c.send(contract.UserInput{Text: "Good morning."})
	if got := assistantText(c.until("assistant_end", 1, waitLimit)); got != "I am the model of the box." {
		t.Errorf("the operator's own server: %q", got)
	}

	b = startBox(t, server, func(c *config.Config) { c.CustomModels = allowing(t, line) })
	c = b.call(t, "&config_id="+post(b))
	c.send(contract.UserInput{Text: "Good morning."})
	if got := assistantText(c.until("assistant_end", 1, waitLimit)); got != "I am the model of the config." {
		t.Errorf("with %s: %q", line, got)
	}
}

// freePort returns a port that is not in use.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
