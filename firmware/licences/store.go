package licences

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// stored is the form of inside.json. Licences share most of their paragraphs, so each paragraph is stored once, with
// the ends of lines of its first copy: that is a quarter of all texts.
type stored struct {
	Parts      []storedPart      `json:"parts"`
	Texts      map[string]string `json:"texts"`      // the ids of its paragraphs, by the id of the text
	Paragraphs map[string]string `json:"paragraphs"` // by id
}

type storedPart struct {
	Part
	Texts []storedText `json:"texts"`
}

type storedText struct {
	File string `json:"file"`
	Text string `json:"text"` // the id of the text
}

// id returns the name of a text or paragraph: 40 bits of its hash, which leaves one chance in a million that two of a
// thousand share one. Encode reports that.
func id(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:5])
}

// words returns a text with single spaces.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }

// Encode returns parts in the form of inside.json.
func Encode(parts []Part) ([]byte, error) {
	s := stored{Texts: map[string]string{}, Paragraphs: map[string]string{}}
	for _, p := range parts {
		sp := storedPart{Part: p}
		for _, t := range p.Texts {
			name := id(t.Text)
			sp.Texts = append(sp.Texts, storedText{t.File, name})
			var ids []string
			for _, paragraph := range strings.Split(strings.TrimSuffix(t.Text, "\n"), "\n\n") {
				one := id(words(paragraph))
				before, known := s.Paragraphs[one]
				if known && words(before) != words(paragraph) {
					return nil, fmt.Errorf("two paragraphs of licences have the id %s: lengthen the ids", one)
				}
				if !known {
					s.Paragraphs[one] = paragraph
				}
				ids = append(ids, one)
			}
			s.Texts[name] = strings.Join(ids, " ")
		}
		s.Parts = append(s.Parts, sp)
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(s)
	return out.Bytes(), err
}

// decode is the inverse of Encode.
func decode(data []byte) ([]Part, error) {
	var s stored
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("the list of licences: %w", err)
	}
	var parts []Part
	for _, sp := range s.Parts {
		p := sp.Part
		for _, t := range sp.Texts {
			var paragraphs []string
			for _, one := range strings.Fields(s.Texts[t.Text]) {
				paragraphs = append(paragraphs, s.Paragraphs[one])
			}
			p.Texts = append(p.Texts, Text{t.File, strings.Join(paragraphs, "\n\n") + "\n"})
		}
		parts = append(parts, p)
	}
	return parts, nil
}
