package onnx

import (
	"errors"
	"io"
	"testing"
)

// shared holds the engines that tests use one after the other, by what they are:
// to load a voice takes longer than most of what is asked of it. TestMain closes
// them. Tests do not run side by side.
var shared = engines{by: map[string]io.Closer{}}

type engines struct {
	kept   string // a folder; a voice that is loaded again takes a third of the time
	by     map[string]io.Closer
	opened []io.Closer
}

// sharedOf returns the engine of that name, which load makes for whoever is the
// first to ask.
func sharedOf[T io.Closer](t testing.TB, name string, load func() (T, error)) T {
	t.Helper()
	if e, ok := shared.by[name]; ok {
		return e.(T)
	}
	e, err := load()
	if err != nil {
		t.Fatal(err)
	}
	shared.by[name] = e
	shared.opened = append(shared.opened, e)
	return e
}

// none closes what is shared, for a test that wants no library open. Those that
// follow load theirs anew.
func (e *engines) none(t testing.TB) {
	t.Helper()
	if err := e.close(); err != nil {
		t.Fatal(err)
	}
	*e = engines{kept: e.kept, by: map[string]io.Closer{}}
}

// close closes them, the last that was opened first.
func (e *engines) close() (err error) {
	for i := len(e.opened) - 1; i >= 0; i-- {
		err = errors.Join(err, e.opened[i].Close())
	}
	return err
}
