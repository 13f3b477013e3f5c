package llama

import (
	"fmt"
	"runtime"
	"strings"
	"unicode/utf8"
)

// vocabulary turns text into a model's tokens and back. It may be used from
// many goroutines: llama.h promises so.
type vocabulary struct {
	lib    *library
	h      handle
	size   int
	bos    Token
	addBOS bool // the model wants bos before everything
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

// markup tokenises a part of the chat template, in which "<|im_end|>" and its
// like are control tokens.
func (v vocabulary) markup(text string) ([]Token, error) { return v.tokenize(text, true) }

// plain tokenises what somebody said. Nothing in it becomes a control token,
// whatever it spells: otherwise a caller could end his turn and write the
// system's or the assistant's next one.
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
		// Some vocabularies list markers as ordinary words, which even plain
		// tokenising finds: spell those out.
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

// The attributes of llama_token_attr that mark a token as no plain text.
const (
	attrControl     = 1 << 3
	attrUserDefined = 1 << 4
)

func (v vocabulary) isControl(t Token) bool {
	return v.lib.vocabGetAttr(v.h, t)&(attrControl|attrUserDefined) != 0 || v.ends(t)
}

// ends says whether t ends a reply.
func (v vocabulary) ends(t Token) bool { return v.lib.vocabIsEOG(v.h, t) }

func (v vocabulary) tokenize(text string, special bool) ([]Token, error) {
	raw := []byte(text)
	out := make([]Token, len(raw)+8)
	n := v.lib.tokenize(v.h, bytesPtr(raw), int32(len(raw)), &out[0], int32(len(out)), false, special)
	if n < 0 && -n > int32(len(out)) { // some vocabularies take several tokens a byte
		out = make([]Token, -n)
		n = v.lib.tokenize(v.h, bytesPtr(raw), int32(len(raw)), &out[0], int32(len(out)), false, special)
	}
	runtime.KeepAlive(raw)
	if n < 0 {
		return nil, fmt.Errorf("llama: text of %d bytes cannot be tokenised", len(raw))
	}
	return out[:n], nil
}

// piece is the text of t, which may be part of a rune only; control tokens
// have none.
func (v vocabulary) piece(t Token, special bool) []byte {
	buf := make([]byte, 64)
	n := v.lib.tokenToPiece(v.h, t, &buf[0], int32(len(buf)), 0, special)
	if n < 0 {
		buf = make([]byte, -n)
		n = v.lib.tokenToPiece(v.h, t, &buf[0], int32(len(buf)), 0, special)
	}
	return buf[:max(n, 0)]
}
