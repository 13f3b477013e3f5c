package remote

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"
	"unicode"

	"parley/appliance/audio"
	"parley/appliance/engine"
)

// Voice is a voice on servers. It reports neither words nor phonemes, because the API has none. A
// sentence begins on another server if one fails before its first sound. If one fails within a
// sentence, the rest of the sentence is spoken by another server or by the embedded voice, from the
// word where the sound stopped, as far as its length tells.
type Voice struct {
	pool     *VoicePool
	names    []string // of the voice on each server; "" where it is not
	without  []bool   // the servers that do not have it
	language string
	embedded Embedded
	figures  *voiceFigures
}

var _ engine.Synthesizer = (*Voice)(nil)

// RateHz implements engine.Synthesizer.
func (v *Voice) RateHz() int { return VoiceRateHz }

// Language returns the language of the voice, or "".
func (v *Voice) Language() string { return v.language }

// maxResumed is how many servers are asked for the rest of one sentence.
const maxResumed = 2

// Speak implements engine.Synthesizer. A voice on a server has no random variation that could be set,
// and pronounces a text in its own way: the other options have no effect.
func (v *Voice) Speak(ctx context.Context, text string, o engine.SpeakOptions, emit func(engine.Sound) error) error {
	if !hasSpeech(text) {
		return nil
	}
	s := v.newSpeech(text, o, emit)
	rest := text
	for range 1 + maxResumed {
		r := request{without: v.without, prefer: -1, covered: v.embedded != nil}
		err := v.pool.run(ctx, r, func(ctx context.Context, i int, begun func() error) error {
			return s.speakOn(ctx, i, rest, v.embedded != nil || v.others(i), begun)
		})
		if err == nil {
			return s.end()
		}
		if _, failed := errors.AsType[*Error](err); !failed || s.sent == 0 && v.embedded == nil {
			return err
		}
		if s.sent == 0 {
			break
		}
		if err := s.cutOff(); err != nil {
			return err
		}
		if rest = s.rest(text); rest == "" {
			return s.end()
		}
	}
	if v.embedded == nil {
		return s.end() // the rest of the sentence is lost, the next one may not be
	}
	return s.speakEmbedded(ctx, text[:len(text)-len(rest)], rest)
}

// others reports whether another server than i has the voice and is up.
func (v *Voice) others(i int) bool {
	now := time.Now()
	for j, m := range v.pool.members {
		if j != i && !v.without[j] && m.load(now).away == 0 {
			return true
		}
	}
	return false
}

func hasSpeech(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

const (
	// firstPiece is the length of the first sound that is passed on. Other boxes begin with a quarter of a
	// second, of which resampling and the limiter hold back some milliseconds until more comes.
	firstPiece = VoiceRateHz / 5
	// laterPiece is the length of the following ones: each costs the chat a message.
	laterPiece = VoiceRateHz / 2
	// starved is how long a listener may wait for more of a sentence before somebody else says the rest.
	// It is a pause that a speaker might make.
	starved = 1500 * time.Millisecond
)

// speech is a text that is being spoken.
type speech struct {
	voice   *Voice
	options engine.SpeakOptions
	emit    func(engine.Sound) error
	limiter *audio.Limiter
	gain    float32

	waiting []float32 // sound that was not emitted yet
	sent    int       // samples that were emitted
	total   int       // an estimate of the length of the whole
	whole   []float32 // all sound of one server, before the gain
	ended   bool
}

func (v *Voice) newSpeech(text string, o engine.SpeakOptions, emit func(engine.Sound) error) *speech {
	perLetter, gain := v.figures.get()
	return &speech{
		voice:   v,
		options: o,
		emit:    emit,
		gain:    gain,
		total:   int(perLetter * float64(letters(text)) / speedOf(o)),
	}
}

// speedOf returns the speed relative to the voice's own.
func speedOf(o engine.SpeakOptions) float64 {
	speed := 1.0
	for _, s := range []float64{o.Speed, o.ModelSpeed} {
		if s > 0 {
			speed *= s
		}
	}
	return speed
}

// errSilent reports a server that sends no sound for text.
var errSilent = errors.New("it sent no sound")

// speakOn has a server speak text. replaceable says that something else can say the rest, so that a
// server that is slower than the playback is given up.
func (s *speech) speakOn(ctx context.Context, i int, text string, replaceable bool, begun func() error) error {
	p := s.voice.pool
	server := p.members[i].server
	watched, watch := newTimeouts(ctx, server.limits, time.Now())
	defer watch.stop()
	s.whole, s.waiting, s.limiter = s.whole[:0], nil, audio.NewLimiter(VoiceRateHz, peakLimit)
	fault := func(err error) error {
		if other, is := errors.AsType[errNotSound](err); is {
			return server.notSound(other.kind)
		}
		failed := server.fault(watched, ctx, err, len(s.whole) > 0)
		if e, is := errors.AsType[*Error](failed); is && errors.Is(err, errSilent) {
			e.Why = errSilent.Error()
		}
		return failed
	}
	response, err := p.ask(watched, i, s.voice.names[i], text, speedOf(s.options))
	if err != nil {
		return fault(err)
	}
	defer response.Body.Close()
	in, err := newSoundReader(response, p.rateHz(i))
	if err != nil {
		return fault(err)
	}
	defer in.close()
	pacer := pacer{watch: watch, replaceable: replaceable}
	for {
		pcm, err := in.next()
		s.whole = append(s.whole, pcm...)
		s.add(pcm)
		if err == nil || errors.Is(err, io.EOF) {
			if failed := s.pass(&pacer, begun, errors.Is(err, io.EOF)); failed != nil {
				return failed
			}
		}
		switch {
		case errors.Is(err, io.EOF) && len(s.whole) == 0:
			return fault(errSilent)
		case errors.Is(err, io.EOF):
			s.voice.figures.learn(s.whole, letters(text), speedOf(s.options))
			return nil
		case err != nil:
			return fault(err)
		}
		pacer.received(len(pcm))
	}
}

// add takes sound, at the loudness that all voices share.
func (s *speech) add(pcm []float32) {
	louder := make([]float32, len(pcm))
	for i, x := range pcm {
		louder[i] = x * s.gain
	}
	s.waiting = s.limiter.Process(s.waiting, louder, false)
}

// pass emits the sound that is enough for a piece. At the end of a server's sound, the rest waits for
// what follows, or for end.
func (s *speech) pass(pacer *pacer, begun func() error, end bool) error {
	enough := laterPiece
	if s.sent == 0 {
		enough = firstPiece
	}
	if end && len(s.whole) > 0 {
		return begun()
	}
	if len(s.waiting) < enough {
		return nil
	}
	if err := begun(); err != nil {
		return err
	}
	pacer.watch.pause()
	defer pacer.resume()
	return s.send(false)
}

// send emits what waits.
func (s *speech) send(last bool) error {
	piece := s.waiting
	s.waiting = nil
	s.sent += len(piece)
	s.total = max(s.total, s.sent)
	if last {
		s.total, s.ended = s.sent, true
	}
	return s.emit(engine.Sound{PCM: piece, TotalSamples: s.total, Last: last})
}

// end emits the last sound.
func (s *speech) end() error {
	if s.ended {
		return nil
	}
	s.waiting = s.limiter.Process(s.waiting, nil, true)
	return s.send(true)
}

// fade is the length of the end of sound that was cut off, which would click otherwise: 5 ms.
const fade = VoiceRateHz / 200

// cutOff emits what came before a server failed.
func (s *speech) cutOff() error {
	s.waiting = s.limiter.Process(s.waiting, nil, true)
	if len(s.waiting) == 0 {
		return nil
	}
	for i := range min(fade, len(s.waiting)) {
		s.waiting[len(s.waiting)-1-i] *= float32(i) / fade
	}
	return s.send(false)
}

// speakEmbedded has the embedded voice speak the rest of the text, after what was said.
func (s *speech) speakEmbedded(ctx context.Context, said, rest string) error {
	voice, err := s.voice.embedded(ctx)
	if err != nil {
		return err
	}
	var rate audio.Converter
	resampler, err := rate.Between(voice.RateHz(), VoiceRateHz)
	if err != nil {
		return err
	}
	before := s.sent
	at := func(sample int) int { return before + int(int64(sample)*VoiceRateHz/int64(voice.RateHz())) }
	o := s.options
	o.Previous += said
	err = voice.Speak(ctx, rest, o, func(in engine.Sound) error {
		out := engine.Sound{TotalSamples: at(in.TotalSamples), Last: in.Last}
		out.PCM = resampler.Process(nil, in.PCM)
		if in.Last {
			out.PCM = resampler.Flush(out.PCM)
		}
		for _, w := range in.Words {
			w.From, w.To, w.Begin, w.End = w.From+len(said), w.To+len(said), at(w.Begin), at(w.End)
			out.Words = append(out.Words, w)
		}
		for _, ph := range in.Phonemes {
			ph.Begin, ph.End = at(ph.Begin), at(ph.End)
			out.Phonemes = append(out.Phonemes, ph)
		}
		s.sent += len(out.PCM)
		if s.ended = in.Last; s.ended {
			out.TotalSamples = s.sent
		}
		return s.emit(out)
	})
	if err == nil && before > 0 && !s.ended { // there was nothing to speak
		s.waiting = nil
		return s.send(true)
	}
	return err
}

// pacer gives up a server whose listener runs dry.
type pacer struct {
	watch       *timeouts
	replaceable bool
	begun       time.Time // when the first sound came
	got         time.Duration
}

// received notes sound, and sets how long the next may take.
func (p *pacer) received(samples int) {
	if samples == 0 {
		return
	}
	if p.begun.IsZero() {
		p.begun = time.Now()
	}
	p.got += time.Duration(samples) * time.Second / VoiceRateHz
	p.resume()
}

func (p *pacer) resume() {
	wait := p.watch.idle
	if p.replaceable && !p.begun.IsZero() {
		wait = min(wait, time.Until(p.begun.Add(p.got+starved)))
	}
	p.watch.nextWithin(wait)
}
