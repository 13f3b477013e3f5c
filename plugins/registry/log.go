package registry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"parley/store"
)

const (
	// maxQueuedBytes is how many bytes of lines wait to be written: as much as all
	// instances of a box may log in one call each. What comes beyond is dropped.
	maxQueuedBytes = 1 << 20
	// writeDelay is how long lines are gathered for one write: a plugin that logs
	// all the time makes ten commits a second, each of which waits for the disk. A
	// crash of the box loses what was logged in that time.
	writeDelay = 100 * time.Millisecond
	// linesPerTransaction is how many lines one transaction has at most, a few milliseconds'
	// work: chats write through the same writer.
	linesPerTransaction = 256
)

// Line is a line of a plugin's log: what it wrote, and what went wrong with it.
type Line struct {
	Time  time.Time `json:"time"`
	Level string    `json:"level"` // trace, debug, info, warn or error
	Tool  string    `json:"tool,omitempty"`
	Chat  string    `json:"chat,omitempty"`
	Text  string    `json:"text"`
}

// logs writes what plugins log into the store, some time later: no call waits for
// a disk.
type logs struct {
	records *store.Store
	log     *slog.Logger
	wake    chan struct{} // has one where lines wait
	close   func()        // writes what is left, and ends the writing
	writing sync.Mutex    // held by who writes, so that lines keep their order

	mu      sync.Mutex
	queue   []store.PluginLine
	bytes   int            // storeError unwritten
	dropped map[string]int // how many lines, by plugin
}

func newLogs(records *store.Store, log *slog.Logger) *logs {
	l := &logs{records: records, log: log, wake: make(chan struct{}, 1), dropped: map[string]int{}}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { l.run(ctx) })
	l.close = func() {
		stop()
		running.Wait()
	}
	return l
}

// add takes a line, or drops it where too many wait. It never waits.
func (l *logs) add(plugin string, line Line) {
	row := store.PluginLine{
		Plugin: plugin,
		AtMS:   line.Time.UnixMilli(),
		Level:  line.Level,
		Tool:   line.Tool,
		Chat:   line.Chat,
		Text:   line.Text,
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bytes+row.Bytes() > maxQueuedBytes {
		l.dropped[plugin]++
		return
	}
	l.queue = append(l.queue, row)
	l.bytes += row.Bytes()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// run writes what comes, until ctx ends, and then what is left.
func (l *logs) run(ctx context.Context) {
	defer l.write()
	for {
		select {
		case <-l.wake:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(writeDelay):
		case <-ctx.Done():
		}
		l.write()
	}
}

// write writes all lines that wait, and for each plugin how many were dropped
// behind them. Lines that the store does not take are lost, and the box's log says
// so.
func (l *logs) write() {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	lines, dropped := l.queue, l.dropped
	l.queue, l.bytes, l.dropped = nil, 0, map[string]int{}
	l.mu.Unlock()
	for plugin, n := range dropped {
		lines = append(lines, store.PluginLine{
			Plugin: plugin,
			AtMS:   time.Now().UnixMilli(),
			Level:  "warn",
			Text:   fmt.Sprintf("%d lines are missing here: they came faster than they could be written", n),
		})
	}
	for some := range slices.Chunk(lines, linesPerTransaction) {
		if err := l.records.LogPlugins(context.Background(), some); err != nil {
			l.log.Warn("cannot write the logs of plugins", "lines", len(some), "err", err)
		}
	}
}

// Lines tells the newest lines of a plugin's log, at most so many, oldest first.
func (s *Registry) Lines(ctx context.Context, name string, most int) ([]Line, error) {
	s.logs.write()
	all, _, err := s.linesAfter(ctx, name, 0, most)
	return all, err
}

// linesAfter are the newest lines behind a position of the log, and where they end.
func (s *Registry) linesAfter(ctx context.Context, name string, after int64, most int) ([]Line, int64, error) {
	rows, end, err := s.Records.PluginLog(ctx, name, after, most)
	all := make([]Line, len(rows))
	for i, r := range rows {
		all[i] = Line{time.UnixMilli(r.AtMS), r.Level, r.Tool, r.Chat, r.Text}
	}
	return all, end, storeError(name, err)
}

// Follow tells the newest lines of a plugin's log, at most so many, and then what
// comes, line by line, until ctx ends, which is no error, or the plugin is gone,
// an ErrNotInstalled.
func (s *Registry) Follow(ctx context.Context, name string, most int, tell func(Line) error) error {
	changed, stop, err := s.Records.WatchPluginLogs()
	if err != nil {
		return err
	}
	defer stop()
	for at := int64(0); ; most = math.MaxInt {
		lines, end, err := s.linesAfter(ctx, name, at, most)
		for _, line := range lines {
			err = errors.Join(err, tell(line))
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		at = end
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}
