package main

import (
	"fmt"
	"io"
	"time"

	"parley/appliance/contract"
)

// longText is from how many bytes on it is shown how far the saying is: a minute
// of speech, which takes seconds to make.
const longText = 1000

// saidProgress shows on a terminal how far a long text is said.
type saidProgress struct {
	w       io.Writer // nil: nobody looks
	length  int
	letters int
	shown   time.Time
}

func newSaying(c *console, text string) *saidProgress {
	p := &saidProgress{length: len(text)}
	if len(text) >= longText && onTerminal(c.err) {
		p.w = c.err
	}
	return p
}

// said notes a chunk, and how many samples there are with it.
func (p *saidProgress) said(m contract.SnippetAudioChunk, samples int) {
	if m.IsLastChunk {
		p.letters += len(m.Text) + 1
	}
	if p.w == nil || time.Since(p.shown) < time.Second/5 {
		return
	}
	p.shown = time.Now()
	length := time.Duration(samples) * time.Second / contract.OutputRateHz
	// a terminal
	_, _ = fmt.Fprintf(p.w, "\r%3d %%, %v of speech ", min(100, 100*p.letters/p.length), length.Round(time.Second))
}

// done clears the line.
func (p *saidProgress) done() {
	if p.w != nil && !p.shown.IsZero() {
		_, _ = fmt.Fprint(p.w, "\r\033[K")
	}
}
