// Package store is the database: accounts and their keys, chats and their events, and all
// else that must outlive the process. It is one SQLite file in the data folder. One
// goroutine writes and commits for many callers at once; many connections read. When a
// write returns nil, it is on the disk.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"parley/internal/durable"
	"parley/internal/layout"
)

// Store is an open database. Its methods are safe for concurrent use. Several processes
// may have the same folder open; each sees the commits of the others at once.
type Store struct {
	dir             string
	read            readPool
	keys            readPool // for authentication
	write           *sql.DB
	w               *writer
	checkpoints     *sql.DB // checkpoints SQLite's log
	background      *background
	emptying        emptying
	outboxNotifier  *notifier    // wakes the sender of webhooks
	pluginNotifier  *notifier    // wakes what runs plugins
	endCallNotifier *notifier    // wakes what calls plugins for ended chats
	keyNotifier     *notifier    // wakes the key watch
	logNotifier     *notifier    // wakes followers of plugin logs, in any process
	fleetNotifier   *notifier    // wakes what sends facts to the hub
	keyWatch        *keyWatch    // nil in a store opened with Join
	notesFrom       atomic.Int64 // Unix milliseconds: until then no use of a key or session is recorded
	log             *slog.Logger // discards in a store opened with Join
	close           func() error
}

// Open opens the database in the data folder dir for the one process that serves it. It
// locks the folder until Close, creates the folder (for its owner only) and the database
// if they do not exist, and migrates an older database after copying it. The errors are
// kinds of this package, and say what is wrong with the folder.
func Open(ctx context.Context, dir string, log *slog.Logger) (*Store, error) {
	steps, err := migrations()
	if err != nil {
		return nil, fmt.Errorf("reading the schema's steps: %w", err)
	}
	return open(ctx, dir, log, steps)
}

func open(ctx context.Context, dir string, log *slog.Logger, steps []migration) (*Store, error) {
	unlock, err := Lock(dir)
	if err != nil {
		return nil, err
	}
	if dir, err = prepare(dir); err != nil {
		unlock()
		return nil, err
	}
	if err := migrate(ctx, dir, log, steps); err != nil {
		unlock()
		return nil, fmt.Errorf("data folder %s: %w", dir, err)
	}
	s, err := connected(ctx, dir, servingPragmas)
	if err != nil {
		unlock()
		return nil, err
	}
	s.log = log
	s.background = startBackground(s, log)
	s.outboxNotifier = newNotifier(s.outboxNotifier.file, "webhooks to send", log)
	s.endCallNotifier = &notifier{wake: make(chan struct{}, 1)}
	s.fleetNotifier = &notifier{wake: make(chan struct{}, 1)}
	s.pluginNotifier = newNotifier(s.pluginNotifier.file, "plugins that were changed", log)
	s.keyNotifier = newNotifier(s.keyNotifier.file, "keys that were revoked", log)
	s.keyWatch = startKeyWatch(s, log)
	if err := s.logNotifier.makeFile(); err != nil { // created here, so that the box owns it
		log.Warn("the logs of plugins cannot be followed", "err", err)
	}
	closeDatabase := s.close
	s.close = sync.OnceValue(func() error {
		defer unlock()
		s.background.close()
		s.outboxNotifier.close()
		s.pluginNotifier.close()
		s.keyWatch.close()
		s.keyNotifier.close()
		return closeDatabase()
	})
	return s, nil
}

// Join opens the database in the data folder dir, whether or not a box serves it. It
// creates nothing and does not migrate. The error is ErrNotFound if there is no database,
// ErrOlder or ErrNewer if its schema is another Parley's.
func Join(ctx context.Context, dir string) (*Store, error) {
	steps, err := migrations()
	if err != nil {
		return nil, fmt.Errorf("reading the schema's steps: %w", err)
	}
	return join(ctx, dir, newest(steps))
}

func join(ctx context.Context, dir string, schema int64) (*Store, error) {
	if err := holdsDatabase(dir); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, folderError(dir, err)
	}
	s, err := connected(ctx, dir, "")
	if err != nil {
		return nil, err
	}
	current, err := usable(ctx, s.read, dir, schema)
	switch {
	case err != nil:
		err = fmt.Errorf("data folder %s: %w", dir, err)
	case current == 0:
		err = noDatabase(dir)
	case current < schema:
		err = older(dir, current, schema)
	default:
		return s, nil
	}
	return nil, errors.Join(err, s.Close())
}

// older says what to do with a database that only the serving process may migrate.
func older(dir string, current, schema int64) error {
	pid, held, err := Holder(dir)
	if err == nil && held {
		return fmt.Errorf("data folder %s: %w: its schema is version %d and this Parley needs %d; use the parley "+
			"program that serves it (process %s), or restart the box with this one",
			dir, ErrOlder, current, schema, pid)
	}
	return fmt.Errorf("data folder %s: %w: its schema is version %d and this Parley needs %d; start the box with "+
		"this Parley once (parley serve)",
		dir, ErrOlder, current, schema)
}

// connected opens the connections to the database in dir. pragmas are added on the
// writing connection.
func connected(ctx context.Context, dir, pragmas string) (_ *Store, err error) {
	s := &Store{
		dir:             dir,
		log:             slog.New(slog.DiscardHandler),
		read:            openReadPool(dir),
		keys:            openKeyPool(dir),
		write:           connect(dir, pragmas, 1),
		checkpoints:     connect(dir, checkpointPragmas, 1),
		emptying:        emptying{lock: make(chan struct{}, 1)},
		endCallNotifier: &notifier{},
		fleetNotifier:   &notifier{},
		outboxNotifier:  &notifier{file: filepath.Join(dir, layout.WebhookSignal)},
		pluginNotifier:  &notifier{file: filepath.Join(dir, layout.PluginSignal)},
		keyNotifier:     &notifier{file: filepath.Join(dir, layout.KeySignal)},
		logNotifier:     &notifier{file: filepath.Join(dir, layout.LogSignal)},
	}
	if s.w, err = newWriter(ctx, s.write, filepath.Join(dir, databaseName)); err != nil {
		return nil, errors.Join(explain("opening the database", err),
			s.read.db.Close(), s.keys.db.Close(), s.checkpoints.Close(), s.write.Close())
	}
	s.close = sync.OnceValue(func() error {
		// The writer's connection goes last: SQLite then moves the log into
		// the database file and removes it.
		err := errors.Join(s.w.close(), s.checkpoints.Close(), s.read.db.Close(), s.keys.db.Close(), s.write.Close())
		return explain("closing the database", err)
	})
	return s, nil
}

// prepare creates the folder and an empty database file that only its owner can read, and
// returns the folder's full path. SQLite gives the files beside the database the same
// mode.
func prepare(dir string) (string, error) {
	if err := makeFolder(dir); err != nil {
		return "", err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", folderError(dir, err)
	}
	if err := probeFolder(dir); err != nil {
		return "", err
	}
	f, err := os.OpenFile(filepath.Join(dir, databaseName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", folderError(dir, err)
	}
	if err := errors.Join(f.Close(), durable.SyncFolder(dir)); err != nil {
		return "", folderError(dir, err)
	}
	return dir, nil
}

// Close finishes the queued writes and closes the database. Later calls of methods return
// ErrClosed. Closing again does nothing.
func (s *Store) Close() error { return s.close() }

// change runs do in the next transaction and returns when it is on the disk. The
// transaction also records the pending act of ctx, if there is one.
func (s *Store) change(ctx context.Context, doing string, do func(context.Context, conn) error) error {
	do, committed := withPendingAct(ctx, do)
	err := s.w.commit(ctx, do)
	if err == nil && committed() {
		s.fleetNotifier.notify()
	}
	return explain(doing, err)
}
