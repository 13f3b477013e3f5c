package espeak

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"parley/internal/isolate"
)

// answerTime is how long the process may take for a clause: a millisecond, and a
// while where others have the cores. What takes seconds will take for ever.
const answerTime = 2 * time.Second

var (
	// errDied means that the process ended before it answered.
	errDied = errors.New("espeak: eSpeak NG died")
	// errHung means that it did not answer in time.
	errHung = errors.New("espeak: eSpeak NG hangs")
)

// process is a running eSpeak NG, as its parent sees it. One goroutine at a time
// asks it; any may stop it.
type process struct{ *isolate.Process }

// start runs a process of that name and waits until it can answer.
func start(name string) (*process, error) {
	p, err := isolate.Start(name, childArgs()...)
	if err != nil {
		return nil, fault(err)
	}
	return &process{p}, nil
}

// ask returns the phonemes of words; errDied or errHung where there is no
// answer, after which the process is no good any more.
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

// fault says of eSpeak NG what became of its process.
func fault(err error) error {
	switch {
	case errors.Is(err, isolate.ErrHung):
		return fmt.Errorf("%w: %w", errHung, err)
	case errors.Is(err, isolate.ErrDied):
		return fmt.Errorf("%w: %w", errDied, err)
	}
	return err
}
