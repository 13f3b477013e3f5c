// Package clib opens C libraries at run time: those that may be on the machine, and
// those whose licence does not let them be linked.
package clib

import (
	"errors"
	"fmt"

	"github.com/ebitengine/purego"
)

// Library is one that is open. It stays so for as long as the process lives.
type Library struct {
	name   string
	handle uintptr
}

// Open opens the first of the libraries of these names that is there.
func Open(names ...string) (Library, error) { return open(purego.RTLD_LOCAL, names) }

// OpenGlobal is Open for a library whose functions the next ones need.
func OpenGlobal(name string) (Library, error) { return open(purego.RTLD_GLOBAL, []string{name}) }

func open(mode int, names []string) (Library, error) {
	var why error
	for _, name := range names {
		handle, err := purego.Dlopen(name, purego.RTLD_NOW|mode)
		if err == nil {
			return Library{name, handle}, nil
		}
		why = errors.Join(why, err)
	}
	return Library{}, why
}

// Load opens the first library of these names and binds calls; missing is the error
// where none of them is there.
func Load(calls map[string]any, missing string, names ...string) error {
	l, err := Open(names...)
	if err != nil {
		return errors.New(missing)
	}
	return l.Bind(calls)
}

// Bind makes each of calls, pointers to Go functions, the function of that name of
// the library or of one that it needs.
func (l Library) Bind(calls map[string]any) error {
	for name, call := range calls {
		symbol, err := purego.Dlsym(l.handle, name)
		if err != nil {
			return fmt.Errorf("%s is another version than is known: it has no %s: %w", l.name, name, err)
		}
		purego.RegisterFunc(call, symbol)
	}
	return nil
}
