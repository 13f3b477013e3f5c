package phone

import (
	"context"
	"errors"
	"time"

	"parley/appliance/engine"
	"parley/appliance/language"
)

const (
	// answerPause is the silence that ends an answer of yes or no.
	answerPause = 400 * time.Millisecond
	// answerTimeout is how long a person may think after a question, 5 s: the question has said which words
	// and keys are expected.
	answerTimeout = 5 * time.Second
	// askings is how often a question is asked.
	askings = 2
)

// errUnanswered means that a person answered neither yes nor no.
var errUnanswered = errors.New("the person answered neither yes nor no")

// question is a question for yes or no to a person on the telephone.
type question struct {
	call  *Call
	to    *party
	voice Voice
	text  string
}

// ask asks the question until it is answered by words or by the keys 1 and 2. The answer may come before the
// question is over. Afterwards nobody hears the person.
func (q question) ask(ctx context.Context) (yes bool, err error) {
	defer q.to.ignore()
	e := q.call.server.newEar(q.to, q.voice.Language(), answerPause)
	for range askings {
		yes, err = q.once(ctx, e)
		if !errors.Is(err, errUnanswered) {
			return yes, err
		}
	}
	return false, err
}

// once asks the question once.
func (q question) once(ctx context.Context, e *ear) (yes bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	spoken := make(chan error, 1)
	q.call.lifecycle.Go("asking a question", func() {
		defer close(spoken) // also after a panic
		spoken <- q.to.speak(ctx, q.voice, q.text)
	})
	speaking := true
	defer func() {
		cancel()
		if speaking {
			<-spoken
			q.to.leg.Cut()
		}
	}()
	var wait <-chan error = spoken // nil once the question was said
	late := time.NewTimer(time.Hour)
	late.Stop()
	defer late.Stop()
	for {
		select {
		case key := <-e.keys:
			if key == '1' || key == '2' {
				return key == '1', nil
			}
		case pcm := <-e.sound:
			yes, ok, err := q.hear(ctx, e, pcm)
			if ok || err != nil {
				return yes, err
			}
		case err := <-wait:
			speaking, wait = false, nil
			if err != nil {
				return false, err
			}
			late.Reset(answerTimeout)
		case <-late.C:
			if !e.segmenter.Speaking() {
				return false, errUnanswered
			}
			late.Reset(answerPause)
		case <-q.to.leg.Done():
			return false, hangUpReason(q.to.leg)
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// hear looks for an answer in what the person says.
func (q question) hear(ctx context.Context, e *ear, pcm []float32) (yes, ok bool, err error) {
	segments, err := e.hear(pcm)
	for _, s := range segments {
		if s.Kind != engine.Paused || s.Short {
			continue
		}
		if yes, ok = language.Of(q.voice.Language()).Answer(e.transcribe(ctx, s.PCM)); ok {
			return yes, true, nil
		}
	}
	return false, false, err
}
