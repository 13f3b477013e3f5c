package speaker

import (
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
)

// group runs what works for the line. A panic there is logged, and ends that work
// alone.
type group struct {
	log     *slog.Logger
	running sync.WaitGroup
}

func (g *group) do(doing string, work func()) {
	g.running.Go(func() { g.survive(doing, work) })
}

// survive does work; false means that it panicked.
func (g *group) survive(doing string, work func()) (whole bool) {
	defer func() {
		if p := recover(); p != nil {
			g.log.Error("the line of the box's own speaker panicked", "doing", doing, "panic", fmt.Sprint(p), "stack",
				string(debug.Stack()))
		}
	}()
	work()
	return true
}
