package registry

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"parley/store"
)

// ErrNotInstalled means that no plugin of that name is installed.
type ErrNotInstalled struct{ Name string }

func (e ErrNotInstalled) Error() string {
	return fmt.Sprintf("no plugin %.80q is installed: parley plugin list shows the installed ones", e.Name)
}

// ErrNoTool means that no plugin has a tool of that name.
type ErrNoTool struct{ Tool string }

func (e ErrNoTool) Error() string {
	return fmt.Sprintf("no installed plugin has a tool %.80q", e.Tool)
}

// ErrUnusable says why a package cannot be installed.
type ErrUnusable struct{ Why string }

func (e ErrUnusable) Error() string { return e.Why }

func unusable(format string, args ...any) error { return ErrUnusable{fmt.Sprintf(format, args...)} }

// ErrConflict means that a change conflicts with another plugin, or with another change of
// the same plugin.
type ErrConflict struct{ Why string }

func (e ErrConflict) Error() string { return e.Why }

// ErrUnknown names a permission or a setting that the plugin does not have, or a value that
// is not allowed.
type ErrUnknown struct {
	Field string // as the caller named it: a permission, or settings.NAME
	Why   string
}

func (e ErrUnknown) Error() string { return e.Field + ": " + e.Why }

// ErrBroken means that a plugin is paused because it failed several times in a row.
type ErrBroken struct {
	Plugin string
	Until  time.Time // when the next call is tried
	Why    string    // the last failure
}

func (e ErrBroken) Error() string {
	wait := time.Until(e.Until).Round(time.Second)
	return fmt.Sprintf("%s has failed %d times in a row and is paused for another %v; last error: %s", e.Plugin,
		failuresInARow, max(wait, 0), e.Why)
}

// ErrStopped means that an installed plugin cannot be run: its files are damaged, or the
// box does not trust its signature.
type ErrStopped struct{ Plugin, Why string }

func (e ErrStopped) Error() string { return fmt.Sprintf("%s cannot be run: %s", e.Plugin, e.Why) }

// storeError adds the plugin's name to an error of the store.
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
		return ErrConflict{fmt.Sprintf("the plugin %s was changed in the meantime: look at it with parley "+
			"plugin list %s, and try again", name, name)}
	}
	return err
}

// listed joins names as people write them: "a, b, c", or "none".
func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
