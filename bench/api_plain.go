package bench

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"parley/internal/layout"
	"parley/store"
)

// plainSQL is the yardstick of the API: the same reads and writes with plain database/sql
// and simple statements. A write is a transaction of its own, as durable as the store's.
type plainSQL struct {
	read, write *sql.DB
	account     string
}

// openPlainSQL opens the database in dir, which a store has created and has open.
func openPlainSQL(dir, account string) (*plainSQL, error) {
	file := url.URL{Scheme: "file", Path: filepath.Join(dir, layout.Database)}
	open := func(conns int) (*sql.DB, error) {
		// The driver's options for what the store sets; it caches statements.
		db, err := sql.Open("sqlite3", file.String()+"?_busy_timeout=5000&_synchronous=FULL&_foreign_keys=on&"+
			"_secure_delete=true&_stmt_cache_size=100&_cache_size=-4096")
		if err == nil {
			db.SetMaxOpenConns(conns)
			db.SetMaxIdleConns(conns)
		}
		return db, err
	}
	read, err := open(apiCallers / 2)
	if err != nil {
		return nil, err
	}
	write, err := open(1)
	if err != nil {
		return nil, errors.Join(err, read.Close())
	}
	return &plainSQL{read, write, account}, nil
}

func (s *plainSQL) Close() error { return errors.Join(s.read.Close(), s.write.Close()) }

// rows reads every row and column of a query, and fails if there is none.
func (s *plainSQL) rows(ctx context.Context, text string, args ...any) error {
	rows, err := s.read.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	columns := make([]any, len(names))
	for i := range columns {
		columns[i] = new(sql.NullString)
	}
	n := 0
	for ; rows.Next(); n++ {
		if err := rows.Scan(columns...); err != nil {
			return err
		}
	}
	if n == 0 && rows.Err() == nil {
		return fmt.Errorf("nothing found by %s", text)
	}
	return rows.Err()
}

func (s *plainSQL) openKey(ctx context.Context, key string) error {
	hash := sha256.Sum256([]byte(key))
	return s.rows(ctx, `SELECT a.id, k.role, k.api_hash FROM key k JOIN account a ON a.num = k.account
		 WHERE k.api_hash = ? AND k.revoked_ms IS NULL AND (k.expires_ms IS NULL OR k.expires_ms > ?)`, hash[:],
		time.Now().UnixMilli())
}

const versionColumns = ` r.kind, r.id, v.version, r.name, v.description, v.content, r.created_ms, max(v.modified_ms, ` +
	`r.renamed_ms) `

func (s *plainSQL) version(ctx context.Context, v store.Version) error {
	return s.rows(ctx, `SELECT`+versionColumns+`FROM resource r JOIN resource_version v ON v.resource = r.num
		 WHERE r.id = ? AND r.kind = ? AND v.version = ? AND r.account = (SELECT num FROM account WHERE id = ?)`, v.ID,
		v.Kind, v.Number, s.account)
}

// resolve reads the versions that a config uses, one after the other.
func (s *plainSQL) resolve(ctx context.Context, refs []store.Ref) error {
	for _, ref := range refs {
		if err := s.rows(ctx, `SELECT`+versionColumns+`FROM resource r JOIN resource_version v ON v.resource = r.num
			 WHERE r.id = ? AND r.kind = ? AND v.version = iif(? = -1, r.newest, ?)
			   AND r.account = (SELECT num FROM account WHERE id = ?)`,
			ref.ID, ref.Kind, ref.Version, ref.Version, s.account); err != nil {
			return err
		}
	}
	return nil
}

// page reads a page of a list and counts the whole list.
func (s *plainSQL) page(ctx context.Context, columns, tables, rows string, page store.Page, args ...any) error {
	if err := s.rows(ctx, `SELECT count(*) FROM `+rows, args...); err != nil {
		return err
	}
	return s.rows(ctx, `SELECT`+columns+`FROM `+tables+` WHERE num IN (SELECT num FROM `+rows+
		` ORDER BY num LIMIT ? OFFSET ?) ORDER BY num`,
		append(args, page.Size, page.Number*page.Size)...)
}

const ofAccount = `account = (SELECT num FROM account WHERE id = ?)`

func (s *plainSQL) list(ctx context.Context, kind store.Kind, page store.Page) error {
	return s.page(ctx, versionColumns,
		`resource r JOIN resource_version v ON v.resource = r.num AND v.version = r.newest`,
		`resource WHERE kind = ? AND newest IS NOT NULL AND `+ofAccount, page, kind, s.account)
}

const chatColumns = ` id, (SELECT id FROM chat_group g WHERE g.num = chat_group), config, config_version, status, ` +
	`started_ms, ended_ms, metadata, event_count `

func (s *plainSQL) chats(ctx context.Context, page store.Page) error {
	return s.page(ctx, chatColumns, `chat`, `chat WHERE `+ofAccount, page, s.account)
}

func (s *plainSQL) groups(ctx context.Context, page store.Page) error {
	return s.page(ctx, ` id, last_chat, last_config, last_config_version, first_start_ms, last_start_ms, num_chats,
		EXISTS (SELECT 1 FROM chat WHERE chat_group = chat_group.num AND status = 'ACTIVE') `, `chat_group`,
		`chat_group WHERE `+ofAccount, page, s.account)
}

func (s *plainSQL) events(ctx context.Context, chat string, size int) error {
	if err := s.rows(ctx, `SELECT`+chatColumns+`FROM chat WHERE id = ? AND `+ofAccount, chat, s.account); err != nil {
		return err
	}
	return s.rows(ctx, `SELECT seq, id, at_ms, type, role, message_text, emotion_features, metadata, related_event_id
		  FROM chat_event WHERE chat = (SELECT num FROM chat WHERE id = ?) AND seq <= ? ORDER BY seq`, chat, size)
}

// transact runs statements in a transaction.
func (s *plainSQL) transact(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// addVersion stores the first version of a new resource, or the next of an existing one.
func (s *plainSQL) addVersion(ctx context.Context, d store.NewVersion) error {
	now := time.Now().UnixMilli()
	return s.transact(ctx, func(tx *sql.Tx) error {
		if d.Name != "" {
			d.ID = uuid.NewString()
			if _, err := tx.ExecContext(ctx, `INSERT INTO resource (id, account, kind, name, created_ms, renamed_ms)
				SELECT ?, num, ?, ?, ?, ? FROM account WHERE id = ?`, d.ID, d.Kind, d.Name, now, now,
				s.account); err != nil {
				return err
			}
		}
		var resource, version int64
		if err := tx.QueryRowContext(ctx, `UPDATE resource SET newest = next_version, next_version = next_version + 1
			 WHERE id = ? AND kind = ? AND `+ofAccount+` RETURNING num, newest`, d.ID, d.Kind,
			s.account).Scan(&resource, &version); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO resource_version (resource, version, description, content, `+
			`created_ms, modified_ms)
			VALUES (?, ?, ?, ?, ?, ?)`, resource, version, d.Description, d.Content, now, now)
		return err
	})
}

// describe replaces the description of a version.
func (s *plainSQL) describe(ctx context.Context, v store.Version, description string) error {
	return s.transact(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE resource_version SET description = ?, modified_ms = ?
			 WHERE version = ? AND resource = (SELECT num FROM resource WHERE id = ? AND `+ofAccount+`)`,
			description, time.Now().UnixMilli(), v.Number, v.ID, s.account)
		return err
	})
}
