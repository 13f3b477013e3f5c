package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/mattn/go-sqlite3"
)

// mostRemembered bounds what a memory holds, in bytes: every key and config
// that a box is asked for over and over, or ten prompts of the longest.
const mostRemembered = 4 << 20

// memory has the answers to questions that were asked before, and gives them
// for as long as nobody has written to the database: not this process, and no
// other. SQLite says whether somebody has, in a quarter of the time in which it
// finds a row: the data_version of a connection changes with each commit of any
// other (https://www.sqlite.org/pragma.html#pragma_data_version).
type memory struct {
	mu      sync.Mutex
	closed  bool
	conn    driver.Conn
	version driver.Stmt
	at      int64       // the data_version that the answers are of
	answers map[any]any // by question
	weight  int         // of the answers, in bytes
}

// weighty is an answer that knows about how many bytes it holds.
type weighty interface{ weight() int }

func openMemory(ctx context.Context, dir string) (*memory, error) {
	conn, err := connector{dsn: fileDSN(filepath.Join(dir, databaseName)), more: readPragmas}.Connect(ctx)
	if err != nil {
		return nil, err
	}
	version, err := conn.Prepare(`PRAGMA data_version`)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &memory{conn: conn, version: version, answers: map[any]any{}}, nil
}

func (m *memory) close() error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return errors.Join(m.version.Close(), m.conn.Close())
}

// recalled is the answer to a question: the one there was, or what ask says
// now. Errors are not remembered. A nil memory remembers nothing.
func recalled[T weighty](m *memory, question any, ask func() (T, error)) (T, error) {
	if m == nil {
		return ask()
	}
	known, at, err := m.recall(question)
	if answer, ok := known.(T); ok && err == nil {
		return answer, nil
	}
	answer, asked := ask()
	if asked == nil && err == nil {
		m.remember(question, answer, answer.weight(), at)
	}
	return answer, asked
}

// recall returns what is known of a question, and as of when.
func (m *memory) recall(question any) (answer any, at int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at, err = m.dataVersion(); err != nil {
		return nil, 0, err
	}
	if at != m.at {
		m.forget()
		m.at = at
	}
	return m.answers[question], at, nil
}

// remember keeps an answer that was found after the time at; it may be newer,
// never older.
func (m *memory) remember(question, answer any, weight int, at int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.answers[question]; known || at != m.at || weight > mostRemembered {
		return
	}
	if m.weight+weight > mostRemembered {
		m.forget()
	}
	m.answers[question] = answer
	m.weight += weight
}

func (m *memory) forget() {
	clear(m.answers)
	m.weight = 0
}

func (m *memory) dataVersion() (int64, error) {
	if m.closed {
		return 0, ErrClosed
	}
	rows, err := m.version.(*sqlite3.SQLiteStmt).Query(nil)
	if err != nil {
		return 0, err
	}
	var row [1]driver.Value
	if err := errors.Join(rows.Next(row[:]), rows.Close()); err != nil {
		return 0, err
	}
	at, ok := row[0].(int64)
	if !ok {
		return 0, fmt.Errorf("data_version is %v", row[0])
	}
	return at, nil
}
