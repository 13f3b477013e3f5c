package appliance

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/appliance/config"
	"parley/appliance/contract"
)

// soakSpeech returns how long the soak tests of text-to-speech take, or skips them.
func soakSpeech(t *testing.T) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(os.Getenv("PARLEY_SOAK_SPEECH"))
	if err != nil || d <= 0 {
		t.Skip("PARLEY_SOAK_SPEECH says how long, such as 1h; make soak sets it")
	}
	return d
}

// residentMiB returns the memory of the process, including that of the engines.
func residentMiB(t *testing.T) int {
	t.Helper()
	debug.FreeOSMemory()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(data))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize() >> 20
}

func speakingBox(t *testing.T) *runningBox {
	return startBox(t, func(c *config.Config) {
		c.Engines.LanguageModel = config.LanguageModel{OpenAI: scriptedModel(t), Model: "script"}
	})
}

func (b *runningBox) speak(t *testing.T, path, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(t.Context(), "POST", b.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("X-Service-Api-Key", b.key)
	return http.DefaultClient.Do(r)
}

// soakSentence returns a typical sentence, never the same one twice.
func soakSentence() string {
	some := [...]string{
		"The museum opens at %d and closes at six.", "Your number is %d, please wait in the hall.",
		"That is £%d.50 in all, thank you!",
		"Room %d is on the second floor, to the left of the lifts.",
		"Order no. %d is ready; bring the receipt, please.",
		"Dr. Nguyen will see you in %d minutes.", "“Really?” she said. Yes: %d of them…",
		"Bus %d leaves from platform B at 14:05.",
	}
	return fmt.Sprintf(some[rand.IntN(len(some))], rand.IntN(900)+10)
}

// Three clients send requests of all kinds, and some disconnect in the middle, for the time
// in PARLEY_SOAK_SPEECH. The process must hold no more than after the first tenth.
func TestDayOfSpeechLeavesNothingBehind(t *testing.T) {
	long := soakSpeech(t)
	b := speakingBox(t)
	var asked, sound atomic.Int64
	round := func(until time.Time) {
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				for time.Now().Before(until) && !t.Failed() {
					sound.Add(b.anyRequest(t))
					asked.Add(1)
				}
			})
		}
		all.Wait()
	}
	begun := time.Now()
	round(begun.Add(long / 10))
	before, held := residentMiB(t), measureResources()
	round(begun.Add(long))
	http.DefaultClient.CloseIdleConnections()
	after, now := residentMiB(t), measureResources()
	for deadline := time.Now().Add(30 * time.Second); now.goroutines > held.goroutines+8 &&
		time.Now().Before(deadline); now = measureResources() {
		time.Sleep(200 * time.Millisecond)
	}
	t.Logf("%d requests, %d MiB of answers in %s; resident %d MiB after a tenth, %d in the end; %+v, then %+v",
		asked.Load(), sound.Load()>>20, long, before, after, held, now)
	// The arenas of ONNX Runtime grow up to the longest sentence.
	if after > before+64 || now.goroutines > held.goroutines+8 || now.files > held.files+8 {
		t.Errorf("%d MiB and %+v after a tenth, %d MiB and %+v in the end", before, held, after, now)
	}
}

// anyRequest sends a random request, and returns the size of the response in bytes.
func (b *runningBox) anyRequest(t *testing.T) int64 {
	sentence := soakSentence()
	for range rand.IntN(4) {
		sentence += " " + soakSentence()
	}
	format := [...]contract.AudioFormat{contract.FormatMP3, contract.FormatWAV, contract.FormatPCM}[rand.IntN(3)]
	voice, more, want := `,"voice":{"name":"Joe"}`, "", http.StatusOK
	path := [...]string{"/v0/tts", "/v0/tts/file", "/v0/tts/stream/json", "/v0/tts/stream/file"}[rand.IntN(4)]
	switch kind := rand.IntN(20); {
	case kind == 0:
		sentence, want = "...", http.StatusBadRequest
	case kind == 1 && !strings.Contains(path, "stream"):
		more = `,"num_generations":2,"include_timestamp_types":["word","phoneme"]`
	case kind == 2:
		more = `,"strip_headers":true`
	}
	body := fmt.Sprintf(`{"utterances":[{"text":%q%s}],"format":{"type":%q}%s}`, sentence, voice, format, more)
	answer, err := b.speak(t, path, body)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer answer.Body.Close()
	if answer.StatusCode != want {
		why, _ := io.ReadAll(io.LimitReader(answer.Body, 500))
		t.Errorf("%s %s: %s %s", path, body, answer.Status, why)
		return 0
	}
	if rand.IntN(10) == 0 { // disconnect
		n, _ := io.CopyN(io.Discard, answer.Body, 4000)
		return n
	}
	n, err := io.Copy(io.Discard, answer.Body)
	if err != nil {
		t.Errorf("%s %s: %v", path, body, err)
	}
	return n
}

// Streams of the longest text, one after the other, decode as one MP3, and the box needs no
// more memory for it.
func TestHourOfMP3IsDecodedWithoutAWarning(t *testing.T) {
	long := soakSpeech(t)
	b := speakingBox(t)
	text := ""
	// a curly quote is three bytes
	for next := soakSentence(); len(text)+len(next) < contract.MaxUtteranceChars/2; next = soakSentence() {
		text += next + " "
	}
	body := fmt.Sprintf(`{"utterances":[{"text":%q,"voice":{"name":"Joe"}}],"format":{"type":"mp3"}}`, text)
	ffmpeg := exec.CommandContext(t.Context(), "ffmpeg", "-v", "warning", "-xerror", "-f", "mp3", "-i", "-", "-f",
		"s16le", "-ac", "1", "-ar", "8000", "-")
	in, err := ffmpeg.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var played byteCounter
	var output bytes.Buffer
	ffmpeg.Stdout, ffmpeg.Stderr = &played, &output
	if err := ffmpeg.Start(); err != nil {
		t.Fatalf("%v: install ffmpeg, as make test does", err)
	}
	const bytesPerSecond = 12000 // 96 kbit/s
	var sent, before int64
	for want := int64(long.Seconds() * bytesPerSecond); sent < want; {
		answer, err := b.speak(t, "/v0/tts/stream/file", body)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(in, answer.Body)
		_ = answer.Body.Close()
		if sent += n; err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s, %d bytes, %v: %s", answer.Status, n, err, output.String())
		}
		if before == 0 {
			before = int64(residentMiB(t))
		}
	}
	after := int64(residentMiB(t))
	err = in.Close()
	if ended := ffmpeg.Wait(); err != nil || ended != nil || output.Len() > 0 {
		t.Errorf("%v, %v: %s", err, ended, output.String())
	}
	seconds, of := float64(played)/2/8000, float64(sent)/bytesPerSecond
	t.Logf("%.0f s of MP3, %.0f s of sound; resident %d MiB after the first text, %d in the end", of, seconds, before,
		after)
	if seconds < 0.99*of || seconds > 1.01*of || after > before+32 {
		t.Errorf("%.0f s of MP3 play for %.0f s; %d MiB, then %d", of, seconds, before, after)
	}
}

// byteCounter counts the bytes that are written to it.
type byteCounter int64

func (c *byteCounter) Write(p []byte) (int, error) {
	*c += byteCounter(len(p))
	return len(p), nil
}
