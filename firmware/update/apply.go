package update

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"parley/internal/layout"
)

// Apply carries out the update that Prepare has prepared. The error is an *ErrReturned if
// the box is back at the old version. After a cancelled context the way is back too.
func (u *Updater) Apply(ctx context.Context) error {
	j, err := u.readJournal()
	if err != nil {
		return err
	}
	if j.Step != Prepared {
		return errors.New("no update is prepared")
	}
	err = u.carryOut(ctx, &j)
	if _, returned := errors.AsType[*ErrReturned](err); returned && j.Ready {
		if late := u.waitReady(context.WithoutCancel(ctx), u.Limits.Ready); late != nil {
			u.say("%s does not get ready either: %v", j.From, late)
		}
	}
	return err
}

// Resume ends an update that a power cut or a kill has ended. It does not wait for the
// box to get ready, since at the start of the machine the box starts after it. Without
// such an update it does nothing.
func (u *Updater) Resume(ctx context.Context) error {
	j, err := u.readJournal()
	if err != nil || j.Step == Over {
		return err
	}
	u.say("an update from %s to %s was interrupted (%s)", j.From, j.To, j.Step)
	if j.Why == "" && j.Step != Keeping {
		j.Why = fmt.Sprintf("it was interrupted (%s)", j.Step)
	}
	j.User = ""
	if j.Program != "" {
		u.Service = Script(j.Program)
	}
	if err := u.enter(&j, afterFailure(j.Step)); err != nil && j.Step != Returning {
		return err
	}
	return u.carryOut(ctx, &j)
}

// Interrupted reports whether an update was interrupted.
func (u *Updater) Interrupted() (bool, error) {
	j, err := u.readJournal()
	return j.Step != Over, err
}

// carryOut takes one step after the other, forward or back, until the update is over.
func (u *Updater) carryOut(ctx context.Context, j *journal) error {
	for {
		err := u.take(ctx, j)
		then := next(j.Step)
		switch {
		case err != nil && afterFailure(j.Step) == j.Step:
			return fmt.Errorf("%s: %w: run parley update again, or start the machine again; the log is %s", j.Step, err,
				u.LogFile())
		case err != nil:
			then, j.Why = afterFailure(j.Step), reason(ctx, err)
			u.say("%s", j.Why)
			ctx = context.WithoutCancel(ctx)
		case then == Over:
			return u.finish(j)
		}
		j.Stopped = j.Stopped || then == Stopping
		j.Started = j.Started || then == Checking
		if err := u.enter(j, then); err != nil && then != Returning {
			// The steps before lead back too, so this one needs no journal.
			j.Step, j.Why = Returning, err.Error()
		}
	}
}

// reason returns why a step failed.
func reason(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return "it was interrupted"
	}
	return err.Error()
}

// take does what a step is for.
func (u *Updater) take(ctx context.Context, j *journal) error {
	switch j.Step {
	case Prepared:
		return u.waitForChats(ctx, j)
	case Stopping:
		u.say("stopping the box")
		return u.Service.Stop(ctx)
	case Copying:
		return u.saveDatabase(ctx, j)
	case Installing:
		return u.install(ctx, j)
	case Replacing:
		return u.replacePacks(j)
	case Checking:
		return u.check(ctx, j)
	case Keeping:
		return u.keep(ctx, j)
	case Returning:
		return u.goBack(ctx, j)
	}
	return fmt.Errorf("the journal has the unknown step %q", j.Step)
}

// waitForChats waits until no chat is live, but not for ever: a forgotten one must not
// prevent the update of a whole night.
func (u *Updater) waitForChats(ctx context.Context, j *journal) error {
	if !j.Runs {
		return nil
	}
	deadline := time.Now().Add(u.Limits.Chats)
	for told := -1; ; {
		n, err := u.Box.Chats(ctx)
		if err != nil || n == 0 || !time.Now().Before(deadline) {
			return err
		}
		if n != told {
			u.say("waiting for the end of live chats (%d), at most until %s", n, deadline.Format(time.TimeOnly))
			told = n
		}
		select {
		case <-time.After(pollInterval):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// pollInterval is how often the box is asked whether it is ready or still busy.
const pollInterval = 500 * time.Millisecond

// migrationRate is how many bytes of a database a new version migrates in a second: a slow
// disk writes 20 MB, and each byte is written twice, to the copy and to the database.
const migrationRate = 10 << 20

// check starts the new version, and asks of it what the old one could do.
func (u *Updater) check(ctx context.Context, j *journal) error {
	if !j.Runs {
		u.say("the box did not run before, and is not started")
		return nil
	}
	u.say("starting %s", j.To)
	if err := u.Service.Start(ctx); err != nil {
		return err
	}
	if !j.Ready {
		u.say("the box was not ready before: checking that %s runs", j.To)
		return u.waitWhile(ctx, u.Limits.Steady, func() (bool, error) { return false, nil })
	}
	limit := u.Limits.Ready
	if j.Schema {
		bytes, err := size(filepath.Join(j.Data, layout.Database))
		if err != nil {
			return err
		}
		limit += time.Duration(bytes/migrationRate) * time.Second
	}
	if err := u.waitReady(ctx, limit); err != nil {
		return fmt.Errorf("%s does not get ready: %w", j.To, err)
	}
	if !j.Answers {
		u.say("the box did not answer a spoken question before: this is not checked")
		return nil
	}
	u.say("asking %s a question", j.To)
	if err := u.ask(ctx, j.Key); err != nil {
		return fmt.Errorf("%s does not answer a spoken question: %w", j.To, err)
	}
	return nil
}

// ask asks the spoken question, and once more if no words come back: a small model may
// have said nothing.
func (u *Updater) ask(ctx context.Context, key string) (err error) {
	for range 2 {
		asking, cancel := context.WithTimeout(ctx, u.Limits.Answer)
		err = u.Box.Ask(asking, key)
		cancel()
		if err == nil || ctx.Err() != nil {
			break
		}
		fmt.Fprintf(u.log, "no answer: %v\n", err)
	}
	return err
}

// waitReady waits until a conversation could start, for at most the time limit.
func (u *Updater) waitReady(ctx context.Context, limit time.Duration) error {
	why := errors.New("it does not listen")
	ready := false
	err := u.waitWhile(ctx, limit, func() (bool, error) {
		err := u.Box.Ready(ctx)
		if ready = err == nil; !ready {
			why = err
		}
		return ready, nil
	})
	if err == nil && !ready {
		return fmt.Errorf("%w after %v", why, limit)
	}
	return err
}

// waitWhile calls done until it returns true or the time is over, and returns an error if
// the service has failed. It asks done first: the old version may have been started again
// by systemd weeks ago, and is ready all the same.
func (u *Updater) waitWhile(ctx context.Context, limit time.Duration, done func() (bool, error)) error {
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); {
		if over, err := done(); over || err != nil {
			return err
		}
		if err := u.Service.Fault(ctx); err != nil {
			return err
		}
		select {
		case <-time.After(pollInterval):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// keep deletes what the way back needed.
func (u *Updater) keep(ctx context.Context, j *journal) error {
	if err := u.writeResult(j, true); err != nil {
		return err
	}
	if err := u.removeDatabaseCopy(j); err != nil {
		return err
	}
	return removeStagedPacks(j.Packs)
}

// goBack puts the old version in place of whatever is there. Each act may be done twice.
func (u *Updater) goBack(ctx context.Context, j *journal) error {
	if j.Stopped {
		u.say("going back to %s", j.From)
		if err := u.Service.Stop(ctx); err != nil {
			return err
		}
		if err := u.installOld(ctx, j); err != nil {
			return err
		}
	}
	if err := u.returnPacks(j); err != nil {
		return fmt.Errorf("putting the old packs back: %w", err)
	}
	if err := u.returnDatabase(j); err != nil {
		return fmt.Errorf("putting the old database back: %w", err)
	}
	return u.writeResult(j, false)
}

// finish ends the journal, and the box runs as before.
func (u *Updater) finish(j *journal) error {
	unix.Sync() // what dpkg and the renames did, before the journal is gone
	back := j.Step == Returning
	if back && j.Runs && j.Stopped {
		u.say("starting %s", j.From)
		if err := u.Service.Start(context.Background()); err != nil {
			return err
		}
	}
	if err := u.enter(j, Over); err != nil {
		return err
	}
	u.removeWork()
	if back {
		return &ErrReturned{From: j.From, To: j.To, Why: j.Why, Log: u.LogFile()}
	}
	u.say("the box is at %s", j.To)
	return nil
}
