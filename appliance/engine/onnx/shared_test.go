package onnx

import (
	"errors"
	"io"
	"testing"
)

// shared holds the engines that several tests use, by name: loading a voice takes longer than most
// of its tests. TestMain closes them. Tests do not run in parallel.
var shared = engines{by: map[string]io.Closer{}}

type engines struct {
	cacheDir string // cache folder; a voice that is loaded again takes a third of the time
	by       map[string]io.Closer
	opened   []io.Closer
}

// sharedOf returns the engine with this name, which the first caller loads.
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

// none closes all engines, for a test that needs the library closed. Later tests load theirs again.
func (e *engines) none(t testing.TB) {
	t.Helper()
	if err := e.close(); err != nil {
		t.Fatal(err)
	}
	*e = engines{cacheDir: e.cacheDir, by: map[string]io.Closer{}}
}

// close closes the engines, the newest first.
func (e *engines) close() (err error) {
	for i := len(e.opened) - 1; i >= 0; i-- {
		err = errors.Join(err, e.opened[i].Close())
	}
	return err
}
