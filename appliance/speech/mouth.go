package speech

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/text"
)

// mouth synthesises the orders of one socket. One goroutine uses it.
type mouth struct {
	job     *Job // treats the socket as one request
	connect contract.TTSConnect
	out     Out

	generation   *generation // nil: no generation is in progress
	encoder      encoder
	playback     *playback
	rate         audio.Converter
	index        int         // of the next snippet of the generation
	chunk        int         // of the next chunk of the snippet
	last         *snippet    // the newest
	unspeakable  string      // the first text without anything to say
	source       voiceSource // of the voice
	designed     bool        // the voice was designed for this socket
	previous     utterance   // the utterance of the newest snippet
	previousText string      // the text before the next snippet, if the sentence continues from there
}

func newMouth(s *Service, account, requestID string, c contract.TTSConnect, out Out) mouth {
	asked := Request{Account: account, RequestID: requestID, PostedTTS: contract.PostedTTS{
		Format:                &contract.Format{Type: c.Format},
		IncludeTimestampTypes: c.IncludeTimestampTypes,
		StripHeaders:          c.StripHeaders,
		Version:               c.Version,
		NumGenerations:        1,
	}}
	if c.ContextGenerationID != "" {
		asked.Context = &contract.PostedTTSContext{GenerationID: c.ContextGenerationID}
	}
	return mouth{job: &Job{service: s, request: asked, release: func() {}}, connect: c, out: out}
}

// run carries out the orders of the socket one after the other, until the last order or the end
// of the socket.
func (in *Input) run() {
	defer close(in.done)
	defer in.mouth.release()
	defer func() {
		if p := recover(); p != nil {
			in.service.Log.Error("text-to-speech socket panicked", "panic", fmt.Sprint(p), "stack",
				string(debug.Stack()))
			_ = in.out.Fault(in.ctx, contract.Fault{Code: contract.Internal})
		}
		in.cancel(errSocketClosed) // first: Receive may be waiting for capacity while it holds the lock
		in.mu.Lock()
		in.timer.Stop()
		in.mu.Unlock()
	}()
	for {
		o, err := in.next()
		if err != nil {
			in.out.Close(contract.CloseGoingAway, "the box stops")
			return
		}
		if err := in.mouth.carryOut(in.ctx, o); err != nil {
			if in.ctx.Err() == nil {
				in.out.Close(contract.CloseInternal, contract.Internal.Slug())
			}
			return
		}
		if in.orders.Len() == 0 {
			in.mouth.release()
		}
		if o.close {
			in.out.Close(contract.CloseNormal, "")
			return
		}
	}
}

// carryOut synthesises an order. An error about the text is sent to the client and leaves the
// socket open; the error that carryOut returns ends it.
func (m *mouth) carryOut(ctx context.Context, o order) error {
	err := m.speak(ctx, o)
	if err == nil || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m.reset() // the next text starts a new generation
	return m.out.Fault(ctx, m.fault(err))
}

// fault converts an error to the fault that the client is sent.
func (m *mouth) fault(err error) contract.Fault {
	if missing, ok := errors.AsType[contract.ErrNotFound](err); ok {
		f := contract.Fault{Code: contract.SpeechRefused, Detail: missing.Error() + "."}
		if missing.What == "voice" {
			f.Code = contract.VoiceNotFound
		}
		return f
	}
	if wrong, ok := errors.AsType[contract.ErrInvalid](err); ok {
		return contract.Fault{Code: contract.SpeechRefused, Detail: wrong.Field + ": " + wrong.Why + "."}
	}
	if busy, ok := errors.AsType[contract.ErrTooMany](err); ok {
		return contract.Fault{Code: contract.SpeechBusy, Detail: busy.Error() + "."}
	}
	if missing, ok := errors.AsType[contract.ErrUnavailable](err); ok {
		return contract.Fault{Code: contract.NotSpoken, Detail: missing.Why + "."}
	}
	m.job.service.Log.Error("text-to-speech over a socket failed", "request", m.job.request.RequestID, "err", err)
	return contract.Fault{Code: contract.NotSpoken, Cause: err}
}

// release gives the socket's slot to other requests while there is nothing to synthesise.
func (m *mouth) release() {
	m.job.release()
	m.job.release = func() {}
	m.playback = nil
}

// begin acquires a slot, and starts a generation if none is in progress.
func (m *mouth) begin(ctx context.Context) error {
	if m.playback == nil {
		leave, err := enter(ctx, m.job.service.requests, m.job.request.Account)
		if err != nil {
			return err
		}
		m.job.release, m.playback = leave, newPlayback()
	}
	if m.generation != nil {
		return nil
	}
	files, err := newEncoder(m.connect.Format, m.connect.StripHeaders)
	if err != nil {
		return err
	}
	before, err := m.job.priorContext(ctx)
	if err != nil {
		return withField(err, "context_generation_id")
	}
	m.job.request.Context = nil                                  // the next generation continues this one
	gen := &generation{id: contract.NewID(), seed: rand.Int64()} //nolint:gosec // no secret
	if m.previousText = before.text; m.source.empty() {
		m.source = before.voice
	}
	if m.job.service.Pronunciation != nil {
		gen.pronunciation = m.job.service.Pronunciation(ctx, m.job.request.Account)
	}
	gen.previousText = m.previousText
	if m.connect.Temperature != nil {
		gen.temperature = *m.connect.Temperature
	}
	m.generation, m.encoder, m.index, m.previous = gen, files, 0, utterance{manner: before.manner}
	return nil
}

// speak synthesises one snippet, and ends the generation after its last snippet.
func (m *mouth) speak(ctx context.Context, o order) error {
	if o.text == "" || !m.sayable(ctx, o.text) {
		return m.skip(ctx, o)
	}
	if err := m.begin(ctx); err != nil {
		return err
	}
	l, err := m.utteranceFor(ctx, o)
	if err != nil {
		return err
	}
	s := &snippet{
		id:             contract.NewID(),
		utteranceIndex: o.utteranceIndex,
		index:          m.index,
		text:           o.text,
		utterance:      l,
		part:           o.part,
		previousText:   m.previousText,
		last:           o.flushed,
	}
	if m.previousText = ""; o.part.GoesOn && !o.flushed {
		m.previousText = o.text
	}
	switch s.pause = l.silence(); {
	case o.flushed || o.part.GoesOn:
	case o.part.Paragraph:
		s.pause += betweenParagraphs
	default:
		s.pause += betweenSentences
	}
	l.ends = &ending{o.part.GoesOn, s.pause}
	m.generation.utterances = append(m.generation.utterances, *l)
	if err := m.store(ctx); err != nil {
		return err
	}
	m.index, m.chunk, m.last = m.index+1, 0, s
	say := m.job.say
	if !m.instant() {
		say = m.job.sayChecked
	}
	err = say(ctx, m.generation, s, m.playback, &m.rate, func(p piece) error { return m.deliver(ctx, p) })
	if err != nil {
		if wrong, ok := errors.AsType[contract.ErrInvalid](refused(err, s)); ok {
			return contract.ErrInvalid{Field: "text", Why: wrong.Why}
		}
		return err
	}
	if o.flushed {
		m.reset()
	}
	return nil
}

// instant reports whether sound is sent while it is made. Unless the client sets it, this is so
// with a voice that the client or the context names.
func (m *mouth) instant() bool {
	if asked := m.connect.InstantMode; asked != nil {
		return *asked
	}
	return !m.designed && !m.source.empty()
}

// sayable reports whether a snippet has anything to say: "..." has not.
func (m *mouth) sayable(ctx context.Context, s string) bool {
	switch {
	case m.generation != nil:
		return text.Speakable(s, m.generation.pronunciation)
	case m.job.service.Pronunciation != nil:
		return text.Speakable(s, m.job.service.Pronunciation(ctx, m.job.request.Account))
	}
	return text.Speakable(s, text.Options{})
}

// skip handles an order without anything to say. If the order ends a generation and none of its
// text had anything to say, the client gets an error, since it would wait for sound otherwise;
// within a generation the text is skipped.
func (m *mouth) skip(ctx context.Context, o order) error {
	m.unspeakable = cmp.Or(m.unspeakable, o.text)
	switch {
	case !o.flushed:
		return nil
	case m.last == nil && m.unspeakable != "":
		defer m.reset()
		return contract.ErrInvalid{Field: "text",
			Why: fmt.Sprintf("%q has nothing that can be said; expected words or numbers",
				contract.Clip(m.unspeakable))}
	}
	return m.finish(ctx, o)
}

// utteranceFor returns the utterance of a snippet: with the voice that it names, or the
// previous one, or one designed from its description.
func (m *mouth) utteranceFor(ctx context.Context, o order) (*utterance, error) {
	l := &utterance{PostedUtterance: contract.PostedUtterance{
		Text:            o.text,
		Speed:           o.settings.speed,
		TrailingSilence: o.silence,
		Voice:           o.settings.voice,
	}, manner: o.settings.description, unsplit: true}
	if m.index == 0 {
		l.manner = cmp.Or(l.manner, m.previous.manner)
	}
	if o.settings.voice != nil && (m.source.ref == nil || *m.source.ref != *o.settings.voice) {
		m.source, m.designed = voiceSource{ref: o.settings.voice}, false
	}
	if l.manner == m.previous.manner && m.previous.voice.Synthesizer != nil && m.previous.Voice == l.Voice {
		l.voice, l.designed = m.previous.voice, m.previous.designed
		m.previous = *l
		return l, nil
	}
	voices := m.job.service.Voices
	var err error
	switch {
	case m.source.ref != nil:
		l.voice, err = voices.Find(ctx, m.job.request.Account, *m.source.ref, l.manner)
	case m.source.recipe != nil:
		l.voice, err = voices.FromRecipe(ctx, m.source.recipe, l.manner)
	case m.instant():
		err = contract.ErrInvalid{Field: "voice", Why: "missing; instant mode needs one: name a voice, or connect " +
			"without instant_mode to have one made from the description"}
	case m.connect.Version == contract.Octave2:
		err = contract.ErrInvalid{Field: "voice", Why: "missing; version 2 needs one"}
	default:
		l.voice, err = voices.Design(ctx, l.manner, 0, m.generation.seed)
		l.designed, m.designed, m.source.recipe = true, err == nil, l.voice.Recipe
	}
	if err == nil {
		m.previous = *l
	}
	return l, withField(err, "voice")
}

// store writes the generation as far as it is known.
func (m *mouth) store(ctx context.Context) error {
	service := m.job.service
	if m.index > 0 || service.Records == nil {
		return m.job.updateStored(ctx, m.generation)
	}
	g, err := m.job.record(m.generation)
	if err != nil {
		return err
	}
	return service.Records.AddGenerations(ctx, m.job.request.Account, service.Retention.Newest, g)
}

// deliver sends the sound and the times of a piece.
func (m *mouth) deliver(ctx context.Context, p piece) error {
	m.job.countSound(len(p.pcm))
	m.generation.shiftTimes(p)
	data, err := m.encoder.encode(p.pcm, p.last && p.snippet.last)
	if err != nil {
		return err
	}
	if err := m.send(ctx, p, data); err != nil {
		return err
	}
	for _, at := range p.times {
		if err := m.out.Message(ctx, contract.TimestampMessage{
			GenerationID: m.generation.id,
			RequestID:    m.job.request.RequestID,
			SnippetID:    p.snippet.id,
			Timestamp:    at,
		}); err != nil {
			return err
		}
	}
	return nil
}

func (m *mouth) send(ctx context.Context, p piece, data []byte) error {
	if !m.connect.NoBinary {
		if len(data) == 0 {
			return nil
		}
		return m.out.Sound(ctx, data)
	}
	if len(data) == 0 && !p.last {
		return nil
	}
	m.chunk++
	return m.out.Message(ctx, m.job.chunk(m.generation, p, data, m.chunk-1))
}

// finish ends a generation without further text. What the encoder still holds is sent as a
// chunk of the newest snippet.
func (m *mouth) finish(ctx context.Context, o order) error {
	if m.generation == nil || m.last == nil {
		return nil
	}
	silence := time.Duration(o.silence * float64(time.Second))
	if last := m.generation.utterances[len(m.generation.utterances)-1].ends; silence > 0 {
		last.Pause += silence
		if err := m.store(ctx); err != nil {
			return err
		}
	}
	data, err := m.encoder.encode(silentPCM(silence), true)
	if err == nil && len(data) > 0 {
		err = m.send(ctx, piece{snippet: m.last, last: true}, data)
	}
	m.reset()
	return err
}

// reset forgets the generation.
func (m *mouth) reset() { m.generation, m.encoder, m.last, m.unspeakable = nil, nil, nil, "" }
