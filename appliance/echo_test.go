package appliance

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/appliance/audio/soundcheck"
	"parley/appliance/config"
	"parley/internal/packtest"
)

// A box talks for half an hour in a simulated room, in which its sound comes back into its
// microphone 10 dB softer, and never mistakes that for speech. A user who speaks over it is
// heard about as soon as without the echo. The sound server is real.
func TestBoxDoesNotTranscribeItsEcho(t *testing.T) {
	long := os.Getenv("PARLEY_FULL_TESTS")
	if long == "" {
		t.Skip("it takes half an hour: PARLEY_FULL_TESTS=1, or a shorter time, such as 3m")
	}
	talks, err := time.ParseDuration(long)
	if err != nil {
		talks = 30 * time.Minute
	}
	server := newSoundServerWith(t, echoPath(t, -10))
	b := startBox(t, func(c *config.Config) {
		c.Engines.LanguageModel = config.LanguageModel{OpenAI: scriptedModel(t), Model: "script"}
		c.Kiosk = config.Kiosk{
			Enabled:  true,
			Input:    "microphone",
			Output:   "loudspeaker",
			Account:  "default",
			Start:    config.KioskOnKey,
			Cue:      config.CueTones,
			SilenceS: 600,
		}
	})
	b.kiosk(t, "both devices are open", func(k kioskNow) bool { return k.Input.Open && k.Output.Open })
	loud := server.listen(t)
	var alone time.Duration
	var inEcho, inSilence []time.Duration
	for round := 0; alone < talks; round++ {
		if status, text := b.ask(t, b.key, "POST", "/v0/box/kiosk/start", ""); status != 204 {
			t.Fatalf("start: %d %s", status, text)
		}
		chat := b.kiosk(t, "a conversation", func(k kioskNow) bool {
			return k.State == "talking" && k.ChatID != ""
		}).ChatID
		for range 3 {
			begun := time.Now()
			b.dictate(t, chat, story+" "+story)
			loud.waitFor(t, true, 0)
			loud.waitFor(t, false, 2*time.Second)
			alone += time.Since(begun)
		}
		// answers to itself, and interruptions by itself
		if n := b.count(t, chat, "USER_INTERRUPTION"); n > 0 {
			t.Errorf("after %v of talk it interrupted itself %d times in round %d", alone, n, round)
		}
		if n := b.count(t, chat, "USER_MESSAGE"); n > 0 {
			t.Errorf("after %v of talk it heard %q in round %d", alone, b.event(t, chat, "USER_MESSAGE"), round)
		}
		for _, muted := range []bool{false, true} {
			server.silence(t, muted)
			b.dictate(t, chat, story)
			loud.waitFor(t, true, 0)
			time.Sleep(3 * time.Second)
			before := b.count(t, chat, "USER_INTERRUPTION")
			begun := time.Now()
			person := exec.CommandContext(t.Context(), "paplay", "-d", "air", "--latency-msec=50",
				packtest.Recording(t, question))
			if err := person.Start(); err != nil {
				t.Fatal(err)
			}
			loud.waitFor(t, false, 500*time.Millisecond)
			took := loud.until().Sub(begun)
			if err := person.Wait(); err != nil {
				t.Fatal(err)
			}
			if muted {
				inSilence = append(inSilence, took)
			} else {
				inEcho = append(inEcho, took)
			}
			eventually(t, "an interruption", func() bool { return b.count(t, chat, "USER_INTERRUPTION") > before })
			loud.waitFor(t, false, 4*time.Second) // also after the answer to that
		}
		server.silence(t, false)
		if status, text := b.ask(t, b.key, "POST", "/v0/box/kiosk/stop", ""); status != 204 {
			t.Fatalf("stop: %d %s", status, text)
		}
		b.kiosk(t, "nobody talks", func(k kioskNow) bool { return k.State == "waiting" })
		t.Logf("after %v of talk, load %s: somebody was heard after %v, %v without an echo", alone.Round(time.Second),
			loadNow(), inEcho[round], inSilence[round])
	}
	t.Logf("in the mean after %v, %v without an echo", mean(inEcho), mean(inSilence))
}

// The sound check reports how loud and how late the microphone hears the loudspeaker.
func TestSoundCheckMeasuresARoom(t *testing.T) {
	if !inOwnProcess(t) { // the variable PULSE_SERVER is the whole process's
		return
	}
	newSoundServerWith(t, echoPath(t, -10))
	r, err := soundcheck.Run(t.Context(), soundcheck.Devices{Input: "microphone", Output: "loudspeaker"})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", r)
	if !r.Hears || r.DelayMS <= 0 || r.DelayMS > 400 || math.Abs(r.EchoDB+10) > 8 || r.Input != "Microphone" ||
		r.Output != "Loudspeaker" || r.Clipped > 0 {
		t.Errorf("%+v", r)
	}
	if _, err := soundcheck.Run(t.Context(), soundcheck.Devices{Input: "microphone", Output: "nothing"}); err == nil ||
		!strings.Contains(err.Error(), `there are "Air" (air), "Loudspeaker" (loudspeaker)`) {
		t.Errorf("of a loudspeaker that is not there it says %v", err)
	}
}

func mean(all []time.Duration) (m time.Duration) {
	for _, d := range all {
		m += d / time.Duration(len(all))
	}
	return m
}

func loadNow() string {
	now, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(now))[0]
}

// echoPath returns a PulseAudio loudspeaker whose sound also comes back at that level in
// dB, as in a room: the server convolves it with the room's impulse response.
func echoPath(t *testing.T, db float64) string {
	t.Helper()
	const rate = 48000
	chance := rand.New(rand.NewPCG(3, 7))
	click := make([]float64, rate/4)
	fade := func(i int) float64 { return math.Exp(-6.9 * float64(i) / (0.3 * rate)) } // 60 dB in 0.3 s
	for i := rate / 500; i < len(click); i++ {
		click[i] = 0.012 * chance.NormFloat64() * fade(i)
	}
	click[rate/500] = 1 // 70 cm
	for range 8 {
		i := rate/500 + 1 + chance.IntN(rate/40)
		click[i] += (chance.Float64() - 0.5) * fade(i)
	}
	var power float64
	for _, v := range click {
		power += v * v
	}
	file := make([]byte, 0, 4*len(click)+44)
	file = append(file, "RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x02\x00"...)
	file = binary.LittleEndian.AppendUint32(file, rate)
	file = binary.LittleEndian.AppendUint32(file, 4*rate)
	file = append(file, "\x04\x00\x10\x00data"...)
	file = binary.LittleEndian.AppendUint32(file, uint32(4*len(click)))
	for _, v := range click {
		sample := uint16(int16(32767 * v * math.Pow(10, db/20) / math.Sqrt(power)))
		file = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(file, sample), sample)
	}
	binary.LittleEndian.PutUint32(file[4:], uint32(len(file)-8))
	path := filepath.Join(t.TempDir(), "room.wav")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return "load-module module-virtual-surround-sink sink_name=loudspeaker sink_master=air hrir=" + path +
		" rate=48000 channels=2 use_volume_sharing=no sink_properties=device.description=Loudspeaker"
}

// silence switches the echo off or on.
func (s soundServer) silence(t *testing.T, on bool) {
	t.Helper()
	out, err := exec.Command("pactl", "list", "short", "sink-inputs").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); strings.Contains(line, "virtual-surround") {
			volume := "100%"
			if on { // a muted source is not played at all
				volume = "1%"
			}
			if err := s.control("set-sink-input-volume", f[0], volume); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("the loudspeaker plays into nothing: %s", out)
}

// levelMeter records when the loudspeaker was last loud.
type levelMeter struct {
	mu   sync.Mutex
	loud time.Time
	odd  []byte
}

func (s soundServer) listen(t *testing.T) *levelMeter {
	t.Helper()
	e := &levelMeter{}
	tap(t, 8000, e)
	return e
}

func (m *levelMeter) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.odd = append(m.odd, p...)
	for ; len(m.odd) >= 2; m.odd = m.odd[2:] {
		if v := int16(binary.LittleEndian.Uint16(m.odd)); v > 650 || v < -650 { // 2 % of full scale
			m.loud = time.Now()
		}
	}
	return len(p), nil
}

// until returns when the loudspeaker was last loud.
func (m *levelMeter) until() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.loud
}

// waitFor waits until the loudspeaker has been loud within the last second, or silent for
// that long.
func (m *levelMeter) waitFor(t *testing.T, loud bool, long time.Duration) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		since := time.Since(m.until())
		if loud && since < time.Second || !loud && since > long {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("for three minutes the loudspeaker was not loud: %v", loud)
		}
	}
}

// count returns the number of events of a kind in a chat.
func (b *runningBox) count(t *testing.T, chat, kind string) (n int) {
	t.Helper()
	for number := 0; ; number++ { // half an hour has more than one page
		path := fmt.Sprintf("/v0/evi/chats/%s?page_size=100&page_number=%d", chat, number)
		page, _ := b.get(t, path)["events_page"].([]any)
		for _, e := range page {
			if e, _ := e.(map[string]any); e["type"] == kind {
				n++
			}
		}
		if len(page) < 100 {
			return n
		}
	}
}
