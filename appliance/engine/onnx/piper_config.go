package onnx

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxVoiceJSON limits a voice's description; existing ones have 5 to 20 kB.
const maxVoiceJSON = 1 << 20

// piperConfig is the relevant content of voice.json.
type piperConfig struct {
	Audio struct {
		SampleRate int `json:"sample_rate"`
	} `json:"audio"`
	Espeak struct {
		Voice string `json:"voice"`
	} `json:"espeak"`
	Inference struct {
		LengthScale float64 `json:"length_scale"`
	} `json:"inference"`
	PhonemeType  string             `json:"phoneme_type"`
	PhonemeIDMap map[string][]int64 `json:"phoneme_id_map"`
	NumSpeakers  int                `json:"num_speakers"`
	Language     struct {
		Code string `json:"code"`
	} `json:"language"`

	ids map[rune][]int64
	raw []byte // the whole file
}

// The runes of phoneme_id_map whose ids begin, end and separate the phonemes of a sentence.
const (
	piperBegin = '^'
	piperEnd   = '$'
	piperPad   = '_'
)

// readPiperConfig reads and checks a voice's description.
func readPiperConfig(path string) (*piperConfig, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("voice: description is missing: %w", err)
	}
	if info.Size() > maxVoiceJSON {
		return nil, fmt.Errorf("voice: %s has %d bytes; a voice's description has at most %d", path, info.Size(),
			maxVoiceJSON)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("voice: %w", err)
	}
	var c piperConfig
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, fmt.Errorf("voice: %s is not a Piper voice's description: %w", path, err)
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("voice: %s: %w", path, err)
	}
	c.raw = raw
	return &c, nil
}

func (c *piperConfig) check() error {
	switch {
	case c.Audio.SampleRate == 0:
		return errors.New(`"audio.sample_rate" is missing; it is the voice's rate in Hz, such as 22050`)
	case c.Audio.SampleRate < 8000 || c.Audio.SampleRate > 48000:
		return fmt.Errorf(`"audio.sample_rate" is %d: 8000 to 48000 Hz are allowed`, c.Audio.SampleRate)
	case c.PhonemeType != "" && c.PhonemeType != "espeak":
		return fmt.Errorf(`"phoneme_type" is %q: only "espeak" is supported`, c.PhonemeType)
	case c.Espeak.Voice == "":
		return errors.New(`"espeak.voice" is missing; it names the espeak-ng voice with which this one was ` +
			`trained, such as "en-us"`)
	case len(c.PhonemeIDMap) == 0:
		return errors.New(`"phoneme_id_map" is missing; it gives each phoneme its numbers`)
	case c.NumSpeakers < 0:
		return fmt.Errorf(`"num_speakers" is %d: it must be 1 or more`, c.NumSpeakers)
	case c.Inference.LengthScale < 0 || c.Inference.LengthScale > 10:
		return fmt.Errorf(`"inference.length_scale" is %g: 0.1 to 10 are allowed`, c.Inference.LengthScale)
	}
	if c.Inference.LengthScale == 0 {
		c.Inference.LengthScale = 1
	}
	c.ids = make(map[rune][]int64, len(c.PhonemeIDMap))
	for phoneme, ids := range c.PhonemeIDMap {
		if r, size := utf8.DecodeRuneInString(phoneme); size == len(phoneme) && size > 0 {
			c.ids[r] = ids
		}
	}
	for _, r := range []rune{piperBegin, piperEnd, piperPad} {
		if len(c.ids[r]) == 0 {
			return fmt.Errorf(`"phoneme_id_map" lacks %q, which every Piper voice has`, r)
		}
	}
	return nil
}

// alphabet returns the encoding of the voice's model: ^ _ (phoneme _)… $.
func (c *piperConfig) alphabet() *alphabet {
	ids := maps.Clone(c.ids)
	for _, r := range []rune{piperBegin, piperEnd, piperPad} {
		delete(ids, r)
	}
	return &alphabet{
		ids:     ids,
		begin:   c.ids[piperBegin],
		between: c.ids[piperPad],
		end:     c.ids[piperEnd],
	}
}

// pronouncer returns the pronouncer of the voice.
func (c *piperConfig) pronouncer(ph phonemizer) *pronouncer {
	return &pronouncer{
		phonemizer: ph,
		voice:      c.Espeak.Voice,
		tag:        c.language(),
		scripts:    scriptsOf(c.language()),
		rewrite:    norm.NFD.String,
	}
}

// language returns the BCP 47 tag of the voice's language.
func (c *piperConfig) language() string {
	if c.Language.Code != "" {
		return strings.ReplaceAll(c.Language.Code, "_", "-")
	}
	return c.Espeak.Voice
}

// VoiceLanguage returns the BCP 47 tag of the language of the voice in a pack's folder, or "" if it
// is unknown.
func VoiceLanguage(dir string) string {
	c, err := readPiperConfig(filepath.Join(dir, "voice.json"))
	if err != nil {
		return ""
	}
	return c.language()
}
