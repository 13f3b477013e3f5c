package update

import (
	"context"
	"errors"
	"io"
	"testing"
)

// restartedService runs, and was started again by systemd at some time.
type restartedService struct{ Service }

func (restartedService) Runs(context.Context) (bool, error) { return true, nil }

func (restartedService) Fault(context.Context) error {
	return errors.New("it ended (signal, exit code 9)")
}

type readyBox struct{ fakeBox }

func (readyBox) Ready(context.Context) error { return nil }

func (readyBox) Ask(context.Context, string) error { return nil }

// Otherwise nothing would be asked of the new version.
func TestBoxThatWasRestartedBeforeTheUpdateIsAskedAQuestion(t *testing.T) {
	u := &Updater{
		Box:     readyBox{},
		Service: restartedService{},
		Tell:    func(string) {},
		Limits:  DefaultLimits(),
		log:     io.Discard,
	}
	var j journal
	if err := u.observe(t.Context(), &j); err != nil || !j.Runs || !j.Ready || !j.Answers {
		t.Errorf("%+v, %v", j, err)
	}
}
