package soundcard

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gen2brain/malgo"
)

func TestMonitorIsNotAMicrophone(t *testing.T) {
	mic := Device{ID: "usb", Name: "USB", Kind: Input}
	monitor := Device{ID: "hdmi.monitor", Name: "Monitor of HDMI", Kind: Input}
	asDefault := func(d Device) Device { d.Default = true; return d }
	for _, c := range []struct {
		name string
		all  []Device
		id   string
		says string
	}{
		{"the default", []Device{monitor, asDefault(mic)}, "usb", ""},
		{"an unknown default", []Device{monitor, mic}, "", ""},
		{"a monitor", []Device{asDefault(monitor)}, "", "records what the box plays"},
		{"a monitor that somebody chose", []Device{mic, asDefault(monitor)}, "", "Monitor of HDMI"},
		{"none", nil, "", "no microphone"},
	} {
		got, err := DefaultDevice(c.all, Input)
		if got.ID != c.id || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q, %v", c.name, got.ID, err)
		}
	}
	if got, err := DefaultDevice([]Device{asDefault(Device{ID: "hdmi", Kind: Output})}, Output); err != nil ||
		got.ID != "hdmi" {
		t.Errorf("of the loudspeakers it is %q, %v", got.ID, err)
	}
}

// PulseAudio silently replaces an unplugged microphone by the loudspeaker's monitor.
func TestUnpluggedMicrophoneIsNotReplacedByAMonitor(t *testing.T) {
	pactl := startPulseAudio(t)
	var heard atomic.Int64
	s, err := Record(Config{PeriodMS: 10, HoldMS: 500, Name: "test"}, func([]float32) { heard.Add(1) }, func() {})
	if err != nil {
		t.Fatal(err)
	}
	if s.Device.ID != "microphone" {
		t.Errorf("the default microphone is %+v", s.Device)
	}
	eventually(t, "the microphone is heard", func() bool { return heard.Load() > 10 })
	pactl("unload-module", "module-remap-source")
	eventually(t, "nobody listens to anything any more", func() bool {
		return pactl("list", "short", "source-outputs") == ""
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Record(Config{PeriodMS: 10, HoldMS: 500, Name: "test"}, func([]float32) {}, func() {})
	if _, ok := errors.AsType[ErrMonitor](err); !ok {
		t.Errorf("without a microphone: %+v, %v", again, err)
	}
}

// The error of a device that cannot be opened says what to do.
func TestBusyDeviceErrorSaysWhatToDo(t *testing.T) {
	for err, want := range map[error]string{
		malgo.ErrBusy:                                "another program has it",
		malgo.ErrAccessDenied:                        "in the group audio",
		malgo.ErrFailedToOpenBackendDevice:           "another program may have it",
		malgo.ErrFormatNotSupported:                  "",
		errors.Join(malgo.ErrBusy, ErrNoSoundSystem): "another program has it",
	} {
		if got := remedy(err); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("of %v it says %q", err, got)
		}
	}
}

// startPulseAudio starts a server with a loudspeaker and a microphone, and returns its control
// command.
func startPulseAudio(t *testing.T) (pactl func(args ...string) string) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "parley-card") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket, script := filepath.Join(dir, "native"), filepath.Join(dir, "room.pa")
	if err := os.WriteFile(script, []byte(`load-module module-native-protocol-unix auth-anonymous=1 socket=`+socket+`
load-module module-null-sink sink_name=loudspeaker
load-module module-remap-source source_name=microphone master=loudspeaker.monitor
`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PULSE_SERVER", "unix:"+socket)
	daemon := exec.Command("pulseaudio", "-n", "-F", script, "--daemonize=no", "--use-pid-file=no",
		"--exit-idle-time=-1", "--log-target=stderr")
	daemon.Env = append(os.Environ(), "HOME="+dir, "XDG_RUNTIME_DIR="+dir, "PULSE_RUNTIME_PATH="+dir,
		"PULSE_STATE_PATH="+dir)
	if err := daemon.Start(); err != nil {
		t.Fatalf("%v: install it, as make test does", err)
	}
	t.Cleanup(func() {
		_ = daemon.Process.Kill()
		_ = daemon.Wait()
	})
	eventually(t, "PulseAudio answers", func() bool { return exec.Command("pactl", "info").Run() == nil })
	return func(args ...string) string {
		t.Helper()
		out, err := exec.Command("pactl", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("pactl %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); <-time.After(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}
