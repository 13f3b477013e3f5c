package llama

import (
	"fmt"
	"runtime"
	"strings"
	"unicode/utf8"
)

// vocabulary converts between text and a model's tokens. It is safe for concurrent use, as llama.h
// promises.
type vocabulary struct {
	lib    *library
	h      handle
	size   int
	bos    Token
	addBOS bool // the model requires bos at the beginning
}

func newVocabulary(lib *library, model handle) vocabulary {
	h := lib.modelGetVocab(model)
	return vocabulary{
		lib:    lib,
		h:      h,
		size:   int(lib.vocabNTokens(h)),
		bos:    lib.vocabBOS(h),
		addBOS: lib.vocabGetAddBOS(h),
	}
}

// markup tokenizes a part of the chat template, in which "<|im_end|>" and the like are control
// tokens.
func (v vocabulary) markup(text string) ([]Token, error) { return v.tokenize(text, true) }

// plain tokenizes text from outside. Nothing in it becomes a control token, whatever it spells;
// otherwise a caller could end its turn and write the next one of the system or the assistant.
func (v vocabulary) plain(text string) ([]Token, error) {
	tokens, err := v.tokenize(strings.ToValidUTF8(text, string(utf8.RuneError)), false)
	if err != nil {
		return nil, err
	}
	out := make([]Token, 0, len(tokens))
	for _, t := range tokens {
		if !v.isControl(t) {
			out = append(out, t)
			continue
		}
		// Some vocabularies list markers as ordinary words, which even plain tokenization finds;
		// spell those out.
		for _, r := range string(v.piece(t, true)) {
			spelled, err := v.tokenize(string(r), false)
			if err != nil {
				return nil, err
			}
			out = append(out, spelled...)
		}
	}
	return out, nil
}

// The attributes of llama_token_attr that mark control tokens.
const (
	attrControl     = 1 << 3
	attrUserDefined = 1 << 4
)

func (v vocabulary) isControl(t Token) bool {
	return v.lib.vocabGetAttr(v.h, t)&(attrControl|attrUserDefined) != 0 || v.ends(t)
}

// expectedEnd reports whether t ends a reply.
func (v vocabulary) ends(t Token) bool { return v.lib.vocabIsEOG(v.h, t) }

func (v vocabulary) tokenize(text string, special bool) ([]Token, error) {
	raw := []byte(text)
	out := make([]Token, len(raw)+8)
	n := v.lib.tokenize(v.h, bytesPtr(raw), int32(len(raw)), &out[0], int32(len(out)), false, special)
	if n < 0 && -n > int32(len(out)) { // some vocabularies use several tokens per byte
		out = make([]Token, -n)
		n = v.lib.tokenize(v.h, bytesPtr(raw), int32(len(raw)), &out[0], int32(len(out)), false, special)
	}
	runtime.KeepAlive(raw)
	if n < 0 {
		return nil, fmt.Errorf("llama: text of %d bytes cannot be tokenized", len(raw))
	}
	return out[:n], nil
}

// piece returns the text of t, which may be part of a rune; control tokens have none.
func (v vocabulary) piece(t Token, special bool) []byte {
	buf := make([]byte, 64)
	n := v.lib.tokenToPiece(v.h, t, &buf[0], int32(len(buf)), 0, special)
	if n < 0 {
		buf = make([]byte, -n)
		n = v.lib.tokenToPiece(v.h, t, &buf[0], int32(len(buf)), 0, special)
	}
	return buf[:max(n, 0)]
}
