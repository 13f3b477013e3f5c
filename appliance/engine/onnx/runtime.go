// Package onnx runs models in the ONNX format through ONNX Runtime's C library: speech input (voice
// activity, transcription, turn end) and voices. All models are built on runtime.go and session.go.
package onnx

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	ort "github.com/yalue/onnxruntime_go"
)

// process is the one ONNX Runtime environment of this process. The C library keeps its environment,
// and the Go binding its library handle, in process-wide variables, so this count of users must be
// process-wide too.
var process struct {
	sync.Mutex
	library string
	users   int // open Runtimes and Sessions
}

// Runtime is an open ONNX Runtime. It is safe for concurrent use.
type Runtime struct {
	close func() error
}

// Open loads ONNX Runtime's shared library. Opening the same library again is cheap and returns
// another Runtime; a different library cannot be opened while the first is in use. Each Runtime
// must be closed once.
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

// shareArena makes all sessions share one memory arena that grows by the requested size. By default
// each session has its own arena, which doubles when it grows, and no arena returns memory before
// it is closed.
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

// Close releases the runtime. Sessions loaded through it stay usable until they are closed
// themselves.
func (r *Runtime) Close() error { return r.close() }

// Version returns the version of the loaded library, such as "1.28.2".
func (r *Runtime) Version() string { return ort.GetVersion() }

// retain adds a user of the environment, which must be open.
func retain() error {
	process.Lock()
	defer process.Unlock()
	if process.users == 0 {
		return errors.New("onnx: the runtime is closed")
	}
	process.users++
	return nil
}

// release removes a user; the last one closes the environment.
func release() error {
	process.Lock()
	defer process.Unlock()
	process.users--
	if process.users > 0 {
		return nil
	}
	return ort.DestroyEnvironment()
}

// checkReadable returns an error that names the command to fetch a missing file.
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

// loadError wraps the error of a file that exists but does not load, with advice.
func loadError(path string, err error) error {
	return fmt.Errorf("onnx: %s does not load (check it with `parley packs list --verify`): %w", path, err)
}
