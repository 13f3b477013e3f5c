package appliance

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/appliance/config"
	"parley/internal/packtest"
)

// The published clients hold conversations with a real box in parallel: they talk,
// interrupt, have tools called and resume. The language model follows a script; all else is
// that of every box. At last a separate box is restarted, and the JavaScript client must
// reconnect to it.
func TestPublishedClientsTalk(t *testing.T) {
	t.Parallel()
	answers := withScriptedModel(t)
	thinks := func(c *config.Config) {
		answers(c)
		c.Origins = []string{"*"} // another server serves the React page
	}
	ask := packtest.Recording(t, question)
	b := startBox(t, thinks)
	env := slices.Clip([]string{"BOX_URL=" + b.url, "API_KEY=" + b.key, "QUESTION=" + ask})

	t.Run("React", func(t *testing.T) {
		t.Parallel()
		chromium, err := exec.LookPath("chromium")
		if err != nil {
			t.Fatalf("%v: install it, as make test does", err)
		}
		runScript(t, "node", filepath.Join("testdata", "hook.cjs"),
			append(env, "CLIENT="+clientFolder(t, "react-client"), "CHROMIUM="+chromium,
				"MICROPHONE="+microphone(t), "SHOT="+filepath.Join(t.ArtifactDir(), "page.png"))...)
	})
	t.Run("Python", func(t *testing.T) {
		t.Parallel()
		python := filepath.Join(clientFolder(t, "py-client"), "bin", "python")
		runScript(t, python, filepath.Join("testdata", "talk.py"), env...)
	})
	t.Run("JavaScript", func(t *testing.T) {
		t.Parallel()
		b := startBox(t, thinks)
		runScriptWatching(t, func(line string) {
			if line != "restart the box" {
				return
			}
			if err := b.stop(); err != nil {
				t.Error(err)
			}
			startBox(t, thinks, func(c *config.Config) {
				c.Data, c.Listen = b.cfg.Data, strings.TrimPrefix(b.url, "http://")
			})
		}, "node", filepath.Join("testdata", "talk.cjs"), "BOX_URL="+b.url, "API_KEY="+b.key, "QUESTION="+ask,
			"CLIENT="+clientFolder(t, "js-client"), "WEBM="+recorded(t))
	})
}

// recorded returns the question as a browser records it, followed by three seconds of
// silence.
func recorded(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "question.webm")
	out, err := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-i", packtest.Recording(t, question), "-af",
		"apad=pad_dur=3",
		"-ar", "48000", "-c:a", "libopus", "-b:a", "32k", "-cluster_time_limit", "100", file).CombinedOutput()
	if err != nil {
		t.Fatalf("ffmpeg: %v: %s", err, out)
	}
	return file
}

// microphone returns a file with the sound for a browser's microphone: a question, the same
// again during the answer, and silence.
func microphone(t *testing.T) string {
	t.Helper()
	asks, file := packtest.Recording(t, question), filepath.Join(t.TempDir(), "microphone.wav")
	out, err := exec.CommandContext(t.Context(), "sox", asks, asks, "-r", "48000", file, "pad", "3", "13@4.28",
		"90").CombinedOutput()
	if err != nil {
		t.Fatalf("sox: %v: %s", err, out)
	}
	return file
}
