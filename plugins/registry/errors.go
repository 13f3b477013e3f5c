package registry

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"parley/store"
)

// ErrNotInstalled says that there is no plugin of that name.
type ErrNotInstalled struct{ Name string }

func (e ErrNotInstalled) Error() string {
	return fmt.Sprintf("no plugin %.80q is installed; parley plugin list shows those that are", e.Name)
}

// ErrNoTool says that no plugin has a tool of that name.
type ErrNoTool struct{ Tool string }

func (e ErrNoTool) Error() string {
	return fmt.Sprintf("no installed plugin has a tool %.80q", e.Tool)
}

// ErrUnusable is what is wrong with what was to be installed.
type ErrUnusable struct{ Why string }

func (e ErrUnusable) Error() string { return e.Why }

func unusable(format string, args ...any) error { return ErrUnusable{fmt.Sprintf(format, args...)} }

// ErrConflict says that something else stands against it: another plugin, or
// somebody who changed the same one meanwhile.
type ErrConflict struct{ Why string }

func (e ErrConflict) Error() string { return e.Why }

// ErrUnknown names a permission or a setting that the plugin does not have, or a
// value that it cannot have.
type ErrUnknown struct {
	Field string // as the caller called it: a permission, or settings.NAME
	Why   string
}

func (e ErrUnknown) Error() string { return e.Field + ": " + e.Why }

// ErrBroken says that a plugin is not called now, because it failed in a row.
type ErrBroken struct {
	Plugin string
	Until  time.Time // from then on one call is tried
	Why    string    // how it failed last
}

func (e ErrBroken) Error() string {
	wait := time.Until(e.Until).Round(time.Second)
	return fmt.Sprintf("%s has failed %d times in a row and is left alone for %v more; last: %s", e.Plugin,
		failuresInARow, max(wait, 0), e.Why)
}

// ErrStopped says that an installed plugin cannot be run, and why: its files are
// damaged, or its signature is none that the box trusts.
type ErrStopped struct{ Plugin, Why string }

func (e ErrStopped) Error() string { return fmt.Sprintf("%s cannot be run: %s", e.Plugin, e.Why) }

// storeError names the plugin in what the store says of it.
func storeError(name string, err error) error {
	taken, isTaken := errors.AsType[store.ErrToolTaken](err)
	switch {
	case err == nil:
		return nil
	case isTaken:
		return ErrConflict{taken.Error() + "; remove one of them, or have its author rename the tool"}
	case errors.Is(err, store.ErrNotFound):
		return ErrNotInstalled{name}
	case errors.Is(err, store.ErrConflict):
		return ErrConflict{fmt.Sprintf("the plugin %s was changed by somebody else meanwhile: look at it with parley "+
			"plugin list %s, and try again", name, name)}
	}
	return err
}

// listed is a list as people write it: "a, b, c", or "none".
func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
