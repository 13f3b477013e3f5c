package speaker

import (
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
)

// group runs the goroutines of the line. A panic is logged, and ends only the goroutine's
// work.
type group struct {
	log     *slog.Logger
	running sync.WaitGroup
}

func (g *group) do(doing string, work func()) {
	g.running.Go(func() { g.doSafely(doing, work) })
}

// doSafely runs work, and returns false if it panicked.
func (g *group) doSafely(doing string, work func()) (whole bool) {
	defer func() {
		if p := recover(); p != nil {
			g.log.Error("panic in the kiosk's line", "doing", doing, "panic", fmt.Sprint(p), "stack",
				string(debug.Stack()))
		}
	}()
	work()
	return true
}
