package onnx

import (
	"fmt"
	"os"
	"strings"
)

// readBinaryVocabulary reads Moonshine's tokenizer.bin: for each token a length and as many bytes.
// The length is one byte, or, from 128 on, two: b0 - 128 + 128·b1.
func readBinaryVocabulary(path string, size int) ([][]byte, error) {
	if err := checkReadable(path); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	tokens := make([][]byte, 0, size)
	for i := 0; i < len(b); {
		n := int(b[i])
		i++
		if n >= 128 && i < len(b) {
			n += 128*int(b[i]) - 128
			i++
		}
		if i+n > len(b) {
			return nil, loadError(path, fmt.Errorf("token %d is cut off", len(tokens)))
		}
		tokens = append(tokens, b[i:i+n:i+n])
		i += n
	}
	if len(tokens) != size {
		return nil, loadError(path, fmt.Errorf("%d tokens, expected %d", len(tokens), size))
	}
	return tokens, nil
}

// primaryLanguage returns the language of a BCP 47 tag without script and region, in lower case, or
// "" if the tag leaves the language open.
func primaryLanguage(tag string) string {
	primary, _, _ := strings.Cut(strings.ToLower(tag), "-")
	if primary == "und" || primary == "mul" {
		return ""
	}
	return primary
}
