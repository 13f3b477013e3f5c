package llama

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ebitengine/purego"

	"parley/internal/clib"
)

// libllama keeps its backends and its log callback per process, so this package must too. loaded is
// that library, and the only state here that does not belong to a Model.
var loaded struct {
	sync.Mutex
	lib *library
	dir string
}

// library is libllama, loaded and initialised.
type library struct {
	*calls
	log    atomic.Pointer[slog.Logger] // of the Model opened last
	aborts abortCallbacks

	lineMu     sync.Mutex
	line       strings.Builder // a log line that arrives in parts
	level      int32           // of that line
	firstError string          // see takeError
}

// load returns libllama from dir and loads it on the first call.
func load(dir string, log *slog.Logger) (*library, error) {
	loaded.Lock()
	defer loaded.Unlock()
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("library folder %q: %w", dir, err)
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real // the same library by another name
	}
	if loaded.lib != nil {
		if loaded.dir != abs {
			return nil, fmt.Errorf("libllama is already loaded from %s; one process cannot also load it from %s",
				loaded.dir, abs)
		}
		loaded.lib.log.Store(log)
		return loaded.lib, nil
	}
	lib, err := open(abs, log)
	if err != nil {
		return nil, err
	}
	loaded.lib, loaded.dir = lib, abs
	return lib, nil
}

// Loads returns what prevents the libllama in dir from being used on this machine, or nil. The
// library stays loaded.
func Loads(dir string, log *slog.Logger) error {
	_, err := load(dir, log)
	return err
}

func open(dir string, log *slog.Logger) (*library, error) {
	if err := checkSizes(); err != nil {
		return nil, err
	}
	// Loaded globally and in this order: each needs the symbols of those before it, and the
	// processor's backend, loaded last, needs the symbols of all.
	var of clib.Library
	for _, name := range []string{"libggml-base.so", "libggml.v0.5.0.so", libraryName} {
		var err error
		if of, err = clib.OpenGlobal(filepath.Join(dir, name)); err != nil {
			return nil, fmt.Errorf("cannot load %s (pack runtime-llama): %w", name, err)
		}
	}
	c, err := bind(of)
	if err != nil {
		return nil, err
	}
	mp, cp := c.modelDefaultParams(), c.contextDefaultParams()
	if err := mp.checkModelDefaults(); err != nil {
		return nil, fmt.Errorf("%s is version %q, which is incompatible: %w", libraryName, c.version(), err)
	}
	if err := cp.checkContextDefaults(); err != nil {
		return nil, fmt.Errorf("%s is version %q, which is incompatible: %w", libraryName, c.version(), err)
	}
	lib := &library{calls: c}
	lib.log.Store(log)
	c.logSet(purego.NewCallback(lib.logLine), 0)
	c.loadBackends(dir)
	if c.backendCount() == 0 {
		return nil, fmt.Errorf("no libggml-cpu-*.so in %s suits this processor", dir)
	}
	c.backendInit()
	return lib, nil
}

// libraryName is the release whose struct layouts are in library_structs.go.
const libraryName = "libllama.v0.5.0.so"

// The levels of ggml_log_level.
const (
	logDebug    = 1
	logError    = 4
	logContinue = 5
)

// logLine takes one piece of the library's log, usually a whole line; some lines come in parts
// (level logContinue). The library's debug output is thousands of lines per load, so it is logged
// below slog's debug level.
func (l *library) logLine(level int32, text *byte, _ uintptr) {
	l.lineMu.Lock()
	defer l.lineMu.Unlock()
	if level != logContinue {
		l.line.Reset()
		l.level = level
	}
	to := slog.LevelDebug
	if l.level == logDebug {
		to -= 4
	}
	log := l.log.Load()
	wanted := log.Enabled(context.Background(), to)
	if !wanted && l.level != logError {
		return
	}
	part := goString(text)
	l.line.WriteString(part)
	if !strings.HasSuffix(part, "\n") && l.line.Len() < 4096 {
		return
	}
	line := strings.TrimSpace(l.line.String())
	l.line.Reset()
	if line == "" {
		return
	}
	if l.level == logError && l.firstError == "" {
		l.firstError = line
	}
	if wanted {
		log.LogAttrs(context.Background(), to, "libllama", slog.String("said", line))
	}
}

// clearError drops the error lines of earlier calls.
func (l *library) clearError() { l.takeError() }

// takeError returns the first error line of the library since the last call, in brackets, for the
// end of an error message. Later lines only follow from the first.
func (l *library) takeError() string {
	l.lineMu.Lock()
	defer l.lineMu.Unlock()
	s := l.firstError
	l.firstError = ""
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}
