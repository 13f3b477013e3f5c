package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/appliance/audio"
)

// made returns a recording of two seconds that ffmpeg made.
func made(t *testing.T, name string, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	args = append([]string{"-loglevel", "error", "-f", "lavfi", "-i", "sine=440:r=44100:d=2"}, append(args, path)...)
	if out, err := exec.Command("ffmpeg", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// Formats without a decoder of ours are converted with ffmpeg, also from a pipe.
func TestRecordingsOfAllKindsAreRead(t *testing.T) {
	for _, path := range []string{
		made(t, "a.flac"), made(t, "a.mp3"), made(t, "a b.m4a"), made(t, "a.aac"),
		made(t, "a.ogg", "-c:a", "libvorbis"), made(t, "a.aiff"),
		made(t, "a.mkv", "-f", "lavfi", "-i", "testsrc=d=2:s=64x64", "-c:a", "aac", "-shortest"),
		made(t, "a.wav", "-c:a", "adpcm_ms"),
	} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{path, "-"} {
			c := &console{in: bytes.NewReader(data)}
			pcm, err := c.recording(t.Context(), name, 16000)
			if err != nil || len(pcm) < 16000*19/10 || len(pcm) > 16000*22/10 {
				t.Errorf("%s as %q: %d samples, %v", filepath.Base(path), name, len(pcm), err)
			}
		}
	}
}

// Without ffmpeg the error names the format and a command that converts the file.
func TestWhatCannotBeReadIsNamedWithTheCommandThatConvertsIt(t *testing.T) {
	m4a, speex := made(t, "my talk.m4a", "-c:a", "alac"), made(t, "a.ogg", "-c:a", "libspeex")
	other := filepath.Join(t.TempDir(), "letter.doc")
	if err := os.WriteFile(other, []byte("Dear Sir or Madam, hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir())
	for path, says := range map[string][]string{
		m4a: {"\"alac\"", "ffmpeg -i '" + m4a + "' '" + strings.TrimSuffix(m4a, ".m4a") + ".wav'",
			"apt-get install ffmpeg"},
		speex: {"Speex", "ffmpeg -i " + speex + " " + strings.TrimSuffix(speex, ".ogg") + ".wav"},
		other: {"has an unknown format", "apt-get install ffmpeg"},
	} {
		_, err := (&console{}).recording(t.Context(), path, 16000)
		for _, want := range says {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v\nwant %s", err, want)
			}
		}
	}
}

// A file that crashes its decoder is not given to ffmpeg, which would decode it with the
// same library and without a sandbox.
func TestWhatTheDecoderDiesOfIsNotGivenToFFmpeg(t *testing.T) {
	data, err := os.ReadFile(made(t, "a.aac"))
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.Repeat(data, 2000) // more than an hour, for seconds of decoding
	bin := t.TempDir()
	const script = "#!/bin/sh\necho it was asked >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(bin, "ffmpeg"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	done := make(chan error, 1)
	go func() {
		_, err := (&console{in: bytes.NewReader(data)}).recording(t.Context(), "-", 16000)
		done <- err
	}()
	for {
		select {
		case err := <-done:
			if err == nil || !strings.Contains(err.Error(), "the file could not be decoded") ||
				strings.Contains(err.Error(), "asked") {
				t.Errorf("%v", err)
			}
			return
		case <-time.After(time.Millisecond):
			killDecoders(t)
		}
	}
}

// killDecoders kills the decoder processes of this one, once they work.
func killDecoders(t *testing.T) {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		of := func(file string) string {
			text, _ := os.ReadFile(filepath.Join(filepath.Dir(name), file)) // it may have ended
			return string(text)
		}
		ours := strings.Contains(of("status"), fmt.Sprintf("\nPPid:\t%d\n", os.Getpid()))
		if !ours || !strings.HasPrefix(of("cmdline"), "parley-decoder") {
			continue
		}
		var read int
		const some = 1 << 20 // bytes; before it is at it, it has read some kilobytes
		if _, err := fmt.Sscanf(of("io"), "rchar: %d", &read); err != nil || read < some {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// A big-endian WAV file is refused with the reason, as in an upload, and not decoded as
// silence.
func TestABigEndianRecordingIsRefused(t *testing.T) {
	wav := audio.EncodeWAV(make([]float32, 8000), 16000)
	rifx := filepath.Join(t.TempDir(), "rifx.wav")
	if err := os.WriteFile(rifx, append([]byte("RIFX"), wav[4:]...), 0o644); err != nil {
		t.Fatal(err)
	}
	c := &console{in: strings.NewReader(""), out: io.Discard, err: io.Discard}
	_, err := c.recording(t.Context(), rifx, 16000)
	var wrong misuse
	if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "RIFX") ||
		!strings.Contains(err.Error(), "send RIFF") {
		t.Errorf("%v", err)
	}
}
