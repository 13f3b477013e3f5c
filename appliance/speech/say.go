package speech

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"slices"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/text"
)

// snippet is a part of an utterance that is spoken in one go.
type snippet struct {
	id             string
	utteranceIndex int
	index          int // among all of its generation
	text           string
	utterance      *utterance
	part           text.Stretch
	before         string // what was said before it, where it goes on with that
	pause          time.Duration
	last           bool // of its generation
}

// piece is sound of a snippet as it is made, at the rate of the wire.
type piece struct {
	snippet *snippet
	pcm     []float32
	times   []contract.Timestamp // of what ends in it, in ms of the snippet until placed
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
	// soundLead is how long before its listener runs dry the next of the sound is
	// due, as in conversations.
	soundLead = 300 * time.Millisecond
	// soonestDue is when the next of the sound is due at the soonest: as long as the
	// longest piece of work of a slow voice takes. One that cannot keep up with its
	// recognizer would otherwise be overdue for good, and go before every answer of a
	// conversation.
	soonestDue = time.Second
)

// snippets are all of a take.
func (gen *generation) snippets() []*snippet {
	var all []*snippet
	before := gen.previousText
	for u := range gen.utterances {
		l := &gen.utterances[u]
		for i, p := range l.parts {
			s := &snippet{
				id:             contract.NewID(),
				utteranceIndex: u,
				index:          len(all),
				text:           l.Text[p.From:p.To],
				utterance:      l,
				part:           p,
				before:         before,
			}
			ends := i == len(l.parts)-1
			s.last = ends && u == len(gen.utterances)-1
			s.end(ends)
			if before = ""; s.part.GoesOn {
				before = s.text
			}
			all = append(all, s)
		}
	}
	return all
}

// reset decides how a snippet ends, which may be the last of its utterance.
func (s *snippet) end(ends bool) {
	if known := s.utterance.ends; known != nil {
		s.part.GoesOn, s.pause = known.GoesOn, known.Pause
		return
	}
	switch {
	case s.last:
		s.pause = s.utterance.silence()
	case ends:
		s.pause = s.utterance.silence() + betweenSentences
	case s.part.Paragraph:
		s.pause = betweenParagraphs
	case !s.part.GoesOn:
		s.pause = betweenSentences
	}
}

// playback says when the sound of a stream is due: when its listener runs dry, who
// listens from its first sound on.
type playback struct {
	urgency *engine.Urgency
	begun   time.Time
	made    time.Duration
}

func newPlayback() *playback { return &playback{urgency: engine.Request.Urgency()} }

func (p *playback) add(samples, rateHz int) {
	if p.begun.IsZero() {
		p.begun = time.Now()
	}
	p.made += time.Duration(samples) * time.Second / time.Duration(rateHz)
	due := p.begun.Add(p.made - soundLead)
	if soonest := time.Now().Add(soonestDue); due.Before(soonest) {
		due = soonest
	}
	p.urgency.Set(engine.Request, due)
}

// speak says a take, and gives emit its sound in pieces: as they are made or,
// where instant mode is off, snippet by snippet when each was found to be good. Each
// snippet ends with a piece that says so, which may be without sound.
func (j *Job) speak(ctx context.Context, gen *generation, p *playback, emit func(piece) error) error {
	deliver := func(s piece) error {
		if err := j.awaitStored(ctx); err != nil {
			return err
		}
		j.countSound(len(s.pcm))
		gen.shiftTimes(s)
		return emit(s)
	}
	if gen.script != nil {
		return gen.script.speak(ctx, p, j.request.IncludeTimestampTypes, deliver)
	}
	var rate audio.Converter
	for _, s := range gen.snippets() {
		say := j.say
		if !j.instant() {
			say = j.sayChecked
		}
		if err := say(ctx, gen, s, p, &rate, deliver); err != nil {
			return refused(err, s)
		}
	}
	return nil
}

// refused names the text that a voice cannot say.
func refused(err error, s *snippet) error {
	if cannot, ok := errors.AsType[engine.ErrCannotSay](err); ok {
		return contract.ErrInvalid{Field: textField(s.utteranceIndex), Why: cannot.Error()}
	}
	return err
}

// say says one snippet as its sound is made. While a piece of it is on its way to the
// client the next is made.
func (j *Job) say(ctx context.Context, gen *generation, s *snippet, p *playback, rate *audio.Converter,
	emit func(piece) error) error {
	hz := s.utterance.voice.Synthesizer.RateHz()
	resampler, err := rate.Between(hz, contract.OutputRateHz)
	if err != nil {
		return err
	}
	made := 0                      // samples of the snippet
	var times []contract.Timestamp // not told yet
	return pipeline(ctx, func(ctx context.Context, give func(engine.Sound) error) error {
		return gen.synthesize(ctx, s, p.urgency, gen.attempt(s), func(sound engine.Sound) error {
			p.add(len(sound.PCM), hz)
			return give(sound)
		})
	}, func(sound engine.Sound) error {
		pcm := resampler.Process(nil, sound.PCM)
		if sound.Last {
			pcm = append(resampler.Flush(pcm), silent(s.pause)...)
		}
		made += len(pcm)
		var ended []contract.Timestamp
		times = append(times, timestamps(sound, hz, j.request.IncludeTimestampTypes)...)
		ended, times = endedBy(times, made, sound.Last)
		return emit(piece{
			snippet: s,
			pcm:     pcm,
			times:   ended,
			last:    sound.Last,
		})
	})
}

// layOut turns the times of the next piece of a take from those of its snippet into
// those of the generation, which never go back: none is beyond the sound so far, though
// a resampler rounds the length of a snippet.
func (gen *generation) shiftTimes(p piece) {
	gen.made += len(p.pcm)
	begun, most := milliseconds(gen.begun), milliseconds(gen.made)
	for i := range p.times {
		at := &p.times[i].Time
		at.Begin, at.End = min(begun+at.Begin, most), min(begun+at.End, most)
	}
	slices.SortStableFunc(p.times, byBegin)
	if p.last {
		gen.begun = gen.made
	}
}

func byBegin(a, b contract.Timestamp) int { return cmp.Compare(a.Time.Begin, b.Time.Begin) }

// milliseconds are those of so many samples at the rate of the wire.
func milliseconds(samples int) int64 { return int64(samples) * 1000 / contract.OutputRateHz }

// endedBy parts the times of what has been sent with so many samples from those
// whose end the resampler still holds back; with the last of them all have been.
func endedBy(times []contract.Timestamp, samples int, last bool) (ended, later []contract.Timestamp) {
	for _, one := range times {
		if last || one.Time.End <= milliseconds(samples) {
			ended = append(ended, one)
		} else {
			later = append(later, one)
		}
	}
	return ended, later
}

// synthesize has the voice say a snippet: one piece at least, and the last says so.
func (gen *generation) synthesize(ctx context.Context, s *snippet, u *engine.Urgency, try int,
	emit func(engine.Sound) error) error {
	o := engine.SpeakOptions{
		Urgency:     u,
		Speed:       s.utterance.Speed,
		Previous:    s.before,
		Continues:   s.part.GoesOn,
		Temperature: gen.temperature,
		Seed:        gen.seedFor(s, try),
		// Text that comes bit by bit may come when all before it has been heard.
		LongPieces: s.index > 0 && s.utterance.ends == nil,
		Locale:     gen.pronunciation.Locale,
		Lexicon:    gen.pronunciation.Lexicon,
	}
	if try > 0 {
		o.Temperature = max(o.Temperature, variedTemperature)
	}
	ended := false
	err := s.utterance.voice.Synthesizer.Speak(ctx, s.text, o, func(sound engine.Sound) error {
		ended = sound.Last
		if err := emit(sound); err != nil {
			return err
		}
		return context.Cause(ctx)
	})
	if err == nil && !ended { // nothing of it can be heard
		err = emit(engine.Sound{Last: true})
	}
	return err
}

// attempt is which try at a snippet is made first: one that was made before may have
// been a second one.
func (gen *generation) attempt(s *snippet) int {
	if s.index < len(gen.attempts) {
		return gen.attempts[s.index]
	}
	return 0
}

func silent(d time.Duration) []float32 {
	return make([]float32, audio.Samples(d, contract.OutputRateHz))
}

// seedFor is the seed of a try at a snippet. A generation that leaves nothing to
// variedTemperature is the same for the same request, and so are its second tries: their seed
// comes from what is said.
func (gen *generation) seedFor(s *snippet, try int) int64 {
	seed := gen.seed
	if gen.temperature == 0 {
		said := fnv.New64a()
		said.Write([]byte(s.text))
		seed = int64(said.Sum64()) //nolint:gosec // all of its bits
	}
	return seedOf(seed, s.index, try)
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
				all = append(all, contract.Timestamp{Text: w.Text,
					Time: contract.MillisecondInterval{Begin: ms(w.Begin), End: ms(w.End)}, Type: kind})
			}
		case contract.TimestampPhoneme:
			for _, p := range s.Phonemes {
				all = append(all, contract.Timestamp{Text: p.Symbol,
					Time: contract.MillisecondInterval{Begin: ms(p.Begin), End: ms(p.End)}, Type: kind})
			}
		}
	}
	return all
}
