package api

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"math"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine/enginetest"
	"parley/appliance/speech"
)

// startConverting returns a client of a box that can transcribe and speak.
func startConverting(t *testing.T) client {
	c := startRest(t, "home")[0]
	c.api.Speech = speech.New(speech.Parts{
		Voices: humVoice{},
		Ear: speech.Ear{Detector: enginetest.LevelDetector(0.01),
			Transcriber: enginetest.FixedTranscript("Some words.")},
		Records:   c.api.Records,
		Retention: speech.Retention{Newest: 10},
		Log:       slog.New(slog.DiscardHandler),
	})
	return c
}

// tone returns half a second of sound, a pause, and sound again.
func tone(rateHz int) []float32 {
	pcm := make([]float32, 2*rateHz)
	for i := range pcm {
		if at := float64(i) / float64(rateHz); at > 0.3 && at < 0.8 || at > 1.2 && at < 1.7 {
			pcm[i] = 0.2 * float32(math.Sin(2*math.Pi*300*at))
		}
	}
	return pcm
}

// part is a part of a form; a file has a name.
type part struct{ name, file, body string }

func multiparts(t *testing.T, parts ...part) (kind, body string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		var out io.Writer
		var err error
		if p.file != "" {
			out, err = w.CreateFormFile(p.name, p.file)
		} else {
			out, err = w.CreateFormField(p.name)
		}
		if err == nil {
			_, err = io.WriteString(out, p.body)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), b.String()
}

func TestARecordingIsConvertedToAnotherVoice(t *testing.T) {
	c := startConverting(t)
	recording := part{"audio", "a.wav", string(audio.EncodeWAV(tone(16000), 16000))}
	kind, body := multiparts(t, recording, part{"voice", "", `{"name":"a"}`}, part{"format", "", `{"type":"pcm"}`},
		part{"strip_headers", "", "null"},
		part{"context", "", "null"}, part{"include_timestamp_types[0]", "", "word"})
	status, head, text := c.send("POST", "/v0/tts/voice_conversion/json", kind, body)
	if status != 200 || head.Get("Content-Type") != "application/x-ndjson" || !strings.HasSuffix(text, "\n") {
		t.Fatalf("%d, %v, %.300s", status, head, text)
	}
	bytes, snippets := 0, map[string]bool{}
	for line := range strings.Lines(text) {
		var chunk struct {
			contract.SnippetAudioChunk
			Type string `json:"type"`
		}
		if err := json.Unmarshal([]byte(line), &chunk); err != nil || chunk.Type != "audio" || !chunk.IsLastChunk ||
			*chunk.TranscribedText != chunk.Text {
			t.Errorf("%v, %.300s", err, line)
		}
		bytes += len(chunk.Audio)
		snippets[chunk.SnippetID] = true
	}
	if bytes != 2*2*contract.OutputRateHz || len(snippets) != 2 {
		t.Errorf("%d bytes of %d snippets; want two seconds of two phrases", bytes, len(snippets))
	}
	kind, body = multiparts(t, recording) // the other parts are optional
	status, head, text = c.send("POST", "/v0/tts/voice_conversion/file", kind, body)
	if status != 200 || head.Get("Content-Type") != "audio/mpeg" {
		t.Fatalf("%d, %v, %.300s", status, head, text)
	}
	if pcm, err := audio.DecodeAll([]byte(text), contract.OutputRateHz); err != nil ||
		len(pcm) != 2*contract.OutputRateHz {
		t.Errorf("%d samples, %v", len(pcm), err)
	}
}

func TestRecordingsInAllFormatsAreDecoded(t *testing.T) {
	c := startConverting(t)
	source := filepath.Join(t.TempDir(), "a.wav")
	if err := os.WriteFile(source, audio.EncodeWAV(tone(48000), 48000), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, args := range map[string]string{
		"u8.wav": "-c:a pcm_u8", "s24.wav": "-c:a pcm_s24le -ar 192000", "s32.wav": "-c:a pcm_s32le",
		"float.wav": "-c:a pcm_f32le", "six.wav": "-ac 6",
		"mulaw.wav": "-ar 8000 -c:a pcm_mulaw", "alaw.wav": "-ar 8000 -c:a pcm_alaw", "a.mp3": "",
		"low.mp3": "-ar 8000 -b:a 8k", "a.ogg": "-c:a libopus",
		"a.webm": "-c:a libopus", "a.m4a": "-c:a aac", "front.mp4": "-c:a aac -movflags +faststart", "a.aac": "",
		"a.flac": "", "hires.flac": "-ar 96000 -sample_fmt s32",
	} {
		made := filepath.Join(t.TempDir(), file)
		out, err := exec.CommandContext(t.Context(), "ffmpeg",
			append(append([]string{"-v", "error", "-i", source}, strings.Fields(args)...), made)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", file, err, out)
		}
		data, err := os.ReadFile(made)
		if err != nil {
			t.Fatal(err)
		}
		kind, body := multiparts(t, part{"audio", file, string(data)}, part{"format", "", `{"type":"pcm"}`})
		status, _, text := c.send("POST", "/v0/tts/voice_conversion/file", kind, body)
		if off := len(text)/2 - 2*contract.OutputRateHz; status != 200 || off > contract.OutputRateHz/10 ||
			off < -contract.OutputRateHz/10 {
			t.Errorf("%s: %d, %d bytes, %.200s", file, status, len(text), text)
		}
		whole := len(data)
		for _, cut := range []int{0, 11, whole / 2} { // a truncated file is answered, without a panic
			kind, body := multiparts(t, part{"audio", file, string(data[:cut])}, part{"format", "", `{"type":"pcm"}`})
			if status, _, text := c.send("POST", "/v0/tts/voice_conversion/file", kind, body); status != 200 &&
				status != 400 {
				t.Errorf("%s cut at %d of %d: %d %.200s", file, cut, whole, status, text)
			}
		}
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(maps, []byte("libavcodec")) || bytes.Contains(maps, []byte("libmpg123")) {
		t.Error("they were decoded in this process")
	}
}

func TestErrorsNameWhyARecordingIsRejected(t *testing.T) {
	c := startConverting(t)
	recording := part{"audio", "a.wav", string(audio.EncodeWAV(tone(16000), 16000))}
	file := func(body string) []part { return []part{{"audio", "a", body}} }
	lies := audio.EncodeWAV(tone(16000), 16000)
	copy(lies[24:], []byte{1, 0, 0, 0}) // at 1 Hz
	for _, try := range []struct {
		parts  []part
		status int
		says   string
	}{
		{nil, 422, "audio"},
		{[]part{{"voice", "", "null"}}, 422, "audio"},
		{[]part{{"audio", "", "null"}}, 422, "audio"},
		{[]part{recording, recording}, 400, "twice"},
		{[]part{recording, {"voice", "", `{"name":"nobody"}`}}, 404, "nobody"},
		{[]part{recording, {"voice", "", `{"name":`}}, 422, "voice"},
		{[]part{recording, {"format", "", `{"type":"ogg"}`}}, 400, "mp3, pcm, wav"},
		{[]part{recording, {"include_timestamp_types", "", "letter"}}, 400, "word, phoneme"},
		{[]part{recording, {"context", "", `{"generation_id":"00000000-0000-4000-8000-000000000000"}`}}, 404,
			"generation"},
		{[]part{recording, {"more", "", strings.Repeat("a", maxPartBytes+1)}}, 400, "1048576 bytes"},
		{append(make([]part, maxParts), recording), 400, "64 parts"},
		{file("%PDF-1.7 and more of it"), 400, "PDF, which is not supported: send WAV"},
		{file("nothing that anybody knows"), 400, "not a known format: send WAV"},
		{file("RIFF\xff\xff\xff\xffWAVE"), 400, "audio"},
		{file(string(lies)), 400, "sample_rate is 1 Hz"},
		{file(string(audio.EncodeWAV(make([]float32, 16000), 16000))), 400, "nobody speaks in its 1s"},
		{file(string(audio.EncodeWAV(nil, 16000))), 400, "nobody speaks in its 0s"},
		{file(string(audio.EncodeWAV(make([]float32, 301*16000), 16000))), 400, "longer than 5m0s"},
	} {
		kind, body := multiparts(t, try.parts...)
		status, _, text := c.send("POST", "/v0/tts/voice_conversion/json", kind, body)
		if status != try.status || !strings.Contains(text, try.says) {
			t.Errorf("%.100q: %d %s; want %d with %q", try.parts, status, text, try.status, try.says)
		}
	}
	kind, body := multiparts(t, recording)
	for sent, want := range map[[2]string]int{{"application/json", "{}"}: 415, {"multipart/form-data", body}: 415,
		{kind, body[:len(body)/2]}: 400, {kind, "--"}: 422, {kind + "x", body}: 400} {
		if status, _, text := c.send("POST", "/v0/tts/voice_conversion/file", sent[0], sent[1]); status != want {
			t.Errorf("%s with %.20q: %d %s; want %d", sent[0], sent[1], status, text, want)
		} else if status == 415 && !strings.Contains(text, "with its boundary") {
			t.Errorf("%s is not told what is missing: %s", sent[0], text)
		}
	}
	if n := c.api.uploads.Active(); n != 0 {
		t.Errorf("%d uploads that are over are still counted", n)
	}
}

// A client that sends its recording slowly, or disconnects, uses only one of its account's
// uploads.
func TestUploadsAreLimitedByAccount(t *testing.T) {
	c := startConverting(t)
	kind, body := multiparts(t, part{"audio", "a.wav", string(audio.EncodeWAV(tone(16000), 16000))})
	var slow []*io.PipeWriter
	for range uploadsPerAccount {
		r, w := io.Pipe()
		slow = append(slow, w)
		request, err := http.NewRequestWithContext(t.Context(), "POST", c.http.URL+"/v0/tts/voice_conversion/file", r)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", kind)
		request.Header.Set("X-Service-Api-Key", c.key)
		go func() {
			if answer, err := c.http.Client().Do(request); err == nil {
				_ = answer.Body.Close()
			}
		}()
		if _, err := io.WriteString(w, body[:1000]); err != nil {
			t.Fatal(err)
		}
	}
	held := c.api.uploads.Active
	until := func(want int) {
		for deadline := time.Now().Add(30 * time.Second); held() != want; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d uploads; want %d", held(), want)
			}
		}
	}
	until(uploadsPerAccount)
	status, head, text := c.send("POST", "/v0/tts/voice_conversion/file", kind, body)
	if status != 429 || head.Get("Retry-After") == "" || !strings.Contains(text, "recordings of this account") {
		t.Errorf("one more: %d, %v, %s", status, head, text)
	}
	for _, w := range slow {
		_ = w.CloseWithError(io.ErrUnexpectedEOF) // the client is gone
	}
	until(0)
	if status, _, text := c.send("POST", "/v0/tts/voice_conversion/file", kind, body); status != 200 {
		t.Errorf("afterwards: %d %s", status, text)
	}
}
