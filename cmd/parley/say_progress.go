package main

import (
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"parley/appliance/contract"
)

// longText is from how many bytes on a progress bar is shown: a minute of speech, which
// takes seconds to make.
const longText = 1000

// speechProgress shows on a terminal how much of a long text is spoken.
type speechProgress struct {
	all *mpb.Progress // nil: not on a terminal
	bar *mpb.Bar
}

func newSpeechProgress(c *console, text string) *speechProgress {
	p := &speechProgress{}
	if len(text) >= longText && onTerminal(c.err) {
		p.all = mpb.New(mpb.WithOutput(c.err), mpb.WithAutoRefresh())
		p.bar = p.all.AddBar(int64(len(text)), mpb.BarRemoveOnComplete(), mpb.AppendDecorators(decor.Percentage()))
	}
	return p
}

// advance counts a chunk.
func (p *speechProgress) advance(m contract.SnippetAudioChunk) {
	if p.all != nil && m.IsLastChunk {
		p.bar.IncrBy(len(m.Text) + 1)
	}
}

// done removes the bar.
func (p *speechProgress) done() {
	if p.all != nil {
		p.bar.Abort(true) // also after an interruption, which leaves the bar unfinished
		p.all.Wait()
	}
}
