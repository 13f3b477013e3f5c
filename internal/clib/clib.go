// Package clib opens C libraries at run time: optional ones, and those whose licence does
// not allow linking.
package clib

import (
	"errors"
	"fmt"

	"github.com/ebitengine/purego"
)

// Library is an open library. It stays open for the life of the process.
type Library struct {
	name   string
	handle uintptr
}

// Open opens the first of these libraries that exists.
func Open(names ...string) (Library, error) { return open(purego.RTLD_LOCAL, names) }

// OpenGlobal is Open for a library whose functions later libraries need.
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

// Load opens the first of these libraries that exists and binds calls. If none exists,
// the error is missing.
func Load(calls map[string]any, missing string, names ...string) error {
	l, err := Open(names...)
	if err != nil {
		return errors.New(missing)
	}
	return l.Bind(calls)
}

// Bind sets each of calls, pointers to Go functions by name, to the library's function
// with that name.
func (l Library) Bind(calls map[string]any) error {
	for name, call := range calls {
		symbol, err := purego.Dlsym(l.handle, name)
		if err != nil {
			return fmt.Errorf("%s is not a supported version: it has no %s: %w", l.name, name, err)
		}
		purego.RegisterFunc(call, symbol)
	}
	return nil
}
