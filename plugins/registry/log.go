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
	// maxQueuedBytes bounds the lines that wait to be written: as much as all instances of
	// a box may log in one call each. Further lines are dropped.
	maxQueuedBytes = 1 << 20
	// writeDelay is how long lines are gathered for one write. A plugin that logs all the
	// time causes ten commits a second, each of which waits for the disk. A crash of the
	// box loses the lines of that time.
	writeDelay = 100 * time.Millisecond
	// linesPerTransaction bounds one transaction to a few milliseconds' work, because chats
	// write through the same writer.
	linesPerTransaction = 256
)

// Line is a line of a plugin's log: a message of the plugin, or the error of a call.
type Line struct {
	Time  time.Time `json:"time"`
	Level string    `json:"level"` // trace, debug, info, warn or error
	Tool  string    `json:"tool,omitempty"`
	Chat  string    `json:"chat,omitempty"`
	Text  string    `json:"text"`
}

// logs writes the lines of plugins to the store in the background, so that no call waits
// for the disk.
type logs struct {
	records *store.Store
	log     *slog.Logger
	wake    chan struct{} // holds a value while lines wait
	close   func()        // writes the remaining lines and stops
	writing sync.Mutex    // held while writing, so that lines stay in order

	mu      sync.Mutex
	queue   []store.PluginLine
	bytes   int            // of queue
	dropped map[string]int // number of lines, by plugin
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

// add queues a line, or drops it if too many wait. It never blocks.
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

// run writes lines until ctx ends, and then those that remain.
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

// write writes all queued lines, and for each plugin the number of lines that were dropped.
// Lines that the store does not accept are lost, and the box logs a warning.
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
			Text:   fmt.Sprintf("%d lines are missing here: the plugin logged faster than the box could write", n),
		})
	}
	for some := range slices.Chunk(lines, linesPerTransaction) {
		if err := l.records.LogPlugins(context.Background(), some); err != nil {
			l.log.Warn("cannot write the logs of plugins", "lines", len(some), "err", err)
		}
	}
}

// Lines returns the newest lines of a plugin's log, at most so many, oldest first.
func (s *Registry) Lines(ctx context.Context, name string, most int) ([]Line, error) {
	s.logs.write()
	all, _, err := s.linesAfter(ctx, name, 0, most)
	return all, err
}

// linesAfter returns the newest lines after a position of the log, and the position of
// their end.
func (s *Registry) linesAfter(ctx context.Context, name string, after int64, most int) ([]Line, int64, error) {
	rows, end, err := s.Records.PluginLog(ctx, name, after, most)
	all := make([]Line, len(rows))
	for i, r := range rows {
		all[i] = Line{time.UnixMilli(r.AtMS), r.Level, r.Tool, r.Chat, r.Text}
	}
	return all, end, storeError(name, err)
}

// Follow calls tell with the newest lines of a plugin's log, at most so many, and then with
// each new line. It returns nil when ctx ends, and an ErrNotInstalled when the plugin is
// removed.
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
