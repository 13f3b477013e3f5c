package appliance

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/config"
	"parley/internal/packtest"
)

// A person talks with a box that has a PulseAudio loudspeaker and microphone: asks, is
// answered, interrupts, says "stop", unplugs the loudspeaker and plugs it in again, and is
// answered once more.
func TestKioskConversation(t *testing.T) {
	if !inOwnProcess(t) { // the variable PULSE_SERVER is the whole process's
		return
	}
	server := newSoundServer(t)
	b := startBox(t, func(c *config.Config) {
		c.Engines.LanguageModel = config.LanguageModel{OpenAI: scriptedModel(t), Model: "script"}
		c.Kiosk = config.Kiosk{
			Enabled:  true,
			Input:    "microphone",
			Output:   "loudspeaker",
			Account:  "default",
			Start:    config.KioskOnSpeech,
			Cue:      config.CueTones,
			SilenceS: 60,
		}
	})
	b.kiosk(t, "both devices are open", func(k kioskNow) bool { return k.Input.Open && k.Output.Open })
	stop := server.file(t, "stop.wav", b.spoken(t, "Stop!"))

	answer := server.record(t)
	server.say(t, packtest.Recording(t, question))
	chat := b.kiosk(t, "somebody talks", func(k kioskNow) bool { return k.State == "talking" && k.ChatID != "" }).ChatID
	message := b.event(t, chat, "AGENT_MESSAGE")
	b.event(t, chat, "ASSISTANT_PROSODY") // comes after the last sound
	answer.waitQuiet(t)
	if got, want := words(transcribe(t, b.cfg, answer.pcm(t))), words(message); wordError(want, got) > 0.35 {
		t.Errorf("the loudspeaker said %q, and the message is %q", got, want)
	}

	b.dictate(t, chat, story)
	answer.waitLoud(t)
	server.say(t, packtest.Recording(t, question))
	b.event(t, chat, "USER_INTERRUPTION")
	if text := b.event(t, chat, "AGENT_MESSAGE"); !strings.Contains(text, "…") {
		t.Errorf("what was interrupted is whole in the history: %q", text)
	}
	answer.waitLoud(t)
	eventually(t, "nobody talks", func() bool { // say it again until the box understands
		server.say(t, stop)
		return b.waits(t, 4*time.Second)
	})
	if text := b.event(t, chat, "CHAT_END_MESSAGE"); text != "USER_ENDED" {
		t.Errorf("the chat ended with %q", text)
	}

	server.unplug(t)
	b.kiosk(t, "the loudspeaker is gone", func(k kioskNow) bool { return !k.Output.Open && k.Output.Trouble != "" })
	if own, _ := b.get(t, "/v0/box/health")["speaker"].(map[string]any); own["input"] == nil || own["output"] == nil {
		t.Errorf("the box's health has the devices %v", own)
	}
	server.plug(t)
	b.kiosk(t, "the loudspeaker is back", func(k kioskNow) bool { return k.Output.Open })
	answer = server.record(t)
	if status, text := b.ask(t, b.key, http.MethodPost, "/v0/box/kiosk/start", ""); status != http.StatusNoContent {
		t.Fatalf("start: %d %s", status, text)
	}
	again := b.kiosk(t, "somebody talks again", func(k kioskNow) bool {
		return k.ChatID != "" && k.ChatID != chat
	}).ChatID
	b.dictate(t, again, "Welcome back.")
	answer.waitLoud(t) // the rest of the story was dropped, so this is the answer
	if status, text := b.ask(t, b.key, http.MethodPost, "/v0/box/kiosk/stop", ""); status != http.StatusNoContent {
		t.Fatalf("stop: %d %s", status, text)
	}
	b.kiosk(t, "nobody talks any more", func(k kioskNow) bool { return k.State == "waiting" })
	if n := urgentThreads(t); n > 2 {
		t.Errorf("%d threads go before all others; two devices have one each", n)
	}
}

// urgentThreads returns how many threads of this process have priority over ordinary ones:
// those whose policy, the 41st field of proc(5)'s stat, is not 0.
func urgentThreads(t *testing.T) (n int) {
	t.Helper()
	all, err := filepath.Glob("/proc/self/task/*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has ended
		}
		if fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])); fields[41-3] != "0" {
			n++
		}
	}
	return n
}

// soundServer is a PulseAudio server with a loudspeaker whose sound can be recorded, and a
// microphone that a test can speak into.
type soundServer struct{ server, dir string }

// silentLoudspeaker is a loudspeaker whose sound does not come back.
const silentLoudspeaker = "load-module module-null-sink sink_name=loudspeaker " +
	"sink_properties=device.description=Loudspeaker"

func newSoundServer(t *testing.T) soundServer { return newSoundServerWith(t, silentLoudspeaker) }

// newSoundServerWith starts a sound server with a particular loudspeaker.
func newSoundServerWith(t *testing.T, loudspeaker string) soundServer {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "parley-room") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	r := soundServer{"unix:" + filepath.Join(dir, "native"), dir}
	script := filepath.Join(dir, "room.pa")
	if err := os.WriteFile(script, []byte(strings.Join([]string{
		"load-module module-native-protocol-unix auth-anonymous=1 socket=" + filepath.Join(dir, "native"),
		"load-module module-null-sink sink_name=air rate=48000 sink_properties=device.description=Air",
		strings.ReplaceAll(loudspeaker, "DIR", dir),
		"load-module module-remap-source source_name=microphone master=air.monitor " +
			"source_properties=device.description=Microphone",
		"",
	}, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PULSE_SERVER", r.server)
	daemon := exec.Command("pulseaudio", "-n", "-F", script, "--daemonize=no", "--use-pid-file=no",
		"--exit-idle-time=-1", "--log-target=stderr")
	daemon.Env = append(os.Environ(), "HOME="+dir, "XDG_RUNTIME_DIR="+dir, "PULSE_RUNTIME_PATH="+dir,
		"PULSE_STATE_PATH="+dir)
	var log bytes.Buffer
	daemon.Stderr = &log
	if err := daemon.Start(); err != nil {
		t.Fatalf("%v: install it, as make test does", err)
	}
	t.Cleanup(func() {
		_ = daemon.Process.Kill()
		_ = daemon.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	for deadline := time.Now().Add(time.Minute); r.control("info") != nil; <-time.After(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("PulseAudio does not answer")
		}
	}
	return r
}

func (s soundServer) control(args ...string) error {
	out, err := exec.Command("pactl", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("pactl %v: %w: %s", args, err, out)
	}
	return nil
}

func (s soundServer) unplug(t *testing.T) {
	t.Helper()
	if err := s.control("unload-module", "module-null-sink"); err != nil { // unloads the echo too
		t.Fatal(err)
	}
}

func (s soundServer) plug(t *testing.T) {
	t.Helper()
	for _, args := range [][]string{
		{"load-module", "module-null-sink", "sink_name=air", "sink_properties=device.description=Air"},
		{"load-module", "module-null-sink", "sink_name=loudspeaker", "sink_properties=device.description=Loudspeaker"},
		{"load-module", "module-remap-source", "source_name=microphone", "master=air.monitor",
			"source_properties=device.description=Microphone"},
	} {
		if err := s.control(args...); err != nil {
			t.Fatal(err)
		}
	}
}

// say plays a recording into the microphone.
func (s soundServer) say(t *testing.T, file string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "paplay", "-d", "air", "--latency-msec=50",
		file).CombinedOutput(); err != nil {
		t.Fatalf("paplay: %v: %s", err, out)
	}
}

func (s soundServer) file(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// tape records what the loudspeaker plays.
type tape struct {
	mu  sync.Mutex
	raw []byte
}

func (s soundServer) record(t *testing.T) *tape {
	t.Helper()
	rec := &tape{}
	tap(t, 16000, rec)
	return rec
}

// tap writes what the loudspeaker plays, mono, in 16 bits.
func tap(t *testing.T, hz int, to io.Writer) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "parec", "-d", "loudspeaker.monitor", fmt.Sprintf("--rate=%d", hz),
		"--channels=1", "--format=s16le", "--latency-msec=30")
	cmd.Stdout = to
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // ends with the context
}

func (r *tape) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.raw = append(r.raw, p...)
	return len(p), nil
}

func (r *tape) pcm(t *testing.T) []float32 {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	d, err := audio.NewLinear16(16000, 1, 16000)
	if err != nil {
		t.Fatal(err)
	}
	pcm, err := d.Decode(r.raw[:len(r.raw)&^1])
	if err != nil {
		t.Fatal(err)
	}
	return pcm
}

// loud reports whether the newest part of the recording has sound, and whether the
// recording is that long.
func (r *tape) loud(t *testing.T, newest time.Duration) (loud, enough bool) {
	pcm := r.pcm(t)
	n := audio.Samples(newest, 16000)
	if len(pcm) < n {
		return false, false
	}
	for _, v := range pcm[len(pcm)-n:] {
		loud = loud || v > 0.02
	}
	return loud, true
}

func (r *tape) waitLoud(t *testing.T) {
	t.Helper()
	eventually(t, "the loudspeaker plays", func() bool {
		loud, enough := r.loud(t, 500*time.Millisecond)
		return loud && enough
	})
}

func (r *tape) waitQuiet(t *testing.T) {
	t.Helper()
	eventually(t, "the loudspeaker is silent again", func() bool {
		loud, enough := r.loud(t, 1500*time.Millisecond)
		return !loud && enough
	})
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(waitLimit); !is(); <-time.After(250 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within five minutes: %s", what)
		}
	}
}

// kioskNow is the state of the kiosk in the API.
type kioskNow struct {
	State  string
	ChatID string
	Input  struct {
		Open    bool
		Trouble string
	}
	Output struct {
		Open    bool
		Trouble string
	}
}

// kiosk waits for a state of the kiosk.
func (b *runningBox) kiosk(t *testing.T, what string, is func(kioskNow) bool) (k kioskNow) {
	t.Helper()
	eventually(t, what, func() bool {
		now := b.get(t, "/v0/box/kiosk")
		k = kioskNow{}
		k.State, _ = now["state"].(string)
		k.ChatID, _ = now["chat_id"].(string)
		in, _ := now["input"].(map[string]any)
		out, _ := now["output"].(map[string]any)
		k.Input.Open, _ = in["open"].(bool)
		k.Output.Open, _ = out["open"].(bool)
		k.Output.Trouble, _ = out["trouble"].(string)
		return is(k)
	})
	return k
}

// waits reports whether the kiosk is waiting for a person within a time.
func (b *runningBox) waits(t *testing.T, while time.Duration) bool {
	t.Helper()
	for deadline := time.Now().Add(while); time.Now().Before(deadline); <-time.After(100 * time.Millisecond) {
		if b.get(t, "/v0/box/kiosk")["state"] == "waiting" {
			return true
		}
	}
	return false
}

// event waits for an event of a chat's history, and returns its text, joined if there are
// several.
func (b *runningBox) event(t *testing.T, chat, kind string) string {
	t.Helper()
	var texts []string
	eventually(t, kind, func() bool {
		texts = nil
		page, _ := b.get(t, "/v0/evi/chats/"+chat+"?page_size=100")["events_page"].([]any)
		for _, e := range page {
			e, _ := e.(map[string]any)
			if e["type"] == kind {
				text, _ := e["message_text"].(string)
				texts = append(texts, text)
			}
		}
		return len(texts) > 0
	})
	return strings.Join(texts, " ")
}

// dictate makes the assistant of a chat say something.
func (b *runningBox) dictate(t *testing.T, chat, text string) {
	t.Helper()
	if status, body := b.ask(t, b.key, http.MethodPost, "/v0/evi/chat/"+chat+"/send",
		fmt.Sprintf(`{"type":"assistant_input","text":%q}`, text)); status != http.StatusOK {
		t.Fatalf("send: %d %s", status, body)
	}
}

// spoken returns a text in the box's voice as a WAV file.
func (b *runningBox) spoken(t *testing.T, text string) []byte {
	t.Helper()
	status, file := b.ask(t, b.key, http.MethodPost, "/v0/tts/file",
		fmt.Sprintf(`{"utterances":[{"text":%q}],"format":{"type":"wav"}}`, text))
	if status != http.StatusOK {
		t.Fatalf("tts: %d %.300s", status, file)
	}
	return []byte(file)
}
