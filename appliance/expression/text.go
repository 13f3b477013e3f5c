package expression

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"unicode"
)

// textLabels are the labels of GoEmotions (Demszky et al. 2020), in the order of the weights.
var textLabels = [...]string{
	"admiration", "amusement", "anger", "annoyance", "approval", "caring", "confusion", "curiosity", "desire",
	"disappointment", "disapproval", "disgust", "embarrassment", "excitement", "fear", "gratitude", "grief", "joy",
	"love", "nervousness", "optimism", "pride", "realization", "relief", "remorse", "sadness", "surprise", "neutral",
}

const (
	textBuckets = 1 << 16 // for hashed features
	// MaxText is how much of the end of a text is read, in bytes: some two minutes of speech. Older words say
	// little about the present feeling.
	MaxText = 2 << 10
)

// textModel is one logistic regression for each label over hashed n-grams.
type textModel struct {
	idf     []byte // of each bucket, as (idf-1)*20
	scale   [len(textLabels)]float64
	bias    [len(textLabels)]float64
	weights []byte // int8, len(textLabels) for each bucket
}

// newTextModel parses weights: the idf of each bucket as a byte; for each label a scale, a bias and an unused
// threshold (little-endian float32); then the int8 weights, bucket by bucket.
func newTextModel(data []byte) textModel {
	const n = len(textLabels)
	m := textModel{idf: data[:textBuckets], weights: data[textBuckets+3*4*n:]}
	for i := range n {
		at := textBuckets + 4*i
		m.scale[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[at:])))
		m.bias[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[at+4*n:])))
	}
	return m
}

// probabilities returns the probability of each label, independent of the others.
func (m textModel) probabilities(text string) [len(textLabels)]float64 {
	return probabilities(m.logits(textFeatures(text)))
}

// logits returns the logarithm of the odds of each label.
func (m textModel) logits(features []uint16) (z [len(textLabels)]float64) {
	for _, bucket := range features {
		idf := m.weight(bucket)
		for i, w := range m.weights[int(bucket)*len(z):][:len(z)] {
			z[i] += idf * float64(int8(w))
		}
	}
	length := m.length(features)
	for i := range z {
		z[i] = z[i]/length*m.scale[i] + m.bias[i]
	}
	return z
}

// weight returns the idf of a bucket.
func (m textModel) weight(bucket uint16) float64 { return 1 + float64(m.idf[bucket])/20 }

// length returns the Euclidean length of a text's features.
func (m textModel) length(features []uint16) float64 {
	var square float64
	for _, bucket := range features {
		square += m.weight(bucket) * m.weight(bucket)
	}
	return math.Sqrt(square)
}

// textFeatures returns the buckets of a text's features, sorted and without duplicates: its words, word pairs
// and triples, runs of three to five letters, and whether all letters are capitals.
func textFeatures(text string) []uint16 {
	text = textEnd(text)
	tokens := slices.Concat([]string{"<s>"}, textTokens(text), []string{"</s>"})
	out := make([]uint16, 0, 16*len(tokens))
	add := func(kind, what string) { out = append(out, bucketOf(kind, what)) }
	for i, t := range tokens {
		add("w", t)
		if i >= 1 {
			add("b", tokens[i-1]+" "+t)
		}
		if i >= 2 {
			add("t", tokens[i-2]+" "+tokens[i-1]+" "+t)
		}
		letters := []rune("<" + t + ">")
		for n := 3; n <= 5; n++ {
			for j := 0; j+n <= len(letters); j++ {
				add("c", string(letters[j:j+n]))
			}
		}
	}
	if shouted(text) {
		add("ALLCAPS", "")
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// textEnd returns the last MaxText bytes of a text, starting at a whole character.
func textEnd(text string) string {
	if len(text) <= MaxText {
		return text
	}
	return strings.ToValidUTF8(text[len(text)-MaxText:], "")
}

// bucketOf hashes a feature (FNV-1a, 32 bits).
func bucketOf(kind, what string) uint16 {
	h := fnv.New32a()
	h.Write([]byte(kind)) // never fails
	h.Write([]byte(what))
	return uint16(h.Sum32())
}

// textTokens cuts a text into words, runs of punctuation, and single other characters, all in lower case.
func textTokens(text string) []string {
	const word, mark = 1, 2
	kind := func(r rune) int {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '\'':
			return word
		case strings.ContainsRune(`!?.,;:()"*`, r):
			return mark
		}
		return 0
	}
	var out []string
	before := 0
	for _, r := range text {
		k := kind(r)
		switch {
		case k == 0 && unicode.IsSpace(r):
		case k != 0 && k == before:
			out[len(out)-1] += string(r)
		default:
			out = append(out, string(r))
		}
		before = k
	}
	for i, t := range out {
		out[i] = strings.ToLower(t)
	}
	return out
}

// shouted reports whether a text has letters and all of them are capitals.
func shouted(text string) bool {
	return strings.ToUpper(text) == text && strings.ToLower(text) != text
}
