package speech

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/internal/limit"
)

const (
	// convertAtOnce is how many recordings are converted at once: each takes as
	// much of the cores as there is, and holds up to 80 MB.
	convertAtOnce = 2
	// convertKeptFree is for how many accounts besides there is room that have none
	// of those: two long recordings take minutes.
	convertKeptFree = 1
	// convertWaiting is how many wait for their turn, and convertOfOne how many one
	// account may have.
	convertWaiting = 16
	convertOfOne   = 8
)

// newConversions returns what lets conversions in.
func newConversions() *limit.Limiter[string] {
	return limit.New[string](limit.Rule{
		MaxActive:      convertAtOnce,
		Reserved:       convertKeptFree,
		MaxWaiting:     convertWaiting,
		MaxPerKeyTotal: convertOfOne,
		MaxWait:        longestWait,
	})
}

// AskedConversion asks for a recording to be said by another voice.
type AskedConversion struct {
	Account, RequestID string
	contract.PostedConversion
	// Recording decodes the recording, mono at engine.SpeechRateHz. It is called
	// when it is the request's turn. Its error is told to the client.
	Recording func() ([]float32, error)
}

// Convert waits for the turn of a request, hears its recording and finds its
// voice. What the job then says are the words of the recording, each phrase when
// it was said there and as long as it took there. The errors are those of Begin; a
// recording in which nobody speaks is a contract.ErrInvalid.
func (s *Service) Convert(ctx context.Context, a AskedConversion) (*Job, error) {
	leave, err := turn(ctx, s.conversions, a.Account)
	if err != nil {
		return nil, err
	}
	j, err := s.convert(ctx, a)
	if err != nil {
		leave()
		return nil, err
	}
	j.leave = leave
	return j, nil
}

func (s *Service) convert(ctx context.Context, a AskedConversion) (*Job, error) {
	instant := true // its snippets are not heard once more
	j := &Job{service: s, begun: time.Now(),
		asked: Asked{Account: a.Account, RequestID: a.RequestID, PostedTTS: contract.PostedTTS{
			Utterances:            []contract.PostedUtterance{{Voice: a.Voice, Speed: 1}},
			Context:               a.Context,
			Format:                a.Format,
			NumGenerations:        1,
			StripHeaders:          a.StripHeaders,
			IncludeTimestampTypes: a.IncludeTimestampTypes,
			InstantMode:           &instant,
		}}}
	t := &take{id: contract.NewID(), lines: []line{{PostedUtterance: j.asked.Utterances[0]}}}
	before, err := j.earlier(ctx)
	if err != nil {
		return nil, err
	}
	t.lines[0].manner = before.manner
	if err := j.cast(ctx, t, 0, before.voice); err != nil { // before the long work
		if a.Voice != nil {
			err = named(err, "voice")
		}
		return nil, err
	}
	pcm, err := a.Recording()
	if err != nil {
		return nil, err
	}
	ear := listener{s.Ear.Detector, s.Ear.Transcriber, engine.Request.Urgency()}
	phrases, err := ear.phrases(ctx, pcm)
	if err != nil {
		return nil, err
	}
	if len(phrases) == 0 {
		return nil, contract.ErrInvalid{Field: "audio",
			Why: "nobody speaks in its " + between(0, len(pcm)).Round(100*time.Millisecond).String() +
				"; expected a recording with words that can be understood"}
	}
	texts := make([]string, len(phrases))
	for i, p := range phrases {
		texts[i] = p.text
	}
	t.lines[0].Text = strings.Join(texts, " ")
	t.recital = &recital{phrases: phrases, length: len(pcm), line: &t.lines[0]}
	if s.Reading != nil {
		t.reading = s.Reading(ctx, a.Account)
		t.recital.manner.Locale, t.recital.manner.Lexicon = t.reading.Locale, t.reading.Lexicon
	}
	j.takes = []*take{t}
	j.keep(ctx)
	return j, nil
}

// recital is what somebody else has said, in that time.
type recital struct {
	phrases []phrase
	length  int // of the recording, in samples at engine.SpeechRateHz
	line    *line
	manner  engine.SpeakOptions
}

const (
	// onsetLead is how much of the sound before a phrase's voice belongs to it: the
	// rise of its first consonant; voiceTail what of the sound behind: the room that
	// the voice has.
	onsetLead = 20 * time.Millisecond
	voiceTail = 60 * time.Millisecond
	// leastGap is the least silence between two phrases, where the voice cannot say
	// the first in its time: less would make one word of two.
	leastGap = 60 * time.Millisecond
	// edgeFade takes the step off where a phrase is cut out of its silence.
	edgeFade = 5 * time.Millisecond
)

// speak says the phrases, a snippet each: the silence before the first, and that
// behind each, belong to it, so that the snippets together are as long as the
// recording.
func (r *recital) speak(ctx context.Context, p *pacing, types []contract.TimestampType, emit func(piece) error) error {
	voice := r.line.voice.Speaks
	f := &fitter{voice: voice, manner: r.manner}
	f.manner.Urgency = p.urgency
	lead := samplesOf(onsetLead, contract.OutputRateHz)
	at := 0 // the end of what was given
	for i, ph := range r.phrases {
		begin, end := out(ph.begin), out(r.length)
		room := end - begin
		if i+1 < len(r.phrases) {
			end = out(r.phrases[i+1].begin) - lead
			room = end - begin - samplesOf(leastGap, contract.OutputRateHz)
		}
		said, err := f.say(ctx, flowing(ph.text), to(out(ph.end)-begin, voice.RateHz()), to(room, voice.RateHz()))
		if cannot, ok := errors.AsType[engine.ErrCannotSay](err); ok {
			return contract.ErrInvalid{Field: "audio",
				Why: fmt.Sprintf("its words %q: %v", contract.Clip(ph.text), cannot)}
		}
		if err != nil {
			return err
		}
		pcm, silence := r.place(said, begin-at, end-at)
		s := &snippet{
			id:    contract.NewID(),
			index: i,
			text:  ph.text,
			line:  r.line,
			last:  i == len(r.phrases)-1,
		}
		at += len(pcm)
		p.sounded(len(pcm), contract.OutputRateHz)
		times := timestamps(said.moved(silence), voice.RateHz(), types)
		if err := emit(piece{
			snippet: s,
			pcm:     pcm,
			times:   times,
			last:    true,
			heard:   &ph.text,
		}); err != nil {
			return err
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
	}
	return nil
}

// place puts a phrase at the rate of the wire into its snippet, so that its voice
// begins at begin and the snippet ends at end, or later where the voice does. It
// says how many samples at the voice's rate the phrase's own are moved by.
func (r *recital) place(said fitted, begin, end int) (pcm []float32, moved int) {
	rateHz := said.RateHz
	from := max(0, said.begin-samplesOf(onsetLead, rateHz))
	till := min(len(said.PCM), said.end+samplesOf(voiceTail, rateHz))
	cut := append([]float32{}, said.PCM[from:till]...)
	faded(cut, samplesOf(edgeFade, rateHz))
	voice := audio.Resample(cut, rateHz, contract.OutputRateHz)
	silence := max(0, begin-fromRate(said.begin-from, rateHz))
	pcm = append(make([]float32, silence, max(end, silence+len(voice))), voice...)
	if n := end - len(pcm); n > 0 {
		pcm = append(pcm, make([]float32, n)...)
	} else if spoken := silence + fromRate(said.end-from, rateHz); end > spoken { // what is too much is no voice
		pcm = pcm[:end]
		faded(pcm[silence:], samplesOf(edgeFade, contract.OutputRateHz))
	} else if pause := samplesOf(leastGap, contract.OutputRateHz); n < 0 {
		pcm = append(pcm, make([]float32, pause)...)
	}
	return pcm, to(silence, rateHz) - from
}

// moved are the words and phonemes of a phrase, later by so many samples.
func (f fitted) moved(by int) engine.Sound {
	var s engine.Sound
	for _, w := range f.Words {
		w.Begin, w.End = max(0, w.Begin+by), max(0, w.End+by)
		s.Words = append(s.Words, w)
	}
	for _, p := range f.Phonemes {
		p.Begin, p.End = max(0, p.Begin+by), max(0, p.End+by)
		s.Phonemes = append(s.Phonemes, p)
	}
	return s
}

// faded lets pcm rise and fall over n samples at its ends.
func faded(pcm []float32, n int) {
	n = min(n, len(pcm)/2)
	for i := range n {
		x := float32(i) / float32(n)
		pcm[i] *= x
		pcm[len(pcm)-1-i] *= x
	}
}

func samplesOf(d time.Duration, rateHz int) int { return audio.Samples(d, rateHz) }

// out brings a place in a recording to the rate of the wire; to and fromRate bring
// lengths from there to another rate, and back.
func out(n int) int              { return n * contract.OutputRateHz / engine.SpeechRateHz }
func to(n, rateHz int) int       { return n * rateHz / contract.OutputRateHz }
func fromRate(n, rateHz int) int { return n * contract.OutputRateHz / rateHz }
