package onnx

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// wordPiece cuts text into the tokens of an uncased BERT model: words in lower case without accents, punctuation and
// Chinese characters one by one, and each word into the longest known pieces from its beginning on.
type wordPiece struct {
	ids                             map[string]int64 // a piece within a word begins with ##
	classify, separate, unknownWord int64
}

const (
	// longestWord is the most characters of a word that is not unknown, as the model was trained.
	longestWord = 100
	// mostBytes is the most of a text that is read: 60 bytes for each token that a model takes. A stranger's text may
	// be much longer.
	mostBytes = 8 << 10
)

// readWordPiece reads the vocabulary of a tokenizer.json of Hugging Face's tokenizers.
func readWordPiece(path string) (*wordPiece, error) {
	if err := checkReadable(path); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	var file struct {
		Model struct {
			Type  string           `json:"type"`
			Vocab map[string]int64 `json:"vocab"`
		} `json:"model"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, loadError(path, err)
	}
	if file.Model.Type != "WordPiece" {
		return nil, loadError(path, fmt.Errorf("it is a tokenizer of type %q, not WordPiece", file.Model.Type))
	}
	w := &wordPiece{ids: file.Model.Vocab}
	for token, id := range map[string]*int64{"[CLS]": &w.classify, "[SEP]": &w.separate, "[UNK]": &w.unknownWord} {
		var ok bool
		if *id, ok = w.ids[token]; !ok {
			return nil, loadError(path, fmt.Errorf("it has no token %s", token))
		}
	}
	return w, nil
}

// tokens returns the tokens of a text between those for its beginning and its end, at most limit in all. Names of
// special tokens within the text, such as [SEP], are text.
func (w *wordPiece) tokens(text string, limit int) []int64 {
	ids := []int64{w.classify}
	word := func(s string) bool {
		ids = w.appendPieces(ids, s)
		return len(ids) < limit-1
	}
	eachWord(norm.NFD.String(strings.Map(cleanRune, text[:min(len(text), mostBytes)])), word)
	return append(ids[:min(len(ids), limit-1)], w.separate)
}

// cleanRune removes control characters and others that are not shown, and replaces white space by a space.
func cleanRune(r rune) rune {
	switch {
	case r == '\t' || r == '\n' || r == '\r':
		return ' '
	case r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co):
		return -1
	case unicode.IsSpace(r):
		return ' '
	}
	return r
}

// eachWord calls yield with the words of a decomposed text, in lower case and without accents, until it returns false.
func eachWord(text string, yield func(string) bool) {
	var word []rune
	end := func() bool {
		more := len(word) == 0 || yield(string(word))
		word = word[:0]
		return more
	}
	for _, r := range text {
		switch {
		case r == ' ':
			if !end() {
				return
			}
		case unicode.Is(unicode.Mn, r): // an accent
		case isPunctuation(r) || isChinese(r):
			if !end() || !yield(string(r)) {
				return
			}
		default:
			word = append(word, []rune(strings.ToLower(string(r)))...)
		}
	}
	end()
}

// isPunctuation reports whether BERT takes r for punctuation: all of ASCII that is no letter and no digit, and what
// Unicode calls punctuation.
func isPunctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && r < 0x7f && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	return unicode.Is(unicode.P, r)
}

// isChinese reports whether r is of the blocks of Chinese characters, which are written without spaces.
func isChinese(r rune) bool {
	return r >= 0x4e00 && r <= 0x9fff || r >= 0x3400 && r <= 0x4dbf || r >= 0x20000 && r <= 0x2a6df ||
		r >= 0x2a700 && r <= 0x2ceaf || r >= 0xf900 && r <= 0xfaff || r >= 0x2f800 && r <= 0x2fa1f
}

// appendPieces appends the longest known pieces of a word, or that it is unknown if there are none for all of it.
func (w *wordPiece) appendPieces(ids []int64, word string) []int64 {
	if utf8.RuneCountInString(word) > longestWord {
		return append(ids, w.unknownWord)
	}
	begun := len(ids)
	for prefix := ""; word != ""; prefix = "##" {
		end := len(word)
		id, ok := w.ids[prefix+word]
		for !ok && end > 0 {
			_, size := utf8.DecodeLastRuneInString(word[:end])
			end -= size
			id, ok = w.ids[prefix+word[:end]]
		}
		if end == 0 {
			return append(ids[:begun], w.unknownWord)
		}
		ids, word = append(ids, id), word[end:]
	}
	return ids
}
