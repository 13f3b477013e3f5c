package audio

import (
	"os/exec"
	"path/filepath"
	"testing"
)

func TestWholeDetectsCompleteFiles(t *testing.T) {
	wav := EncodeWAV(make([]float32, 16000), 16000)
	ogg, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=duration=3", "-c:a", "libopus", "-f",
		"ogg", "-").Output()
	if err != nil {
		t.Fatalf("ffmpeg: %v", err)
	}
	for name, row := range map[string]struct {
		data []byte
		want bool
	}{
		"a WAV file":            {wav, true},
		"its beginning":         {wav[:len(wav)/2], false},
		"its header alone":      {wav[:44], false},
		"an Ogg file":           {ogg, true},
		"its beginning too":     {ogg[:len(ogg)/2], false},
		"nothing":               {nil, false},
		"words":                 {[]byte(filepath.Join("no", "audio")), false},
		"a page with no length": {[]byte("OggS\x00\x00aaaaaaaabbbbccccdddd\xff"), false},
	} {
		if got := CompleteRecording(row.data); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
