package espeak

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"parley/internal/isolate"
)

// answerTime limits the time of a clause: it takes a millisecond, and longer if the cores are busy.
// A clause that takes seconds will never end.
const answerTime = 2 * time.Second

var (
	// errDied reports that the process ended before it answered.
	errDied = errors.New("espeak: eSpeak NG crashed")
	// errHung reports that it did not answer in time.
	errHung = errors.New("espeak: eSpeak NG hangs")
)

// process is a running eSpeak NG, as its parent sees it. One goroutine at a time calls ask; any
// goroutine may stop it.
type process struct{ *isolate.Process }

// start starts a process with this name and waits until it is ready.
func start(name string) (*process, error) {
	p, err := isolate.Start(name, childArgs()...)
	if err != nil {
		return nil, fault(err)
	}
	return &process{p}, nil
}

// ask returns the phonemes of words. After errDied or errHung the process is unusable.
func (p *process) ask(q question, until time.Time) (string, error) {
	request, err := json.Marshal(q)
	if err != nil {
		return "", err
	}
	if err := p.Send(request, until); err != nil {
		return "", fault(err)
	}
	reply, err := p.Receive(until)
	if err != nil {
		return "", fault(err)
	}
	var a answer
	if err := json.Unmarshal(reply, &a); err != nil {
		return "", fmt.Errorf("%w: %w", errDied, err)
	}
	if a.Error != "" {
		return "", errors.New(a.Error)
	}
	return a.IPA, nil
}

// fault converts an error of the process.
func fault(err error) error {
	switch {
	case errors.Is(err, isolate.ErrHung):
		return fmt.Errorf("%w: %w", errHung, err)
	case errors.Is(err, isolate.ErrDied):
		return fmt.Errorf("%w: %w", errDied, err)
	}
	return err
}
