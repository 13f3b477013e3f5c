// Package onnx runs the models that come as ONNX graphs: the ears (voice
// activity, speech to text, the end of a turn) and the voices, over ONNX
// Runtime's C library. runtime.go and session.go are the layer on which all of
// them stand.
package onnx

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	ort "github.com/yalue/onnxruntime_go"
)

// process is the one ONNX Runtime environment of this process. The C library
// keeps its environment, and the Go binding its library handle, in process-wide
// variables; so this counter of who uses them can only be process-wide, too.
var process struct {
	sync.Mutex
	library string
	users   int // open Runtimes and Sessions
}

// Runtime is ONNX Runtime, opened. It is safe for concurrent use.
type Runtime struct {
	close func() error
}

// Open loads ONNX Runtime's shared library. Opening the same library again is
// cheap and gives a Runtime of its own; another one cannot be opened while the
// first is in use. Each Runtime is closed once.
func Open(libraryPath string) (*Runtime, error) {
	path, err := filepath.Abs(libraryPath)
	if err != nil {
		return nil, fmt.Errorf("onnx: library %q: %w", libraryPath, err)
	}
	if err := checkReadable(path); err != nil {
		return nil, err
	}
	process.Lock()
	defer process.Unlock()
	if process.users > 0 && process.library != path {
		return nil, fmt.Errorf("onnx: cannot open %s: %s is in use, and a process has one ONNX Runtime", path,
			process.library)
	}
	if process.users == 0 {
		ort.SetSharedLibraryPath(path)
		if err := ort.InitializeEnvironment(ort.WithLogLevelFatal()); err != nil {
			return nil, loadError(path, err)
		}
		if err := shareArena(); err != nil {
			return nil, errors.Join(fmt.Errorf("onnx: memory arena: %w", err), ort.DestroyEnvironment())
		}
		process.library = path
	}
	process.users++
	return &Runtime{close: sync.OnceValue(release)}, nil
}

// shareArena gives all sessions one memory arena that grows by what is asked
// for. By default each session has its own, and each doubles when it grows; no
// arena gives memory back before it is closed.
func shareArena() error {
	const (
		maximum         = 0 // none
		byWhatIsAsked   = 1
		libraryDefaults = -1
	)
	info, err := ort.GetMemoryInfo()
	if err != nil {
		return err
	}
	config, err := ort.NewArenaCfg(maximum, byWhatIsAsked, libraryDefaults, libraryDefaults)
	if err != nil {
		return err
	}
	defer config.Destroy()
	return ort.CreateAndRegisterAllocator(info, config)
}

// Close gives the runtime back. Sessions loaded through it stay usable until
// they are closed themselves.
func (r *Runtime) Close() error { return r.close() }

// Version is the version of the loaded library, such as "1.28.2".
func (r *Runtime) Version() string { return ort.GetVersion() }

// retain counts one more user of the environment, which must be open.
func retain() error {
	process.Lock()
	defer process.Unlock()
	if process.users == 0 {
		return errors.New("onnx: the runtime is closed")
	}
	process.users++
	return nil
}

// release counts one user less; the last one closes the environment.
func release() error {
	process.Lock()
	defer process.Unlock()
	process.users--
	if process.users > 0 {
		return nil
	}
	return ort.DestroyEnvironment()
}

// checkReadable says in words of packs when a file is missing.
func checkReadable(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("onnx: %s is missing: fetch it with `parley packs pull`: %w", path, err)
	}
	if err != nil {
		return fmt.Errorf("onnx: %w", err)
	}
	return f.Close()
}

// loadError says what to do about a file that is there but does not work.
func loadError(path string, err error) error {
	return fmt.Errorf("onnx: %s does not load (check it with `parley packs list --verify`): %w", path, err)
}
