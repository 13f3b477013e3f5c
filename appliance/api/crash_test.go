package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/appliance/audio"
	"parley/store"
)

// childEnv makes this program serve the API over the data folder that it names,
// as a process that can be killed.
const childEnv = "PARLEY_API_TEST_DATA"

func TestMain(m *testing.M) {
	audio.Main()
	if dir := os.Getenv(childEnv); dir != "" {
		if err := serveUntilKilled(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

func serveUntilKilled(dir string) error {
	log := slog.New(slog.DiscardHandler)
	records, err := store.Open(context.Background(), dir, log)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	return NewServer(New(Parts{
		Keys:    records,
		Records: records,
		Voices:  library{},
		Aliases: library{},
		Models:  library{},
		Ready:   &fakes{},
		Log:     log,
	}), log).Serve(l)
}

// serverProcess is a server that will be killed, and its client.
type serverProcess struct {
	cmd  *exec.Cmd
	url  string
	key  string
	http http.Client
}

func startServer(t *testing.T, dir, key string) *serverProcess {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the server has no address: %v", err)
	}
	return &serverProcess{
		cmd:  cmd,
		url:  "http://" + strings.TrimSpace(address),
		key:  key,
		http: http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}, Timeout: time.Minute},
	}
}

func (v *serverProcess) kill(t *testing.T) {
	t.Helper()
	if err := v.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := v.cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the server ended by itself: %v", err)
	}
	v.http.CloseIdleConnections()
}

// ask returns the answer of the server. After an error, it is unknown whether the request
// took effect.
func (v *serverProcess) ask(method, path, body string) (status int, answer record, err error) {
	r, err := http.NewRequest(method, v.url+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("X-Service-Api-Key", v.key)
	r.Header.Set("Content-Type", "application/json")
	got, err := v.http.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		return 0, nil, err
	}
	_ = json.Unmarshal(text, &answer) // what is no object has no fields
	return got.StatusCode, answer, nil
}

// acknowledged is what the server has acknowledged to one client: the expected
// answer of each path. Paths whose last request was not answered are left out.
type acknowledged struct {
	kept     map[string]string // by path, the version's description; "" if deleted
	prompt   string            // the path of its prompt, which gets version after version
	versions int               // that were acknowledged of it
	written  int
}

// write makes one change and records the answer.
func (l *acknowledged) write(v *serverProcess) error {
	mark := fmt.Sprint("mark ", rand.Uint64())
	switch n := l.written % 5; {
	case l.prompt == "":
		return l.create(v, "/v0/evi/prompts", `{"name":"p","text":"x","version_description":"`+mark+`"}`, mark)
	case n == 0:
		return l.create(v, "/v0/evi/configs",
			`{"name":"c","evi_version":"4-mini","prompt":{"text":"x"},"version_description":"`+mark+`"}`, mark)
	case n == 1:
		return l.remove(v)
	case n == 2:
		return l.describe(v, mark)
	}
	status, answer, err := v.ask("POST", l.prompt,
		`{"text":"`+strings.Repeat("word ", 100)+`","version_description":"`+mark+`"}`)
	if err != nil || status != http.StatusCreated {
		return fmt.Errorf("new version: %d %v, %w", status, answer, err)
	}
	number := int(answer["version"].(float64))
	l.kept[l.prompt+"/version/"+strconv.Itoa(number)] = mark
	l.versions = max(l.versions, number+1)
	return nil
}

func (l *acknowledged) create(v *serverProcess, path, body, mark string) error {
	status, answer, err := v.ask("POST", path, body)
	if err != nil || status != http.StatusCreated {
		return fmt.Errorf("create: %d %v, %w", status, answer, err)
	}
	path += "/" + answer["id"].(string)
	if l.prompt == "" {
		l.prompt, l.versions = path, 1
	}
	l.kept[path+"/version/0"] = mark
	return nil
}

// remove deletes one of the configs.
func (l *acknowledged) remove(v *serverProcess) error {
	for path, mark := range l.kept {
		if mark == "" || !strings.Contains(path, "/configs/") {
			continue
		}
		delete(l.kept, path)
		status, answer, err := v.ask("DELETE", path, "")
		if err != nil || status != http.StatusOK {
			return fmt.Errorf("delete: %d %v, %w", status, answer, err)
		}
		l.kept[path] = ""
		return nil
	}
	return nil
}

// describe changes the description of a version.
func (l *acknowledged) describe(v *serverProcess, mark string) error {
	for path, was := range l.kept {
		if was == "" {
			continue
		}
		delete(l.kept, path)
		status, answer, err := v.ask("PATCH", path, `{"version_description":"`+mark+`"}`)
		if err != nil || status != http.StatusOK {
			return fmt.Errorf("describe: %d %v, %w", status, answer, err)
		}
		l.kept[path] = mark
		return nil
	}
	return nil
}

// writeUntilKilled lets all clients write until the server is killed, so long
// after the first answer.
func writeUntilKilled(t *testing.T, v *serverProcess, ledgers []*acknowledged, after time.Duration) {
	t.Helper()
	begun := make(chan struct{})
	first := sync.OnceFunc(func() { close(begun) })
	var all sync.WaitGroup
	for _, l := range ledgers {
		all.Go(func() {
			for l.write(v) == nil {
				l.written++
				first()
			}
			first() // so that a server that refuses everything ends the test
		})
	}
	<-begun
	time.Sleep(after)
	v.kill(t)
	all.Wait()
}

// check compares the server's answers with the acknowledged ones, and checks that
// the versions of each prompt have no gap.
func (l *acknowledged) check(t *testing.T, v *serverProcess) {
	t.Helper()
	for path, mark := range l.kept {
		status, answer, err := v.ask("GET", path, "")
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int{true: http.StatusNotFound, false: http.StatusOK}[mark == ""]; status != want ||
			mark != "" && answer["version_description"] != mark {
			t.Errorf("%s: %d %v, want %d %q", path, status, answer["version_description"], want, mark)
		}
	}
	for version := range l.versions {
		path := l.prompt + "/version/" + strconv.Itoa(version)
		if status, _, err := v.ask("GET", path, ""); err != nil || status != http.StatusOK {
			t.Errorf("%s: %d %v: a version is missing", path, status, err)
		}
	}
}

// kills returns how many times the server is killed: PARLEY_TEST_KILLS, which
// make soak sets, or forty.
func kills(t *testing.T) int {
	t.Helper()
	text := os.Getenv("PARLEY_TEST_KILLS")
	if text == "" {
		return 40
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("PARLEY_TEST_KILLS is %q, want a number from 1 on", text)
	}
	return n
}

// The server is killed forty times while eight clients write. Each time the
// database is intact; at the end everything acknowledged exists, and everything
// whose deletion was acknowledged is gone.
func TestAKilledServerLosesNothingAcknowledged(t *testing.T) {
	dir := t.TempDir()
	records, err := store.Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	made, err := records.CreateKey(t.Context(), store.NewKey{Account: "home"})
	if err != nil {
		t.Fatal(err)
	}
	if err := records.Close(); err != nil {
		t.Fatal(err)
	}
	ledgers := make([]*acknowledged, 8)
	for i := range ledgers {
		ledgers[i] = &acknowledged{kept: map[string]string{}}
	}
	written := 0
	for round := range kills(t) {
		v := startServer(t, dir, made.APIKey)
		if round%5 == 4 {
			ledgers[round/5%len(ledgers)].check(t, v)
		}
		writeUntilKilled(t, v, ledgers, time.Duration(rand.IntN(60))*time.Millisecond)
		if _, err := store.Inspect(t.Context(), dir); err != nil {
			t.Fatalf("after kill %d: %v", round+1, err)
		}
		before := written
		written = 0
		for _, l := range ledgers {
			written += l.written
		}
		if written == before {
			t.Fatalf("nothing was written before kill %d", round+1)
		}
	}
	v := startServer(t, dir, made.APIKey)
	defer v.kill(t)
	for _, l := range ledgers {
		l.check(t, v)
	}
	t.Logf("%d writes were acknowledged", written)
}
