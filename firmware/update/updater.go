package update

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"parley/internal/progress"
)

// Package is the name of the Debian package of a box.
const Package = "parley-box"

// Names in the folder of updates.
const (
	journalName = "journal.json"
	resultName  = "last.json"  // the Result of the last update
	logName     = "update.log" // what apt and dpkg printed
	lockName    = "lock"
	programName = "parley" // a copy of the program that began the update
	workName    = "work"   // packages and programs of one update
)

// folderMode lets the user of the service pass to the new program, which runs as that user
// before it is installed. Nobody but root can list the folder, or read more in it.
const folderMode fs.FileMode = 0o711

// Box is what an update needs of the box.
type Box interface {
	// Chats returns how many chats are live.
	Chats(ctx context.Context) (int, error)
	// Schema returns the version of the schema of its database.
	Schema(ctx context.Context) (int64, error)
	// Key makes an API key that ends by itself, for Ask.
	Key(ctx context.Context) (string, error)
	// Backup writes a backup to a new file.
	Backup(ctx context.Context, file string, p progress.Func) error
	// CopyDatabase writes the database to a new file.
	CopyDatabase(ctx context.Context, file string) error
	// Ready returns nil if a conversation could start now.
	Ready(ctx context.Context) error
	// Ask has the box speak a question, asks it, and returns an error if no words come back.
	Ask(ctx context.Context, key string) error
}

// Updater updates the box of this machine.
type Updater struct {
	Folder   string // the folder of updates, for root alone
	Data     string // the data folder of the box
	Packs    string // its packs folder
	Box      Box
	Service  Service
	Tell     func(line string) // told of each act before it begins
	Progress progress.Func
	Limits   Limits

	log io.Writer // what apt and dpkg print
}

// Limits are how long an update waits.
type Limits struct {
	Chats  time.Duration // for the end of live chats, before the box stops
	Load   time.Duration // for the old version to get ready, which may have been started just now
	Ready  time.Duration // for the new version to get ready
	Steady time.Duration // how long a box that was not ready before has to run
	Answer time.Duration // for an answer to the spoken question
	Locks  time.Duration // for dpkg's lock, on the way back
}

// DefaultLimits returns the limits of a box. A small one loads its models in a minute and
// answers within ten seconds; a large database is migrated at the first start.
func DefaultLimits() Limits {
	return Limits{
		Chats:  10 * time.Minute,
		Load:   90 * time.Second,
		Ready:  5 * time.Minute,
		Steady: 20 * time.Second,
		Answer: 90 * time.Second,
		Locks:  2 * time.Minute,
	}
}

// ErrReturned means that the new version failed and the box is back at the old one.
type ErrReturned struct{ From, To, Why, Log string }

func (e *ErrReturned) Error() string {
	return fmt.Sprintf("the update to %s failed: %s: the box is back at %s; what was done is in %s", e.To, e.Why,
		e.From, e.Log)
}

// ErrLocked means that another update runs.
var ErrLocked = errors.New("another parley update runs on this machine: wait until it is done")

// Open takes the lock of updates and opens their log, in a folder that it creates if
// necessary. The caller calls release at the end.
func (u *Updater) Open() (release func(), err error) {
	if err := os.MkdirAll(u.Folder, folderMode); err != nil {
		return nil, fmt.Errorf("creating the folder of updates: %w", err)
	}
	if err := os.Chmod(u.Folder, folderMode); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(u.Folder, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the folder of updates: %w", err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		lock.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrLocked
		}
		return nil, err
	}
	log, err := os.OpenFile(u.LogFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("opening the log of updates: %w", err)
	}
	u.log = log
	return func() { log.Close(); lock.Close() }, nil
}

// LogFile returns the path of the log.
func (u *Updater) LogFile() string { return filepath.Join(u.Folder, logName) }

// say tells of an act, and writes it to the log.
func (u *Updater) say(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	fmt.Fprintf(u.log, "%s %s\n", time.Now().Format(time.DateTime), line)
	u.Tell(line)
}

// work returns a path in the folder of this update.
func (u *Updater) work(names ...string) string {
	return filepath.Join(append([]string{u.Folder, workName}, names...)...)
}
