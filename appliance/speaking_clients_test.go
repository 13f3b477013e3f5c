package appliance

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"parley/appliance/config"
)

// The published clients request speech from a real box by all their calls, and FFmpeg
// decodes the streams without a warning.
func TestPublishedClientSpeaks(t *testing.T) {
	t.Parallel()
	b := startBox(t, func(c *config.Config) {
		c.Engines.LanguageModel = config.LanguageModel{OpenAI: scriptedModel(t), Model: "script"}
	})
	runScript(t, "node", filepath.Join("testdata", "speak.cjs"), "BOX_URL="+b.url, "API_KEY="+b.key,
		"CLIENT="+clientFolder(t, "js-client"))
	runScript(t, filepath.Join(clientFolder(t, "py-client"), "bin", "python"), filepath.Join("testdata", "speak.py"),
		"BOX_URL="+b.url, "API_KEY="+b.key)
	for _, try := range []string{
		`/v0/tts/stream/file mp3`, `/v0/tts/stream/file wav`, `/v0/tts/file mp3`, `/v0/tts/file wav`,
	} {
		decodes(t, b, try)
	}
}

func decodes(t *testing.T, b *runningBox, try string) {
	t.Helper()
	path, format, _ := strings.Cut(try, " ")
	body := `{"utterances":[{"text":"Hello there. All is well.","voice":{"name":"Joe"}}],"format":{"type":"` + format +
		`"}}`
	r, err := http.NewRequestWithContext(t.Context(), "POST", b.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Service-Api-Key", b.key)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	sound, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "sound."+format)
	if err := os.WriteFile(file, sound, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-v", "warning", "-xerror"}
	if format == "wav" {
		args = append(args, "-guess_layout_max", "0") // otherwise it reports this for any mono WAV
	}
	from := file
	if strings.Contains(path, "stream") {
		from = "-" // as a stream: for a file it would check the length
	}
	ffmpeg := exec.CommandContext(t.Context(), "ffmpeg", append(args, "-i", from, "-f", "null", "-")...)
	ffmpeg.Stdin = bytes.NewReader(sound)
	if out, err := ffmpeg.CombinedOutput(); err != nil || len(out) > 0 || answer.StatusCode != http.StatusOK {
		t.Errorf("%s: %d, %v: %s", try, answer.StatusCode, err, out)
	}
}
