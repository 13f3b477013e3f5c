package onnx

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Whisper's special tokens (multilingual vocabulary).
const (
	whisperText       = 50257 // text tokens are below
	whisperEOS        = 50257
	whisperStart      = 50258
	whisperTranscribe = 50359
	whisperNoSpeech   = 50362
	whisperNoTimes    = 50363
	whisperVocab      = 51865
)

// whisperTokens holds the token tables of tokenizer.json and generation_config.json.
type whisperTokens struct {
	bytes      [][]byte         // of each text token
	suppressed []bool           // text tokens, and the end, that are never generated
	atBegin    []int64          // tokens that are never generated first
	languages  map[string]int64 // by Whisper's own code

	once sync.Once // initialises ids for spell
	ids  map[string]int64
}

func readWhisperTokens(dir string) (*whisperTokens, error) {
	var config struct {
		Suppress      []int64          `json:"suppress_tokens"`
		BeginSuppress []int64          `json:"begin_suppress_tokens"`
		Languages     map[string]int64 `json:"lang_to_id"`
	}
	configPath := filepath.Join(dir, "generation_config.json")
	if err := readJSON(configPath, &config); err != nil {
		return nil, err
	}
	t := &whisperTokens{
		suppressed: make([]bool, whisperText+1),
		atBegin:    config.BeginSuppress,
		languages:  map[string]int64{},
	}
	for _, id := range config.Suppress {
		if id >= 0 && id <= whisperText {
			t.suppressed[id] = true
		}
	}
	for code, id := range config.Languages {
		if id <= whisperStart || id >= whisperTranscribe {
			return nil, loadError(configPath, fmt.Errorf("language %s has the token %d", code, id))
		}
		t.languages[strings.Trim(code, "<|>")] = id
	}
	if t.languages["en"] == 0 {
		return nil, loadError(configPath, fmt.Errorf("no English in lang_to_id: not the multilingual model"))
	}
	var err error
	t.bytes, err = readByteLevelVocabulary(filepath.Join(dir, "tokenizer.json"), whisperText)
	return t, err
}

// readByteLevelVocabulary reads the vocabulary of a byte-level BPE tokenizer: the bytes of each
// token.
func readByteLevelVocabulary(path string, size int) ([][]byte, error) {
	var tokenizer struct {
		Model struct {
			Vocab map[string]int `json:"vocab"`
		} `json:"model"`
	}
	if err := readJSON(path, &tokenizer); err != nil {
		return nil, err
	}
	alphabet := byteAlphabet()
	tokens := make([][]byte, size)
	for written, id := range tokenizer.Model.Vocab {
		if id < 0 || id >= size {
			continue
		}
		token := make([]byte, 0, len(written))
		for _, r := range written {
			b, ok := alphabet[r]
			if !ok {
				return nil, loadError(path, fmt.Errorf("token %d is written with %q, which stands for no byte", id, r))
			}
			token = append(token, b)
		}
		tokens[id] = token
	}
	if i := slices.IndexFunc(tokens, func(b []byte) bool { return b == nil }); i >= 0 {
		return nil, loadError(path, fmt.Errorf("token %d is missing", i))
	}
	return tokens, nil
}

// byteAlphabet returns the letters with which byte-level BPE writes bytes (GPT-2, Radford et al.
// 2019): printable bytes of Latin-1 as themselves, the others as the letters from U+0100 on, in
// order.
func byteAlphabet() map[rune]byte {
	alphabet := map[rune]byte{}
	next := rune(0x100)
	for b := range 0x100 {
		r := rune(b)
		if !(r >= '!' && r <= '~' || r >= 0xA1 && r <= 0xAC || r >= 0xAE) {
			r, next = next, next+1
		}
		alphabet[r] = byte(b)
	}
	return alphabet
}

func readJSON(path string, into any) error {
	if err := checkReadable(path); err != nil {
		return err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("onnx: %w", err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		return loadError(path, err)
	}
	return nil
}

// whisperCodes returns the languages whose code in BCP 47 (IANA's registry) differs from Whisper's.
func whisperCodes() map[string]string {
	return map[string]string{
		"jv":  "jw",
		"nb":  "no",
		"fil": "tl",
		"cmn": "zh",
		// Old tags of the same languages.
		"iw": "he",
		"in": "id",
		"ji": "yi",
	}
}

// languageToken returns the token of a BCP 47 tag, or 0 if the tag leaves the language open.
func (t *whisperTokens) languageToken(tag string) (int64, error) {
	primary := primaryLanguage(tag)
	if primary == "" {
		return 0, nil
	}
	code := primary
	if special, ok := whisperCodes()[primary]; ok {
		code = special
	}
	id, ok := t.languages[code]
	if !ok {
		known := slices.Sorted(maps.Keys(t.languages))
		return 0, fmt.Errorf("onnx: language (%q): Whisper does not know it; leave it open or choose one of %s", tag,
			strings.Join(known, ", "))
	}
	return id, nil
}

// language returns the BCP 47 tag of a language token.
func (t *whisperTokens) language(token int64) string {
	for code, id := range t.languages {
		switch {
		case id != token:
		case code == "jw":
			return "jv"
		default:
			return code
		}
	}
	return "und"
}

// likeliestLanguage returns the most probable language token at the start.
func (t *whisperTokens) likeliestLanguage(logits []float32) int64 {
	best := t.languages["en"]
	for _, id := range t.languages {
		if logits[id] > logits[best] {
			best = id
		}
	}
	return best
}

// next returns the likeliest allowed token, at the beginning or later in a text.
func (t *whisperTokens) next(logits []float32, first bool) int64 {
	best := int64(-1)
	for id, x := range logits[:whisperText+1] {
		if t.suppressed[id] || first && slices.Contains(t.atBegin, int64(id)) {
			continue
		}
		if best < 0 || x > logits[best] {
			best = int64(id)
		}
	}
	return best
}

// text decodes tokens.
func (t *whisperTokens) text(ids []int64) string {
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(t.piece(id))
	}
	return cleanText(b.String())
}

// piece returns the text of a token.
func (t *whisperTokens) piece(id int64) string {
	if id < whisperText {
		return string(t.bytes[id])
	}
	return ""
}
