package speech

import (
	"context"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/text"
)

// snippet is a part of an utterance that is spoken in one go.
type snippet struct {
	id        string
	utterance int
	index     int // among all of its generation
	text      string
	line      *line
	part      text.Stretch
	before    string // what was said before it, where it goes on with that
	pause     time.Duration
	last      bool // of its generation
}

// piece is sound of a snippet as it is made, at the rate of the wire.
type piece struct {
	snippet *snippet
	pcm     []float32
	times   []contract.Timestamp // of what ends in it, in ms of the snippet
	last    bool                 // of the snippet
	heard   *string              // what the box's ear made of the whole snippet; nil: it was not asked
}

const (
	// betweenSentences is the silence between the snippets of an utterance, besides
	// what the voice leaves itself, together about what a reader does; a breath. It
	// is the same as between sentences that are spoken in one go.
	betweenSentences = 180 * time.Millisecond
	// betweenParagraphs is what readers leave there, twice as much and more.
	betweenParagraphs = 450 * time.Millisecond
	// soundAhead is how long before its listener runs dry the next of the sound is
	// due, as in conversations.
	soundAhead = 300 * time.Millisecond
)

// snippets are all of a take.
func (t *take) snippets() []*snippet {
	var all []*snippet
	before := t.before
	for u := range t.lines {
		l := &t.lines[u]
		for i, p := range l.parts {
			s := &snippet{id: contract.NewID(), utterance: u, index: len(all), text: l.Text[p.From:p.To], line: l, part: p, before: before}
			if before = ""; p.GoesOn {
				before = s.text
			}
			switch ends := i == len(l.parts)-1; {
			case ends:
				s.pause = l.silence()
				s.last = u == len(t.lines)-1
				if !s.last {
					s.pause += betweenSentences
				}
			case p.Paragraph:
				s.pause = betweenParagraphs
			case !p.GoesOn:
				s.pause = betweenSentences
			}
			all = append(all, s)
		}
	}
	return all
}

// pacing says when the sound of a stream is due: when its listener runs dry, who
// listens from its first sound on.
type pacing struct {
	urgency *engine.Urgency
	begun   time.Time
	made    time.Duration
}

func newPacing() *pacing { return &pacing{urgency: engine.Request.Urgency()} }

func (p *pacing) sounded(samples int) {
	if p.begun.IsZero() {
		p.begun = time.Now()
	}
	p.made += time.Duration(samples) * time.Second / contract.OutputRateHz
	p.urgency.Set(engine.Request, p.begun.Add(p.made-soundAhead))
}

// speak says a take, and gives emit its sound in pieces, as they are made. Each
// snippet ends with a piece that says so, which may be without sound.
func (j *Job) speak(ctx context.Context, t *take, p *pacing, emit func(piece) error) error {
	var rate converter
	for _, s := range t.snippets() {
		if err := t.say(ctx, s, p, &rate, j.asked.IncludeTimestampTypes, emit); err != nil {
			return err
		}
	}
	return nil
}

// say says one snippet as its sound is made.
func (t *take) say(ctx context.Context, s *snippet, p *pacing, rate *converter, types []contract.TimestampType, emit func(piece) error) error {
	voice := s.line.voice.Speaks
	resampler, err := rate.from(voice.RateHz())
	if err != nil {
		return err
	}
	ended := false
	give := func(pcm []float32, times []contract.Timestamp, last bool) error {
		if ended = last; last {
			pcm = append(resampler.Flush(pcm), make([]float32, audio.Samples(s.pause, contract.OutputRateHz))...)
		}
		p.sounded(len(pcm))
		if err := emit(piece{snippet: s, pcm: pcm, times: times, last: last}); err != nil {
			return err
		}
		return context.Cause(ctx)
	}
	o := engine.SpeakOptions{Urgency: p.urgency, Speed: s.line.Speed, After: s.before, GoesOn: s.part.GoesOn, Temperature: t.temperature, Seed: seedOf(t.seed, s.index, 0), Locale: t.reading.Locale, Lexicon: t.reading.Lexicon}
	err = voice.Speak(ctx, s.text, o, func(sound engine.Sound) error {
		return give(resampler.Process(nil, sound.PCM), timestamps(sound, voice.RateHz(), types), sound.Last)
	})
	if err == nil && !ended { // nothing of it can be said
		err = give(nil, nil, true)
	}
	return err
}

// seedOf is the seed of a try at a snippet: from that of the generation, by the
// finalizer of SplitMix64, so that no two are alike.
func seedOf(seed int64, snippet, try int) int64 {
	x := uint64(seed) + uint64(snippet+1)*0x9e3779b97f4a7c15 + uint64(try)*0xd1b54a32d192ed03
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return int64(x ^ x>>31)
}

// timestamps are those that were asked for, in the order of their ends.
func timestamps(s engine.Sound, rateHz int, types []contract.TimestampType) []contract.Timestamp {
	var all []contract.Timestamp
	ms := func(samples int) int64 { return int64(samples) * 1000 / int64(rateHz) }
	for _, kind := range types {
		switch kind {
		case contract.TimestampWord:
			for _, w := range s.Words {
				all = append(all, contract.Timestamp{Text: w.Text, Time: contract.MillisecondInterval{Begin: ms(w.Begin), End: ms(w.End)}, Type: kind})
			}
		case contract.TimestampPhoneme:
			for _, p := range s.Phonemes {
				all = append(all, contract.Timestamp{Text: p.Symbol, Time: contract.MillisecondInterval{Begin: ms(p.Begin), End: ms(p.End)}, Type: kind})
			}
		}
	}
	return all
}

// converter brings speech to the rate of the wire. It keeps its filter, whose
// design takes a millisecond, for as long as the rate stays the same.
type converter struct {
	fromHz    int
	resampler *audio.Resampler
}

func (c *converter) from(hz int) (*audio.Resampler, error) {
	if c.resampler == nil || c.fromHz != hz {
		r, err := audio.NewResampler(hz, contract.OutputRateHz)
		if err != nil {
			return nil, err
		}
		c.fromHz, c.resampler = hz, r
	}
	return c.resampler, nil
}
