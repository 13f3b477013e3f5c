package store

import (
	"context"
	"path/filepath"

	"parley/internal/layout"
)

const (
	// maxPluginLog is how many bytes of a plugin's newest log lines are stored: some
	// 20,000 lines, enough to find out what went wrong yesterday, and little on a small
	// disk even for a dozen plugins.
	maxPluginLog = 2 << 20
	// lineOverhead is counted for each line besides its texts.
	lineOverhead = 32
)

// PluginLine is a line of a plugin's log.
type PluginLine struct {
	Plugin string
	AtMS   int64  // Unix milliseconds
	Level  string // trace, debug, info, warn or error
	Tool   string
	Chat   string // chat id; empty: none
	Text   string
}

// Bytes is the size of the line for maxPluginLog.
func (l PluginLine) Bytes() int {
	return len(l.Level) + len(l.Tool) + len(l.Chat) + len(l.Text) + lineOverhead
}

// LogPlugins appends lines to the logs of plugins, and deletes the oldest lines beyond
// maxPluginLog. Lines of plugins that are not installed are dropped.
func (s *Store) LogPlugins(ctx context.Context, lines []PluginLine) error {
	type end struct{ plugin, position int64 }
	err := s.change(ctx, "writing the logs of plugins", func(ctx context.Context, c conn) error {
		ends := map[int64]int64{}
		for _, l := range lines {
			all, err := query(ctx, c, func(row scanner) (e end, err error) {
				return e, row.Scan(&e.plugin, &e.position)
			},
				`UPDATE plugin SET logged = logged + ? WHERE name = ? RETURNING num, logged`, l.Bytes(), l.Plugin)
			if err != nil {
				return err
			}
			for _, e := range all {
				ends[e.plugin] = e.position
				if _, err := c.ExecContext(ctx, `INSERT INTO plugin_log VALUES (?, ?, ?, ?, ?, ?, ?)`,
					e.plugin, e.position, l.AtMS, l.Level, l.Tool, l.Chat, l.Text); err != nil {
					return err
				}
			}
		}
		for plugin, position := range ends {
			if _, err := c.ExecContext(ctx, `DELETE FROM plugin_log WHERE plugin = ? AND position <= ?`,
				plugin, position-maxPluginLog); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		s.logNotifier.notify()
	}
	return err
}

// PluginLog returns at most limit of the newest lines of a plugin's log after a position,
// oldest first, and the position at their end. All lines are after position 0. The error
// is ErrNotFound if there is no such plugin.
func (s *Store) PluginLog(ctx context.Context, plugin string, after int64, limit int) (
	lines []PluginLine, end int64, err error) {
	if end, err = value[int64](ctx, s.read, `SELECT logged FROM plugin WHERE name = ?`, plugin); err == nil {
		if end < after { // it was removed and installed again
			after = 0
		}
		lines, err = query(ctx, s.read, func(row scanner) (l PluginLine, err error) {
			l.Plugin = plugin
			return l, row.Scan(&l.AtMS, &l.Level, &l.Tool, &l.Chat, &l.Text)
		}, `
			SELECT at_ms, level, tool, chat, text FROM (
			       SELECT l.* FROM plugin p JOIN plugin_log l ON l.plugin = p.num
			        WHERE p.name = ? AND l.position > ? AND l.position <= ? ORDER BY l.position DESC LIMIT ?)
			 ORDER BY position`, plugin, after, end, limit)
	}
	return lines, end, explain("reading the log of the plugin "+plugin, err)
}

// WatchPluginLogs returns a channel that receives a value when a plugin, in this or
// another process, has logged something or was removed, until stop is called.
func (s *Store) WatchPluginLogs() (changed <-chan struct{}, stop func(), err error) {
	b := &notifier{file: filepath.Join(s.dir, layout.LogSignal), wake: make(chan struct{}, 1)}
	if err := b.watchFile(); err != nil {
		return nil, nil, explain("watching the logs of plugins", err)
	}
	b.stopped.Go(b.listen)
	return b.wake, b.close, nil
}

// dropOldPluginLog deletes lines logged before a time (Unix milliseconds; 0: none).
func (s *Store) dropOldPluginLog(ctx context.Context, beforeMS int64) error {
	if beforeMS == 0 {
		return nil
	}
	return s.change(ctx, "deleting old lines of plugins' logs", func(ctx context.Context, c conn) error {
		_, err := c.ExecContext(ctx, `DELETE FROM plugin_log WHERE at_ms < ?`, beforeMS)
		return err
	})
}
