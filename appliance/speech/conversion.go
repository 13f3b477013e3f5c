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
	// convertAtOnce is how many recordings are converted at once: each uses all the cores it
	// can, and holds up to 80 MB.
	convertAtOnce = 2
	// convertReservedSlots is how many further slots are reserved for accounts that currently
	// hold none: two long recordings take minutes.
	convertReservedSlots = 1
	// convertWaiting is how many conversions may wait for a slot, and convertPerAccount how many one
	// account may have.
	convertWaiting    = 16
	convertPerAccount = 8
)

// newConversionLimiter returns the limiter of voice conversions.
func newConversionLimiter() *limit.Limiter[string] {
	return limit.New[string](limit.Rule{
		MaxActive:      convertAtOnce,
		Reserved:       convertReservedSlots,
		MaxWaiting:     convertWaiting,
		MaxPerKeyTotal: convertPerAccount,
		MaxWait:        longestWait,
	})
}

// ConversionRequest is a request to have a recording spoken by another voice.
type ConversionRequest struct {
	Account, RequestID string
	contract.PostedConversion
	// Recording decodes the recording, mono at engine.SpeechRateHz. It is called once the
	// request is admitted. The client gets its error.
	Recording func() ([]float32, error)
}

// Convert waits until a request is admitted, transcribes its recording and finds its voice. The
// job then speaks the words of the recording: each phrase at its time in the recording, and as
// long as there. The errors are those of Begin; a recording without speech is a
// contract.ErrInvalid.
func (s *Service) Convert(ctx context.Context, a ConversionRequest) (*Job, error) {
	leave, err := enter(ctx, s.conversions, a.Account)
	if err != nil {
		return nil, err
	}
	j, err := s.convert(ctx, a)
	if err != nil {
		leave()
		return nil, err
	}
	j.release = leave
	return j, nil
}

func (s *Service) convert(ctx context.Context, a ConversionRequest) (*Job, error) {
	instant := true // no checks: the snippets are not transcribed again
	j := &Job{service: s, begun: time.Now(),
		request: Request{Account: a.Account, RequestID: a.RequestID, PostedTTS: contract.PostedTTS{
			Utterances:            []contract.PostedUtterance{{Voice: a.Voice, Speed: 1}},
			Context:               a.Context,
			Format:                a.Format,
			NumGenerations:        1,
			StripHeaders:          a.StripHeaders,
			IncludeTimestampTypes: a.IncludeTimestampTypes,
			InstantMode:           &instant,
		}}}
	gen := &generation{id: contract.NewID(), utterances: []utterance{{PostedUtterance: j.request.Utterances[0]}}}
	before, err := j.priorContext(ctx)
	if err != nil {
		return nil, err
	}
	gen.utterances[0].manner = before.manner
	if err := j.assignVoices(ctx, gen, 0, before.voice); err != nil { // before the long work
		if a.Voice != nil {
			err = withField(err, "voice")
		}
		return nil, err
	}
	pcm, err := a.Recording()
	if err != nil {
		return nil, err
	}
	ear := recognizer{s.Ear.Detector, s.Ear.Transcriber, engine.Request.Urgency()}
	phrases, err := ear.phrases(ctx, pcm)
	if err != nil {
		return nil, err
	}
	if len(phrases) == 0 {
		return nil, contract.ErrInvalid{Field: "audio",
			Why: "nobody speaks in its " + speechDuration(0, len(pcm)).Round(100*time.Millisecond).String() +
				"; expected a recording with words that can be understood"}
	}
	texts := make([]string, len(phrases))
	for i, p := range phrases {
		texts[i] = p.text
	}
	gen.utterances[0].Text = strings.Join(texts, " ")
	gen.script = &script{phrases: phrases, length: len(pcm), utterance: &gen.utterances[0]}
	if s.Pronunciation != nil {
		gen.pronunciation = s.Pronunciation(ctx, a.Account)
		gen.script.options.Locale, gen.script.options.Lexicon = gen.pronunciation.Locale, gen.pronunciation.Lexicon
	}
	j.generations = []*generation{gen}
	j.startStoring(ctx)
	return j, nil
}

// script is the phrases of a recording with their times, to be spoken by another voice.
type script struct {
	phrases   []phrase
	length    int // of the recording, in samples at engine.SpeechRateHz
	utterance *utterance
	options   engine.SpeakOptions
}

const (
	// onsetLead is how much sound before the voice of a phrase belongs to it: the rise of its
	// first consonant. voiceTail is how much sound after it does: the reverberation of the
	// voice.
	onsetLead = 20 * time.Millisecond
	voiceTail = 60 * time.Millisecond
	// leastGap is the least silence between two phrases when the voice cannot say the first in
	// its time. Less would join two words.
	leastGap = 60 * time.Millisecond
	// edgeFade smooths the step where a phrase is cut out of its silence.
	edgeFade = 5 * time.Millisecond
)

// speak synthesises the phrases, one snippet each. The silence before the first phrase and the
// silence after each belong to its snippet, so that all snippets together are as long as the
// recording.
func (sc *script) speak(
	ctx context.Context, p *playback, types []contract.TimestampType, emit func(piece) error,
) error {
	voice := sc.utterance.voice.Synthesizer
	f := &fitter{voice: voice, options: sc.options}
	f.options.Urgency = p.urgency
	lead := samplesOf(onsetLead, contract.OutputRateHz)
	at := 0 // the end of the emitted sound
	for i, ph := range sc.phrases {
		begin, end := wireSamples(ph.begin), wireSamples(sc.length)
		most := end - begin
		if i+1 < len(sc.phrases) {
			end = wireSamples(sc.phrases[i+1].begin) - lead
			most = end - begin - samplesOf(leastGap, contract.OutputRateHz)
		}
		want := toRate(wireSamples(ph.end)-begin, voice.RateHz())
		said, err := f.fit(ctx, withoutFullStops(ph.text), want, toRate(most, voice.RateHz()))
		if cannot, ok := errors.AsType[engine.ErrCannotSay](err); ok {
			return contract.ErrInvalid{Field: "audio",
				Why: fmt.Sprintf("its words %q: %v", contract.Clip(ph.text), cannot)}
		}
		if err != nil {
			return err
		}
		pcm, silence := sc.layOut(said, begin-at, end-at)
		s := &snippet{
			id:        contract.NewID(),
			index:     i,
			text:      ph.text,
			utterance: sc.utterance,
			last:      i == len(sc.phrases)-1,
		}
		at += len(pcm)
		p.add(len(pcm), contract.OutputRateHz)
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

// layOut places a phrase in its snippet, at the output rate: its voice begins at begin, and the
// snippet ends at end, or later if the voice does. It also returns by how many samples, at the
// voice's rate, the phrase was moved.
func (sc *script) layOut(said fitted, begin, end int) (pcm []float32, moved int) {
	rateHz := said.RateHz
	from := max(0, said.begin-samplesOf(onsetLead, rateHz))
	till := min(len(said.PCM), said.end+samplesOf(voiceTail, rateHz))
	cut := append([]float32{}, said.PCM[from:till]...)
	fadeEdges(cut, samplesOf(edgeFade, rateHz))
	voice := audio.Resample(cut, rateHz, contract.OutputRateHz)
	silence := max(0, begin-fromRate(said.begin-from, rateHz))
	pcm = append(make([]float32, silence, max(end, silence+len(voice))), voice...)
	if n := end - len(pcm); n > 0 {
		pcm = append(pcm, make([]float32, n)...)
	} else if spoken := silence + fromRate(said.end-from, rateHz); end > spoken { // only silence is cut
		pcm = pcm[:end]
		fadeEdges(pcm[silence:], samplesOf(edgeFade, contract.OutputRateHz))
	} else if pause := samplesOf(leastGap, contract.OutputRateHz); n < 0 {
		pcm = append(pcm, make([]float32, pause)...)
	}
	return pcm, toRate(silence, rateHz) - from
}

// moved returns the words and phonemes of a phrase, later by some samples.
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

// fadeEdges fades pcm in and out over n samples.
func fadeEdges(pcm []float32, n int) {
	n = min(n, len(pcm)/2)
	for i := range n {
		x := float32(i) / float32(n)
		pcm[i] *= x
		pcm[len(pcm)-1-i] *= x
	}
}

func samplesOf(d time.Duration, rateHz int) int { return audio.Samples(d, rateHz) }

// wireSamples converts a position in a recording to the output rate; toRate and fromRate
// convert lengths from the output rate to another, and back.
func wireSamples(n int) int      { return n * contract.OutputRateHz / engine.SpeechRateHz }
func toRate(n, rateHz int) int   { return n * rateHz / contract.OutputRateHz }
func fromRate(n, rateHz int) int { return n * contract.OutputRateHz / rateHz }
