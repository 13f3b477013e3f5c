package media

import (
	"strings"
	"testing"
)

// A text is told by its content: UTF-8 without control characters, also where ffprobe would take
// it for subtitles, a playlist or a recording of a terminal.
func TestTextsAreToldFromOtherFiles(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", textHead) // the head ends within a character, or not
	for content, want := range map[string]bool{
		"Good morning.\n": true,
		"\ufeffGuten Tag, schöne Grüße\r\n\tund mehr": true,
		"日本語": true,
		"1\n00:00:01,000 --> 00:00:02,000\nHello\n": true,
		"#EXTM3U\nhttp://127.0.0.1/\n":              true,
		"WEBVTT\n\n00:01.000 --> 00:02.000\nHi\n":   true,
		long:                            true,
		"x" + long:                      true,
		"":                              false,
		"\x1b[31mred":                   false,
		"a\x00b":                        false,
		"Gr\xfc\xdfe":                   false,
		"cut \xe6\x97":                  false,
		"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n": false,
	} {
		path := written(t, "video.mp4", []byte(content))
		r := Reader{Urgent: true}
		if info, err := r.Probe(t.Context(), path); (err == nil && info == (Info{Kind: Text})) != want {
			t.Errorf("%.20q: %+v, %v", content, info, err)
		}
	}
}
