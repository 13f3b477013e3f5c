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

// snippet is a part of an utterance that is synthesised in one go.
type snippet struct {
	id             string
	utteranceIndex int
	index          int // within its generation
	text           string
	utterance      *utterance
	part           text.Segment
	previousText   string // the text before it, if the sentence continues from there
	pause          time.Duration
	last           bool // of its generation
}

// piece is a part of the sound of a snippet, at the output rate.
type piece struct {
	snippet *snippet
	pcm     []float32
	times   []contract.Timestamp // of words and phonemes that end in it; ms within the snippet, until shiftTimes
	last    bool                 // of the snippet
	heard   *string              // the ear's transcript of the whole snippet; nil: not transcribed
}

const (
	// betweenSentences is the silence between two snippets of an utterance, in addition to the
	// silence that the voice itself leaves. Together they are about as long as a reader's
	// breath, and as long as the pause between sentences that are synthesised in one go.
	betweenSentences = 180 * time.Millisecond
	// betweenParagraphs is the silence between two paragraphs: more than twice as much, as
	// readers do.
	betweenParagraphs = 450 * time.Millisecond
	// soundLead is how long before the listener runs out of sound the next piece is due.
	// Conversations use the same value.
	soundLead = 300 * time.Millisecond
	// soonestDue is the earliest time from now at which the next piece is due: as long as the
	// longest step of a slow voice. Otherwise a voice that is slower than its playback would
	// always be overdue, and would take precedence over every answer of a conversation.
	soonestDue = time.Second
)

// snippets returns the snippets of all utterances.
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
				previousText:   before,
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

// end sets the pause after a snippet; ends reports whether it is the last of its utterance.
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

// playback estimates when the listener of a stream runs out of sound, assuming that playback
// starts with the first sound. It sets the urgency of the synthesis accordingly.
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

// speak synthesises a generation and passes its sound to emit in pieces: as they are made, or
// with instant mode off, one checked snippet at a time. The last piece of each snippet has last
// set, and may have no sound.
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

// refused turns an engine's error about a text that it cannot say into an ErrInvalid that names
// the field.
func refused(err error, s *snippet) error {
	if cannot, ok := errors.AsType[engine.ErrCannotSay](err); ok {
		return contract.ErrInvalid{Field: textField(s.utteranceIndex), Why: cannot.Error()}
	}
	return err
}

// say synthesises one snippet and emits its sound while it is made. The next piece is made
// while the client is sent this one.
func (j *Job) say(ctx context.Context, gen *generation, s *snippet, p *playback, rate *audio.Converter,
	emit func(piece) error) error {
	hz := s.utterance.voice.Synthesizer.RateHz()
	resampler, err := rate.Between(hz, contract.OutputRateHz)
	if err != nil {
		return err
	}
	made := 0                      // samples of the snippet
	var times []contract.Timestamp // not emitted yet
	return pipeline(ctx, func(ctx context.Context, give func(engine.Sound) error) error {
		return gen.synthesize(ctx, s, p.urgency, gen.attempt(s), func(sound engine.Sound) error {
			p.add(len(sound.PCM), hz)
			return give(sound)
		})
	}, func(sound engine.Sound) error {
		pcm := resampler.Process(nil, sound.PCM)
		if sound.Last {
			pcm = append(resampler.Flush(pcm), silentPCM(s.pause)...)
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

// shiftTimes converts the times of the next piece from times within its snippet to times within
// the generation. They never exceed the sound so far, although a resampler rounds the length of
// a snippet, so that times never go backwards.
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

// milliseconds returns the duration of some samples at the output rate.
func milliseconds(samples int) int64 { return int64(samples) * 1000 / contract.OutputRateHz }

// endedBy splits times into those that end within the samples emitted so far and those whose
// end the resampler still holds. With the last piece, all times have ended.
func endedBy(times []contract.Timestamp, samples int, last bool) (ended, later []contract.Timestamp) {
	for _, timestamp := range times {
		if last || timestamp.Time.End <= milliseconds(samples) {
			ended = append(ended, timestamp)
		} else {
			later = append(later, timestamp)
		}
	}
	return ended, later
}

// synthesize has the voice say a snippet. It emits at least one piece, and the last piece has
// Last set.
func (gen *generation) synthesize(ctx context.Context, s *snippet, u *engine.Urgency, try int,
	emit func(engine.Sound) error) error {
	o := engine.SpeakOptions{
		Urgency:     u,
		Speed:       s.utterance.Speed,
		Previous:    s.previousText,
		Continues:   s.part.GoesOn,
		Temperature: gen.temperature,
		Seed:        gen.seedFor(s, try),
		// Streamed text may arrive only after everything before it was played.
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
	if err == nil && !ended { // nothing in the text is audible
		err = emit(engine.Sound{Last: true})
	}
	return err
}

// attempt returns which attempt at a snippet to make first. A stored generation may have used
// the second one.
func (gen *generation) attempt(s *snippet) int {
	if s.index < len(gen.attempts) {
		return gen.attempts[s.index]
	}
	return 0
}

func silentPCM(d time.Duration) []float32 {
	return make([]float32, audio.Samples(d, contract.OutputRateHz))
}

// seedFor returns the seed of an attempt at a snippet. At temperature 0 the seed depends only
// on the text, so that the same request always gives the same sound, including its second
// attempts.
func (gen *generation) seedFor(s *snippet, try int) int64 {
	seed := gen.seed
	if gen.temperature == 0 {
		said := fnv.New64a()
		said.Write([]byte(s.text))
		seed = int64(said.Sum64()) //nolint:gosec // all of its bits
	}
	return seedOf(seed, s.index, try)
}

// seedOf derives the seed of an attempt at a snippet from the generation's seed, with the
// finalizer of SplitMix64, so that no two seeds are alike.
func seedOf(seed int64, snippet, try int) int64 {
	x := uint64(seed) + uint64(snippet+1)*0x9e3779b97f4a7c15 + uint64(try)*0xd1b54a32d192ed03
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return int64(x ^ x>>31)
}

// timestamps returns the times of the requested types, in the order of their ends.
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
