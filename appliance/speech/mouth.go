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

// mouth speaks the orders of one socket. One goroutine uses it.
type mouth struct {
	job     *Job // as if all were one request
	connect contract.TTSConnect
	out     Out

	take   *take // nil: there is no generation under way
	files  coder
	pacing *pacing
	rate   audio.Converter
	index  int      // of the next snippet of the generation
	chunk  int      // of the next chunk of the snippet
	last   *snippet // the newest
	mute   string   // of what had nothing to say, the first
	from   source   // of the voice
	made   bool     // the voice was made for this socket
	spoken line     // as the newest snippet was
	before string   // said before the next snippet, where that goes on with it
}

func newMouth(s *Service, account, requestID string, c contract.TTSConnect, out Out) mouth {
	asked := Asked{Account: account, RequestID: requestID, PostedTTS: contract.PostedTTS{
		Format:                &contract.Format{Type: c.Format},
		IncludeTimestampTypes: c.IncludeTimestampTypes,
		StripHeaders:          c.StripHeaders,
		Version:               c.Version,
		NumGenerations:        1,
	}}
	if c.ContextGenerationID != "" {
		asked.Context = &contract.PostedTTSContext{GenerationID: c.ContextGenerationID}
	}
	return mouth{job: &Job{service: s, asked: asked, leave: func() {}}, connect: c, out: out}
}

// run speaks one order after the other, until the last or the end of the socket.
func (in *Input) run() {
	defer close(in.done)
	defer in.mouth.rest()
	defer func() {
		if p := recover(); p != nil {
			in.service.Log.Error("a socket that speaks panicked", "panic", fmt.Sprint(p), "stack",
				string(debug.Stack()))
			_ = in.out.Fault(in.ctx, contract.Fault{Code: contract.Internal})
		}
		in.cancel(errOver) // first: who brings a message may wait for room, and holds the lock
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
		if err := in.mouth.obey(in.ctx, o); err != nil {
			if in.ctx.Err() == nil {
				in.out.Close(contract.CloseInternal, contract.Internal.Slug())
			}
			return
		}
		if in.orders.Len() == 0 {
			in.mouth.rest()
		}
		if o.close {
			in.out.Close(contract.CloseNormal, "")
			return
		}
	}
}

// obey speaks an order. What cannot be spoken is told, and leaves the socket open;
// an error ends it.
func (m *mouth) obey(ctx context.Context, o order) error {
	err := m.speak(ctx, o)
	if err == nil || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m.end() // what follows is another generation
	return m.out.Fault(ctx, m.fault(err))
}

// fault is what a client is told of an error.
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
	m.job.service.Log.Error("a text of a socket could not be spoken", "request", m.job.asked.RequestID, "err", err)
	return contract.Fault{Code: contract.NotSpoken, Cause: err}
}

// rest gives the turn to others, while there is nothing to speak.
func (m *mouth) rest() {
	m.job.leave()
	m.job.leave = func() {}
	m.pacing = nil
}

// begin takes a turn, and begins a generation where none is under way.
func (m *mouth) begin(ctx context.Context) error {
	if m.pacing == nil {
		leave, err := turn(ctx, m.job.service.turns, m.job.asked.Account)
		if err != nil {
			return err
		}
		m.job.leave, m.pacing = leave, newPacing()
	}
	if m.take != nil {
		return nil
	}
	files, err := newCoder(m.connect.Format, m.connect.StripHeaders)
	if err != nil {
		return err
	}
	before, err := m.job.earlier(ctx)
	if err != nil {
		return named(err, "context_generation_id")
	}
	m.job.asked.Context = nil                            // the next generation goes on with this one
	t := &take{id: contract.NewID(), seed: rand.Int64()} //nolint:gosec // no secret
	if m.before = before.said; m.from.none() {
		m.from = before.voice
	}
	if m.job.service.Reading != nil {
		t.reading = m.job.service.Reading(ctx, m.job.asked.Account)
	}
	t.before = m.before
	if m.connect.Temperature != nil {
		t.temperature = *m.connect.Temperature
	}
	m.take, m.files, m.index, m.spoken = t, files, 0, line{manner: before.manner}
	return nil
}

// speak speaks one snippet, and ends the generation behind the last of it.
func (m *mouth) speak(ctx context.Context, o order) error {
	if o.text == "" || !m.sayable(ctx, o.text) {
		return m.pass(ctx, o)
	}
	if err := m.begin(ctx); err != nil {
		return err
	}
	l, err := m.cast(ctx, o)
	if err != nil {
		return err
	}
	s := &snippet{
		id:        contract.NewID(),
		utterance: o.utterance,
		index:     m.index,
		text:      o.text,
		line:      l,
		part:      o.part,
		before:    m.before,
		last:      o.flushed,
	}
	if m.before = ""; o.part.GoesOn && !o.flushed {
		m.before = o.text
	}
	switch s.pause = l.silence(); {
	case o.flushed || o.part.GoesOn:
	case o.part.Paragraph:
		s.pause += betweenParagraphs
	default:
		s.pause += betweenSentences
	}
	l.ends = &ending{o.part.GoesOn, s.pause}
	m.take.lines = append(m.take.lines, *l)
	if err := m.keep(ctx); err != nil {
		return err
	}
	m.index, m.chunk, m.last = m.index+1, 0, s
	say := m.job.say
	if !m.instant() {
		say = m.job.checked
	}
	if err := say(ctx, m.take, s, m.pacing, &m.rate, func(p piece) error { return m.give(ctx, p) }); err != nil {
		if wrong, ok := errors.AsType[contract.ErrInvalid](refused(err, s)); ok {
			return contract.ErrInvalid{Field: "text", Why: wrong.Why}
		}
		return err
	}
	if o.flushed {
		m.end()
	}
	return nil
}

// instant reports whether sound is sent as it is made. Where the client has not said
// so, it is with a voice that it names, or that the context has.
func (m *mouth) instant() bool {
	if asked := m.connect.InstantMode; asked != nil {
		return *asked
	}
	return !m.made && !m.from.none()
}

// sayable reports whether a snippet has anything to say: "..." has not.
func (m *mouth) sayable(ctx context.Context, s string) bool {
	switch {
	case m.take != nil:
		return text.CanBeSaid(s, m.take.reading)
	case m.job.service.Reading != nil:
		return text.CanBeSaid(s, m.job.service.Reading(ctx, m.job.asked.Account))
	}
	return text.CanBeSaid(s, text.Options{})
}

// pass does what an order without anything to say asks for: its generation ends
// behind the last of it. Where all of that had nothing to say, its client is told, who
// waits for sound otherwise; within a generation it is passed over.
func (m *mouth) pass(ctx context.Context, o order) error {
	m.mute = cmp.Or(m.mute, o.text)
	switch {
	case !o.flushed:
		return nil
	case m.last == nil && m.mute != "":
		defer m.end()
		return contract.ErrInvalid{Field: "text",
			Why: fmt.Sprintf("%q has nothing that can be said; expected words or numbers", contract.Clip(m.mute))}
	}
	return m.finish(ctx, o)
}

// cast is the line of a snippet: with the voice that it names, or that there was,
// or one that is made from its description.
func (m *mouth) cast(ctx context.Context, o order) (*line, error) {
	l := &line{PostedUtterance: contract.PostedUtterance{
		Text:            o.text,
		Speed:           o.set.speed,
		TrailingSilence: o.silence,
		Voice:           o.set.voice,
	}, manner: o.set.description, unsplit: true}
	if m.index == 0 {
		l.manner = cmp.Or(l.manner, m.spoken.manner)
	}
	if o.set.voice != nil && (m.from.ref == nil || *m.from.ref != *o.set.voice) {
		m.from, m.made = source{ref: o.set.voice}, false
	}
	if l.manner == m.spoken.manner && m.spoken.voice.Speaks != nil && m.spoken.Voice == l.Voice {
		l.voice, l.made = m.spoken.voice, m.spoken.made
		m.spoken = *l
		return l, nil
	}
	voices := m.job.service.Voices
	var err error
	switch {
	case m.from.ref != nil:
		l.voice, err = voices.Find(ctx, m.job.asked.Account, *m.from.ref, l.manner)
	case m.from.recipe != nil:
		l.voice, err = voices.Again(ctx, m.from.recipe, l.manner)
	case m.instant():
		err = contract.ErrInvalid{Field: "voice", Why: "missing; instant mode needs one: name a voice, or connect " +
			"without instant_mode to have one made from the description"}
	case m.connect.Version == contract.Octave2:
		err = contract.ErrInvalid{Field: "voice", Why: "missing; version 2 needs one"}
	default:
		l.voice, err = voices.Design(ctx, l.manner, 0, m.take.seed)
		l.made, m.made, m.from.recipe = true, err == nil, l.voice.Recipe
	}
	if err == nil {
		m.spoken = *l
	}
	return l, named(err, "voice")
}

// keep writes the generation as far as it goes.
func (m *mouth) keep(ctx context.Context) error {
	service := m.job.service
	if m.index > 0 || service.Records == nil {
		return m.job.change(ctx, m.take)
	}
	g, err := m.job.record(m.take)
	if err != nil {
		return err
	}
	return service.Records.AddGenerations(ctx, m.job.asked.Account, service.Keep.Newest, g)
}

// give sends sound and times.
func (m *mouth) give(ctx context.Context, p piece) error {
	m.job.sounded(len(p.pcm))
	m.take.place(p)
	data, err := m.files.next(p.pcm, p.last && p.snippet.last)
	if err != nil {
		return err
	}
	if err := m.send(ctx, p, data); err != nil {
		return err
	}
	for _, at := range p.times {
		if err := m.out.Message(ctx, contract.TimestampMessage{
			GenerationID: m.take.id,
			RequestID:    m.job.asked.RequestID,
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
	return m.out.Message(ctx, m.job.chunk(m.take, p, data, m.chunk-1))
}

// finish ends a generation behind which nothing more is said: what the coder still
// holds is sent, as a chunk of the newest snippet.
func (m *mouth) finish(ctx context.Context, o order) error {
	if m.take == nil || m.last == nil {
		return nil
	}
	silence := time.Duration(o.silence * float64(time.Second))
	if last := m.take.lines[len(m.take.lines)-1].ends; silence > 0 {
		last.Pause += silence
		if err := m.keep(ctx); err != nil {
			return err
		}
	}
	data, err := m.files.next(silent(silence), true)
	if err == nil && len(data) > 0 {
		err = m.send(ctx, piece{snippet: m.last, last: true}, data)
	}
	m.end()
	return err
}

// end forgets the generation.
func (m *mouth) end() { m.take, m.files, m.last, m.mute = nil, nil, nil, "" }
