package bench

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"parley/appliance/audio"
	"parley/appliance/engine"
)

// Where Debian's asterisk-core-sounds-en-wav has its prompts, spoken by one
// woman at 8 kHz, and asterisk-core-sounds-en the words of each.
const (
	debianRecordings = "/usr/share/asterisk/sounds/en_US_f_Allison"
	debianTexts      = "/usr/share/doc/asterisk-core-sounds-en/core-sounds-en.txt.gz"
)

const installHint = "run as root: apt-get install asterisk-core-sounds-en-wav asterisk-core-sounds-en, or name a " +
	"folder of recordings with --recordings"

// maxRecording is the longest recording for the word error, as in the reference figures.
const maxRecording = 9500 * time.Millisecond

// recording is speech and its words; Text is empty if they are unknown.
type recording struct {
	Name string
	Text string
	PCM  []float32 // at engine.SpeechRateHz
}

func (r recording) duration() time.Duration {
	return time.Duration(len(r.PCM)) * time.Second / engine.SpeechRateHz
}

// recordings reads the recordings in dir, longest first; an empty dir means Debian's.
func recordings(dir string) ([]recording, error) {
	find := folderRecordings
	if dir == "" || filepath.Clean(dir) == debianRecordings {
		dir, find = debianRecordings, func(dir string) (map[string]string, error) {
			return debianPrompts(dir, debianTexts)
		}
	}
	texts, err := find(dir)
	if err != nil {
		return nil, err
	}
	var all []recording
	for path, words := range texts {
		data, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // the list of texts also has prompts of other packages
		}
		if err != nil {
			return nil, fmt.Errorf("a recording: %w", err)
		}
		pcm, err := audio.DecodeAll(data, engine.SpeechRateHz)
		if err != nil {
			return nil, fmt.Errorf("the recording %s: %w", path, err)
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return nil, err
		}
		all = append(all, recording{Name: strings.TrimSuffix(name, filepath.Ext(name)), Text: words, PCM: pcm})
	}
	if len(all) == 0 && dir == debianRecordings {
		return nil, fmt.Errorf("there are no recordings in %s: %s", dir, installHint)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no recordings in %s: a folder of recordings has .wav, .mp3, .ogg or .webm files, and "+
			"a .txt file of the same name with the words of each", dir)
	}
	slices.SortFunc(all, func(a, b recording) int {
		return cmp.Or(cmp.Compare(len(b.PCM), len(a.PCM)), strings.Compare(b.Name, a.Name))
	})
	return all, nil
}

// debianPrompts returns the paths of the spoken prompts in dir and their words, which are
// in the file words.
func debianPrompts(dir, words string) (map[string]string, error) {
	f, err := os.Open(words)
	if err != nil {
		return nil, fmt.Errorf("the words of the recordings are missing (%w): %s", err, installHint)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", words, err)
	}
	entry := regexp.MustCompile(`^([\w\-/]+):\s*(.+)$`)
	prompts := map[string]string{}
	lines := bufio.NewScanner(unpacked)
	for lines.Scan() {
		m := entry.FindStringSubmatch(strings.TrimSpace(lines.Text()))
		if m == nil || strings.ContainsAny(m[2], "[(") { // describes a sound, not words
			continue
		}
		prompts[filepath.Join(dir, m[1]+".wav")] = m[2]
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", words, err)
	}
	return prompts, nil
}

// folderRecordings returns the sound files of a folder, and the words from the text file
// with the same name.
func folderRecordings(dir string) (map[string]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("the recordings: %w", err)
	}
	texts := map[string]string{}
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if !slices.Contains([]string{".wav", ".mp3", ".ogg", ".opus", ".webm"}, strings.ToLower(ext)) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		words, err := os.ReadFile(strings.TrimSuffix(path, ext) + ".txt")
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("the words of a recording: %w", err)
		}
		texts[path] = string(words)
	}
	return texts, nil
}

// scored returns the n longest recordings with known words, up to maxRecording.
func scored(all []recording, n int) []recording {
	var some []recording
	for _, r := range all {
		if r.Text != "" && r.duration() <= maxRecording && len(some) < n {
			some = append(some, r)
		}
	}
	return some
}

const (
	// A turn is a sentence or two.
	shortestTurn, longestTurn = 1500 * time.Millisecond, 6 * time.Second
	// longestTurnPause excludes recordings with a pause that could end the turn early:
	// the shortest configurable end of a turn is 500 ms.
	longestTurnPause = 400 * time.Millisecond
)

// turns returns n recordings for a conversation, of all lengths, in a mixed order; they
// repeat if there are fewer.
func turns(all []recording, n int) []recording {
	var good []recording
	for _, r := range all {
		if d := r.duration(); d >= shortestTurn && d <= longestTurn &&
			longestPause(r.PCM, engine.SpeechRateHz) <= longestTurnPause {
			good = append(good, r)
		}
	}
	if len(good) == 0 {
		return nil
	}
	// Evenly spread positions in the list, which is sorted by length, give all lengths
	// early, and none twice.
	some := make([]recording, n)
	for i := range some {
		some[i] = good[int(spread(i)*float64(len(good)))]
	}
	return some
}

// speechOf returns the first d of the recordings, joined.
func speechOf(all []recording, d time.Duration) []float32 {
	n := int(d.Seconds() * engine.SpeechRateHz)
	var pcm []float32
	for _, r := range all {
		pcm = append(pcm, r.PCM...)
		if len(pcm) >= n {
			return pcm[:n]
		}
	}
	return append(pcm, make([]float32, n-len(pcm))...)
}
