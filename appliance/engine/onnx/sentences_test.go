package onnx

import (
	"bufio"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/appliance/engine"
	"parley/internal/packtest"
)

func openSentences(t testing.TB) *Sentences {
	t.Helper()
	rt := openRuntime(t)
	return sharedOf(t, "Sentences", func() (*Sentences, error) {
		s, err := LoadSentences(rt, filepath.Dir(packtest.File(t, "embed", "model.onnx")), engine.NewGate(2))
		if err != nil {
			return nil, err
		}
		return s, s.Warm(context.Background())
	})
}

// sentenceCase is a text with the tokens that Hugging Face's tokenizers 0.23.3 gives it, and for some the first
// numbers of the vector that ONNX Runtime 1.32 gave in Python.
type sentenceCase struct {
	Text   string    `json:"text"`
	Tokens []int64   `json:"tokens"`
	Vector []float64 `json:"vector"`
}

func sentenceCases(t *testing.T) (cases []sentenceCase) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "sentences.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c sentenceCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	if len(cases) < 200 {
		t.Fatalf("%d cases, expected 200 or more", len(cases))
	}
	return cases
}

func TestWordPieceCutsAsTheReferenceDoes(t *testing.T) {
	w, err := readWordPiece(packtest.File(t, "embed", "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range sentenceCases(t) {
		if got := w.tokens(c.Text, sentenceTokens); !slices.Equal(got, c.Tokens) {
			t.Errorf("%q:\n got %v\nwant %v", c.Text, got, c.Tokens)
		}
	}
}

func TestWordPieceTakesAnyText(t *testing.T) {
	w, err := readWordPiece(packtest.File(t, "embed", "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"\xff\xfe\xc3", "open\xffing", "[SEP] [CLS] [PAD]", strings.Repeat("a ", 1<<20), strings.Repeat("é", 1<<20),
		strings.Repeat("\u0301", 1<<20), strings.Repeat("漢", 5000)[1:],
	} {
		got := w.tokens(text, sentenceTokens)
		if n := len(got); n < 2 || n > sentenceTokens || got[0] != w.classify || got[n-1] != w.separate {
			t.Errorf("%.20q: tokens %v", text, got)
		}
		if inner := got[1 : len(got)-1]; slices.Contains(inner, w.separate) || slices.Contains(inner, w.classify) {
			t.Errorf("%.20q: a special token comes from the text: %v", text, got)
		}
	}
}

func TestSentenceVectorsAreThoseOfTheReference(t *testing.T) {
	s := openSentences(t)
	compared := 0
	for _, c := range sentenceCases(t) {
		if c.Vector == nil {
			continue
		}
		compared++
		v := embedOne(t, s, c.Text)
		if math.Abs(cosine(v, v)-1) > 1e-5 {
			t.Errorf("%q: the length is %v, not 1", c.Text, math.Sqrt(cosine(v, v)))
		}
		for i, x := range c.Vector {
			if math.Abs(float64(v[i])-x) > 1e-5 {
				t.Errorf("%q: number %d is %v, not %v", c.Text, i, v[i], x)
			}
		}
	}
	if compared < 8 {
		t.Errorf("compared %d vectors", compared)
	}
}

func TestATextHasTheSameVectorInAnyCompany(t *testing.T) {
	s := openSentences(t)
	alone := embedOne(t, s, "When are you open?")
	among, err := s.Embed(t.Context(), []string{"Is there a place to eat?", "When are you open?", ""}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(alone, among[1]) {
		t.Error("the vector changes with the texts beside it")
	}
}

func TestSentencesOfOneMeaningAreNear(t *testing.T) {
	s := openSentences(t)
	open := embedOne(t, s, "When are you open?")
	hours := cosine(open, embedOne(t, s, "What are your opening hours?"))
	parking := cosine(open, embedOne(t, s, "Where can I leave my car?"))
	if hours < 0.7 || parking > 0.4 {
		t.Errorf("opening hours %.2f (0.7 or more expected), parking %.2f (0.4 or less)", hours, parking)
	}
}

func TestEmbeddingStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := openSentences(t).Embed(ctx, []string{"Hello."}, nil); err == nil {
		t.Error("no error after the end of the context")
	}
}

func embedOne(t *testing.T, s *Sentences, text string) []float32 {
	t.Helper()
	v, err := s.Embed(t.Context(), []string{text}, engine.Live.Urgency())
	if err != nil {
		t.Fatal(err)
	}
	return v[0]
}

func cosine(a, b []float32) (sum float64) {
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}

func BenchmarkSentence(b *testing.B) {
	s := openSentences(b)
	for b.Loop() {
		if _, err := s.Embed(b.Context(), []string{"Is there step-free access to the museum?"}, nil); err != nil {
			b.Fatal(err)
		}
	}
}
