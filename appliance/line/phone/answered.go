package phone

import (
	"context"
	"time"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/language"
)

// The figures by which a person is told from a mailbox. Telephone systems that do the same use similar
// ones (the defaults of Asterisk's AMD: 2.5 s of silence, a greeting of 1.5 s, 0.8 s of silence behind it,
// 5 s in all); these wait a little longer, because a mailbox that is taken for a person hears a conversation,
// while a person who is taken for a mailbox hears a message.
const (
	// silentPerson is how long somebody who answers may say nothing before the box speaks.
	silentPerson = 2500 * time.Millisecond
	// longGreeting is the longest greeting of a person: "Museum of the City, my name is Ada, what can I do
	// for you?". Mailboxes speak for longer without a pause.
	longGreeting = 4 * time.Second
	// greetingPause is the silence that ends a greeting.
	greetingPause = 800 * time.Millisecond
	// shortGreeting is the longest greeting whose words need not be read: "Hello, this is Ada."
	shortGreeting = 1200 * time.Millisecond
	// beepTimeout is how long a mailbox may speak before its beep, and beepSilence the silence that counts as
	// one: some have none.
	beepTimeout = 40 * time.Second
	beepSilence = 3 * time.Second
)

// whoAnswered listens to what answered a call of the box, and returns who it is. greeting is what a person
// said.
func (e *ear) whoAnswered(ctx context.Context) (by contract.AnsweredBy, greeting []float32, err error) {
	late := time.NewTimer(silentPerson)
	defer late.Stop()
	for {
		select {
		case pcm := <-e.sound:
			segments, err := e.hear(pcm)
			if err != nil {
				return "", nil, err
			}
			if e.beeped {
				return contract.ByMailbox, nil, nil
			}
			for _, s := range segments {
				if s.Short {
					continue
				}
				late.Stop()
				if by := e.judgeGreeting(ctx, s); by != "" {
					return by, e.between(s.Begin, e.pos), nil
				}
			}
		case <-e.keys: // only people press keys
			return contract.ByPerson, nil, nil
		case <-late.C:
			if !e.segmenter.Listening() {
				return contract.ByPerson, nil, nil
			}
			late.Reset(greetingPause)
		case <-e.party.leg.Done():
			return "", nil, hangUpReason(e.party.leg)
		case <-ctx.Done():
			return "", nil, context.Cause(ctx)
		}
	}
}

// judgeGreeting returns who speaks, as soon as that can be told, and "" before.
func (e *ear) judgeGreeting(ctx context.Context, s engine.Segment) contract.AnsweredBy {
	length := time.Duration(s.End-s.Begin) * time.Second / engine.SpeechRateHz
	switch {
	case s.Kind == engine.Voice && length >= longGreeting:
		if language.WrongNumber(e.transcribe(ctx, e.between(s.Begin, s.End))) {
			return contract.ByWrongNumber
		}
		return contract.ByMailbox
	case s.Kind != engine.Ended:
		return ""
	case length <= shortGreeting:
		return contract.ByPerson
	}
	switch said := e.transcribe(ctx, e.between(s.Begin, s.End)); {
	case language.WrongNumber(said):
		return contract.ByWrongNumber
	case language.Mailbox(said):
		return contract.ByMailbox
	}
	return contract.ByPerson
}

// awaitBeep waits until a mailbox records: for its beep, or for a silence.
func (e *ear) awaitBeep(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, beepTimeout)
	defer cancel()
	quiet := time.NewTimer(beepSilence)
	defer quiet.Stop()
	for {
		select {
		case pcm := <-e.sound:
			if _, err := e.hear(pcm); err != nil {
				return err
			}
			if e.beeped && !e.beep.sounding() {
				return nil
			}
			if e.segmenter.Voiced() {
				quiet.Reset(beepSilence)
			}
		case <-quiet.C:
			return nil
		case <-e.party.leg.Done():
			return hangUpReason(e.party.leg)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
